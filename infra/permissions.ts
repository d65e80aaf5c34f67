import { Aws } from 'aws-cdk-lib';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import type { IEventBus } from 'aws-cdk-lib/aws-events';
import { type Conditions, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { queueVariable } from '../shared/aws/queues.ts';
import { partitions, tableSchema } from '../shared/aws/table-schema.ts';
import { filePrefix, secretPrefix, uploadPrefix } from '../shared/files/keys.ts';
import type { Permission } from '../shared/permissions.ts';

/** The resources that functions work on. */
export interface Resources {
  table: Pick<ITable, 'tableArn' | 'tableName'>;
  bucket: Pick<IBucket, 'bucketArn' | 'bucketName' | 'arnForObjects'>;
  /** The queues that a change of a record sends to: those of the engines by their names, and those of events. */
  queues: Map<string, IQueue>;
  sockets: { url: string; arns: string[]; clientUrl: string };
  webhooks: IQueue;
  bus: Pick<IEventBus, 'eventBusName' | 'eventBusArn'>;
}

/** Returns the policy statements that grant permissions: these actions on these resources, and nothing else. */
export function statementsFor(permissions: readonly Permission[], resources: Resources): PolicyStatement[] {
  return permissions.flatMap((permission) => statements[permission](resources));
}

/** Returns the variables that name the resources which permissions are for. */
export function variablesFor(permissions: readonly Permission[], resources: Resources): Record<string, string> {
  const touches = (kind: string) => permissions.some((permission) => permission.startsWith(kind));
  return {
    ...(touches('records:') || touches('keys:') || touches('engines:')
      ? { LATHE_TABLE: resources.table.tableName }
      : {}),
    ...(touches('files:') || touches('secrets:') ? { LATHE_BUCKET: resources.bucket.bucketName } : {}),
    ...(touches('queues:')
      ? Object.fromEntries([...resources.queues].map(([engine, queue]) => [queueVariable(engine), queue.queueUrl]))
      : {}),
    ...(touches('events:') ? { [queueVariable('events')]: eventsQueue(resources).queueUrl } : {}),
    ...(touches('webhooks:') ? { [queueVariable('webhooks')]: resources.webhooks.queueUrl } : {}),
    // The variable that the SDK itself reads, so that the client needs no endpoint of its own.
    ...(permissions.includes('sockets:manage')
      ? { AWS_ENDPOINT_URL_APIGATEWAYMANAGEMENTAPI: resources.sockets.url }
      : {}),
    ...(permissions.includes('sockets:locate') ? { LATHE_WEBSOCKET_URL: resources.sockets.clientUrl } : {}),
    ...(touches('bus:') ? { LATHE_EVENT_BUS: resources.bus.eventBusName } : {}),
  };
}

/** Lets imports and exports that are given no keys reach the buckets that the operator names by `-c openBuckets=one,two`. */
export function statementsForOpenBuckets(scope: Construct): PolicyStatement[] {
  const names = String(scope.node.tryGetContext('openBuckets') ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  const wrong = names.find((name) => !/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(name));
  // A star here would open every bucket of the account to whoever has a key of the API.
  if (wrong !== undefined) throw new Error(`Expected names of buckets in openBuckets but received ${wrong}.`);
  if (names.length === 0) return [];
  const arns = names.map((name) => `arn:${Aws.PARTITION}:s3:::${name}`);
  return [
    allow(['s3:ListBucket'], arns),
    allow(
      ['s3:GetObject', 's3:PutObject', 's3:AbortMultipartUpload'],
      arns.map((arn) => `${arn}/*`),
    ),
  ];
}

const statements: Record<Permission, (resources: Resources) => PolicyStatement[]> = {
  'keys:check': ({ table }) => [
    allow(['dynamodb:GetItem'], [table.tableArn], leadingKeys(partitions.apiKey)),
    allow(['dynamodb:UpdateItem'], [table.tableArn], leadingKeys(partitions.rate)),
  ],
  'engines:read': ({ table }) => [allow(['dynamodb:BatchGetItem'], [table.tableArn], leadingKeys(partitions.engine))],
  'engines:write': ({ table }) => [allow(['dynamodb:PutItem'], [table.tableArn], leadingKeys(partitions.engine))],
  'records:read': ({ table }) => [allow(['dynamodb:GetItem', 'dynamodb:BatchGetItem'], [table.tableArn])],
  'records:write': ({ table }) => [
    allow(
      ['dynamodb:PutItem', 'dynamodb:UpdateItem', 'dynamodb:DeleteItem', 'dynamodb:BatchWriteItem'],
      [table.tableArn],
    ),
  ],
  'records:list': ({ table }) => [allow(['dynamodb:Query'], [`${table.tableArn}/index/${tableSchema.byOwner.name}`])],
  'records:due': ({ table }) => [allow(['dynamodb:Query'], [`${table.tableArn}/index/${tableSchema.byDue.name}`])],
  'files:read': ({ bucket }) => [allow(['s3:GetObject'], filesOf(bucket))],
  'files:write': ({ bucket }) => [allow(['s3:PutObject', 's3:AbortMultipartUpload'], filesOf(bucket))],
  // A posted file is read under the prefix that forms write to, and kept under one that they cannot write to.
  'files:keep': ({ bucket }) => [
    allow(['s3:GetObject'], [bucket.arnForObjects(`${uploadPrefix}*`)]),
    allow(['s3:PutObject'], [bucket.arnForObjects(`${filePrefix}*`)]),
  ],
  'secrets:read': ({ bucket }) => [allow(['s3:GetObject'], secretsOf(bucket))],
  'secrets:write': ({ bucket }) => [allow(['s3:PutObject'], secretsOf(bucket))],
  'secrets:delete': ({ bucket }) => [allow(['s3:DeleteObject'], secretsOf(bucket))],
  'files:delete': ({ bucket }) => [
    allow(['s3:DeleteObject'], filesOf(bucket)),
    allow(['s3:ListBucket'], [bucket.bucketArn]),
  ],
  'queues:send': ({ queues }) => [
    allow(
      ['sqs:SendMessage'],
      [...queues.values()].map((queue) => queue.queueArn),
    ),
  ],
  'records:query': ({ table }) => [allow(['dynamodb:Query'], [table.tableArn], leadingKeys(...queriedPrefixes))],
  'events:send': (resources) => [allow(['sqs:SendMessage'], [eventsQueue(resources).queueArn])],
  'sockets:manage': ({ sockets }) => [allow(['execute-api:ManageConnections'], sockets.arns)],
  'sockets:locate': () => [],
  'webhooks:send': ({ webhooks }) => [allow(['sqs:SendMessage'], [webhooks.queueArn])],
  'bus:put': ({ bus }) => [allow(['events:PutEvents'], [bus.eventBusArn])],
};

/** Partitions that are read as a whole: subscribers, a user's webhooks, a webhook's deliveries. */
const queriedPrefixes = [partitions.subscribers, partitions.webhooks, partitions.deliveries];

function eventsQueue({ queues }: Resources): IQueue {
  const queue = queues.get('events');
  if (!queue) throw new Error('The stack has no queue of events.');
  return queue;
}

function secretsOf(bucket: Resources['bucket']): string[] {
  return [bucket.arnForObjects(`${secretPrefix}*`)];
}

function filesOf(bucket: Resources['bucket']): string[] {
  return [filePrefix, uploadPrefix].map((prefix) => bucket.arnForObjects(`${prefix}*`));
}

function allow(actions: string[], resources: string[], conditions: Conditions = {}): PolicyStatement {
  return new PolicyStatement({ actions, resources, conditions });
}

function leadingKeys(...prefixes: string[]): Conditions {
  return { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': prefixes.map((prefix) => `${prefix}*`) } };
}
