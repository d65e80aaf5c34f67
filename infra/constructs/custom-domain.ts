import { CfnOutput } from 'aws-cdk-lib';
import { ApiMapping, DomainName, type IApi, type IStage } from 'aws-cdk-lib/aws-apigatewayv2';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import { Construct } from 'constructs';

interface CustomHostProps {
  host: string;
  certificateArn: string;
  api: IApi;
  stage: IStage;
  /** The path of the stage. */
  path: string;
}

/**
 * A custom domain for the WebSocket API. The operator creates the DNS record that points at the output: the zone may be
 * anywhere.
 */
export class CustomHost extends Construct {
  constructor(scope: Construct, id: string, { host, certificateArn, api, stage, path }: CustomHostProps) {
    super(scope, id);
    const domainName = new DomainName(this, 'Name', {
      domainName: host,
      certificate: Certificate.fromCertificateArn(this, 'Certificate', certificateArn),
    });
    new ApiMapping(this, 'Mapping', { api, stage, domainName, apiMappingKey: path });
    new CfnOutput(this, 'Target', {
      value: domainName.regionalDomainName,
      description: `CNAME of ${host}`,
    });
  }
}
