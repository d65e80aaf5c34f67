import { CfnOutput } from 'aws-cdk-lib';
import { ApiMapping, DomainName, type IApi, type IStage } from 'aws-cdk-lib/aws-apigatewayv2';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import { Construct } from 'constructs';

interface CustomHostProps {
  host: string;
  certificateArn: string;
  api: IApi;
  stage: IStage;
  /** The path that the stage is reached under. */
  path: string;
}

/** A host of one's own for the WebSocket API. Its DNS record, which points at the output, is the operator's: the zone may be anywhere. */
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
