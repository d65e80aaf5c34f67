import type { Referable } from './intrinsics.ts';
import { NotUnderstood } from './properties.ts';

export const account = '000000000000';
export const region = 'us-east-1';

/** Addresses of the stack. */
export interface Origins {
  /** Root of the HTTP API for clients. */
  api: string;
  /** Root of the WebSocket API for clients; defaults to the host of the HTTP API. */
  sockets?: string;
  /** Root of the gate in front of the embedded servers; an IP address, so that the SDK addresses buckets by path. */
  gate: string;
  /** Root of the gate for clients; defaults to `gate`. */
  files?: string;
}

const arn = (service: string, resource: string) => `arn:aws:${service}:${region}:${account}:${resource}`;

/** Returns the local values of `Ref` and `Fn::GetAtt` for a resource. Names are the template's logical ids. */
export function referable(
  type: string,
  logicalId: string,
  origins: Origins,
  properties: Record<string, unknown>,
): Referable {
  const lower = logicalId.toLowerCase();
  switch (type) {
    case 'AWS::DynamoDB::Table':
      return { ref: logicalId, attributes: { Arn: arn('dynamodb', `table/${logicalId}`) } };
    case 'AWS::SQS::Queue': {
      // As named by CloudFormation: SQS requires this suffix for FIFO queues.
      const name = properties.FifoQueue === true ? `${logicalId}.fifo` : logicalId;
      return {
        ref: `${origins.gate}/_aws/sqs/${account}/${name}`,
        attributes: { Arn: arn('sqs', name), QueueName: name },
      };
    }
    case 'AWS::S3::Bucket':
      return {
        ref: lower,
        attributes: { Arn: `arn:aws:s3:::${lower}`, RegionalDomainName: `${lower}.s3.${region}.amazonaws.com` },
      };
    case 'AWS::CloudFront::Distribution':
      return { ref: logicalId, attributes: { DomainName: `${lower}.cloudfront.net` } };
    case 'AWS::CloudFront::Function':
      return { ref: logicalId, attributes: { FunctionARN: `arn:aws:cloudfront::${account}:function/${logicalId}` } };
    case 'AWS::CloudFront::OriginAccessControl':
      return { ref: logicalId, attributes: { Id: logicalId } };
    case 'AWS::Lambda::Function':
      return { ref: logicalId, attributes: { Arn: arn('lambda', `function:${logicalId}`) } };
    case 'AWS::Lambda::LayerVersion':
      return { ref: arn('lambda', `layer:${logicalId}:1`) };
    case 'AWS::IAM::Role':
      return { ref: logicalId, attributes: { Arn: `arn:aws:iam::${account}:role/${logicalId}` } };
    case 'AWS::Logs::LogGroup':
      return { ref: logicalId, attributes: { Arn: arn('logs', `log-group:${logicalId}:*`) } };
    case 'AWS::ApiGatewayV2::Api':
      return { ref: lower.slice(-10), attributes: { ApiEndpoint: endpointOf(properties.ProtocolType, origins) } };
    case 'AWS::Events::EventBus':
      return { ref: logicalId, attributes: { Arn: arn('events', `event-bus/${logicalId}`) } };
    case 'AWS::Events::Rule':
      return { ref: logicalId, attributes: { Arn: arn('events', `rule/${logicalId}`) } };
    case 'AWS::SNS::Topic':
      return { ref: arn('sns', logicalId), attributes: { TopicName: logicalId } };
    case 'AWS::CloudWatch::Alarm':
      return { ref: logicalId, attributes: { Arn: arn('cloudwatch', `alarm:${logicalId}`) } };
    case 'AWS::Cognito::UserPool': {
      const attributes = { Arn: arn('cognito-idp', `userpool/${logicalId}`), ProviderURL: `${origins.api}/_oidc` };
      return { ref: logicalId, attributes };
    }
    case 'AWS::Batch::ComputeEnvironment': {
      const ref = arn('batch', `compute-environment/${logicalId}`);
      return { ref, attributes: { ComputeEnvironmentArn: ref } };
    }
    case 'AWS::Batch::JobQueue': {
      const ref = arn('batch', `job-queue/${logicalId}`);
      return { ref, attributes: { JobQueueArn: ref } };
    }
    case 'AWS::Batch::SchedulingPolicy': {
      const ref = arn('batch', `scheduling-policy/${logicalId}`);
      return { ref, attributes: { Arn: ref } };
    }
    case 'AWS::Batch::JobDefinition':
      return { ref: arn('batch', `job-definition/${logicalId}:1`) };
    case 'AWS::EC2::VPC':
      return { ref: logicalId, attributes: { VpcId: logicalId } };
    case 'AWS::EC2::Subnet':
      return { ref: logicalId, attributes: { SubnetId: logicalId } };
    case 'AWS::EC2::RouteTable':
      return { ref: logicalId, attributes: { RouteTableId: logicalId } };
    case 'AWS::EC2::SecurityGroup':
      return { ref: logicalId, attributes: { GroupId: logicalId } };
    case 'AWS::EC2::SubnetRouteTableAssociation':
    case 'AWS::EC2::VPCEndpoint':
    case 'AWS::IAM::Policy':
    case 'AWS::CDK::Metadata':
    case 'AWS::Cognito::ManagedLoginBranding':
    case 'AWS::Cognito::UserPoolClient':
    case 'AWS::Cognito::UserPoolDomain':
    case 'AWS::CloudWatch::Dashboard':
    case 'AWS::SNS::Subscription':
    case 'AWS::SNS::TopicPolicy':
    case 'AWS::ApiGatewayV2::Integration':
    case 'AWS::ApiGatewayV2::Route':
    case 'AWS::ApiGatewayV2::Stage':
    case 'AWS::Lambda::EventSourceMapping':
    case 'AWS::Lambda::Permission':
    case 'AWS::CloudFront::CachePolicy':
    case 'AWS::CloudFront::ResponseHeadersPolicy':
    case 'AWS::S3::BucketPolicy':
    case 'AWS::SQS::QueuePolicy':
    case 'Custom::CDKBucketDeployment':
      return { ref: logicalId };
    default:
      throw new NotUnderstood(`Resources of type ${type} (${logicalId}) are not understood by the local stack.`);
  }
}

/**
 * Returns a pair of a resource's URL in AWS and its local URL, if it has one: its DNS name and TLS do not exist here.
 */
export function localUrlOf(type: string, { attributes }: Referable, origins: Origins): [url: string, here: string][] {
  if (type === 'AWS::CloudFront::Distribution') return [[`https://${attributes?.DomainName}`, origins.api]];
  return type === 'AWS::S3::Bucket'
    ? [[`https://${attributes?.RegionalDomainName}`, origins.files ?? origins.gate]]
    : [];
}

function endpointOf(protocol: unknown, { api, sockets = api.replace(/^http/, 'ws') }: Origins): string {
  return protocol === 'WEBSOCKET' ? sockets : api;
}

export const pseudoParameters: [string, Referable][] = [
  ['AWS::AccountId', { ref: account }],
  ['AWS::Region', { ref: region }],
  ['AWS::Partition', { ref: 'aws' }],
  ['AWS::URLSuffix', { ref: 'amazonaws.com' }],
  ['AWS::StackId', { ref: arn('cloudformation', 'stack/Local/6f6a1f60-0000-4000-8000-000000000000') }],
];
