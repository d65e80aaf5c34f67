import { join } from 'node:path';
import type { LocalJobDefinition, LocalJobQueue, LocalRole } from './model.ts';
import { NotUnderstood, type Properties } from './properties.ts';

interface Resource {
  logicalId: string;
  ref: string;
  properties: Properties;
  metadata: Record<string, unknown>;
}

type ByType = (type: string) => Resource[];

/** What Fargate does with the execution role before a container starts. */
const executionActions = [
  'ecr:BatchCheckLayerAvailability',
  'ecr:BatchGetImage',
  'ecr:GetAuthorizationToken',
  'ecr:GetDownloadUrlForLayer',
  'logs:CreateLogStream',
  'logs:PutLogEvents',
];

/** Reads the job queues and job definitions of AWS Batch. Jobs run as processes of this machine, with its network. */
export function readBatch(
  ofType: ByType,
  executionRoles: Map<string, LocalRole>,
  root: string,
): { jobQueues: LocalJobQueue[]; jobDefinitions: LocalJobDefinition[] } {
  passNetwork(ofType);
  const environments = new Map(ofType('AWS::Batch::ComputeEnvironment').map(readEnvironment));
  for (const { properties } of ofType('AWS::Batch::SchedulingPolicy')) {
    const policy = properties.object('FairsharePolicy');
    policy.pass('Shares are even here at any moment', 'ShareDecaySeconds');
  }
  return {
    jobQueues: ofType('AWS::Batch::JobQueue').map((resource) => readQueue(resource, environments)),
    jobDefinitions: ofType('AWS::Batch::JobDefinition').map((resource) =>
      readDefinition(resource, executionRoles, root),
    ),
  };
}

function passNetwork(ofType: ByType): void {
  const reason = 'Jobs have the network of this machine';
  for (const { properties } of ofType('AWS::EC2::VPC'))
    properties.pass(reason, 'CidrBlock', 'EnableDnsHostnames', 'EnableDnsSupport');
  for (const { properties } of ofType('AWS::EC2::Subnet')) properties.pass(reason, 'CidrBlock', 'VpcId');
  for (const { properties } of ofType('AWS::EC2::RouteTable')) properties.pass(reason, 'VpcId');
  for (const { properties } of ofType('AWS::EC2::SubnetRouteTableAssociation'))
    properties.pass(reason, 'RouteTableId', 'SubnetId');
  for (const { properties } of ofType('AWS::EC2::SecurityGroup'))
    properties.pass(reason, 'GroupDescription', 'SecurityGroupEgress', 'SecurityGroupIngress', 'VpcId');
  for (const { properties } of ofType('AWS::EC2::VPCEndpoint')) {
    properties.pass(reason, 'PolicyDocument', 'PrivateDnsEnabled', 'RouteTableIds', 'SecurityGroupIds', 'ServiceName');
    properties.pass(reason, 'SubnetIds', 'VpcEndpointType', 'VpcId');
  }
}

/** Returns the ARN of a compute environment, and its capacity. */
function readEnvironment({ ref, properties }: Resource): [string, number] {
  properties.only('Type', 'MANAGED', 'managed');
  const resources = properties.object('ComputeResources');
  resources.only('Type', 'FARGATE');
  resources.pass('Jobs have the network of this machine', 'SecurityGroupIds', 'Subnets');
  return [ref, resources.number('MaxvCpus', 0)];
}

function readQueue({ logicalId, ref, properties }: Resource, environments: Map<string, number>): LocalJobQueue {
  properties.pass('There is one queue per environment', 'Priority');
  const [order, ...others] = properties.objects('ComputeEnvironmentOrder');
  order?.pass('There is one environment', 'Order');
  const maxVcpus = environments.get(order?.text('ComputeEnvironment') ?? '');
  if (maxVcpus === undefined || others.length > 0)
    throw new NotUnderstood(`${logicalId} has other compute environments than one of the template.`);
  return { logicalId, arn: ref, maxVcpus, hasShares: properties.optionalText('SchedulingPolicyArn') !== undefined };
}

function readDefinition(
  { logicalId, ref, properties, metadata }: Resource,
  executionRoles: Map<string, LocalRole>,
  root: string,
): LocalJobDefinition {
  properties.only('Type', 'container');
  properties.only('PropagateTags', true, false);
  if (properties.texts('PlatformCapabilities').join() !== 'FARGATE')
    throw new NotUnderstood(`${logicalId} runs elsewhere than on Fargate.`);
  properties.object('RetryStrategy').only('Attempts', 1);
  const container = properties.object('ContainerProperties');
  const role = executionRoles.get(container.text('ExecutionRoleArn'));
  const lacking = executionActions.find(
    (action) => !role?.statements.some(({ effect, actions }) => effect === 'Allow' && actions.includes(action)),
  );
  if (lacking !== undefined) throw new NotUnderstood(`${logicalId} has an execution role that may not ${lacking}.`);
  const [program, script = '', ...others] = container.texts('Command');
  const { 'local-aws:entry': entry } = metadata;
  if (program !== 'node' || script === '' || others.length > 0 || typeof entry !== 'string')
    throw new NotUnderstood(`${logicalId} runs something else than a script of a function's image.`);
  container.pass('Images are made of the entry, which runs from source', 'Image');
  container.pass('This machine has the architecture and disk it has', 'EphemeralStorage', 'RuntimePlatform');
  container.pass('Logs go to a file here', 'LogConfiguration');
  container.pass('Jobs run as processes', 'FargatePlatformConfiguration', 'ReadonlyRootFilesystem');
  container.object('NetworkConfiguration').only('AssignPublicIp', 'DISABLED', 'ENABLED');
  const requirements = new Map(
    container.objects('ResourceRequirements').map((each) => [each.text('Type'), Number(each.text('Value'))]),
  );
  return {
    logicalId,
    arn: ref,
    script: join(root, script),
    entry: join(root, entry),
    vcpus: requirements.get('VCPU') ?? 1,
    memoryMegabytes: requirements.get('MEMORY') ?? 2_048,
    timeoutSeconds: properties.object('Timeout').optionalNumber('AttemptDurationSeconds'),
    schedulingPriority: properties.optionalNumber('SchedulingPriority'),
    environment: variablesOf(container),
  };
}

function variablesOf(container: Properties): Record<string, string> {
  return Object.fromEntries(
    container.objects('Environment').map((variable) => [variable.text('Name'), variable.optionalText('Value') ?? '']),
  );
}
