import { Aws } from 'aws-cdk-lib';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import type { IEventBus } from 'aws-cdk-lib/aws-events';
import { type Conditions, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { batchVariable, functionVariable, queueVariable, sharedQueuesVariable } from '../shared/aws/queues.ts';
import { indexPartitions, partitions, tableSchema } from '../shared/aws/table-schema.ts';
import type { EngineCatalogue } from '../shared/catalogue/catalogue.ts';
import { isSecretOption } from '../shared/catalogue/options.ts';
import { sizesOf } from '../shared/catalogue/sizes.ts';
import { objectPrefixes } from '../shared/files/keys.ts';
import { maxRequestBytes } from '../shared/files/limits.ts';
import {
  chargeTask,
  deleteTask,
  endTask,
  type ItemAction,
  type ItemKind,
  jobTag,
  type ObjectAction,
  type ObjectKind,
  type Permission,
  releaseTasks,
  type SignedKind,
} from '../shared/permissions.ts';
import { diskBytes } from '../shared/tasks/limits.ts';

/** The resources that functions work on. */
export interface Resources {
  table: Pick<ITable, 'tableArn' | 'tableName'>;
  bucket: Pick<IBucket, 'bucketArn' | 'bucketName' | 'arnForObjects'>;
  /** The roles that sign requests of clients. */
  signers: Record<SignedKind, { roleArn: string }>;
  /** The queues that record changes send to: those of engines by name, and those of events. */
  queues: Map<string, IQueue>;
  /** The functions of engines, by engine. */
  engines: Map<string, { functionName: string; functionArn: string }>;
  /** The job queue and the job definitions of AWS Batch, by engine; empty if no engine has hours there. */
  batch: Map<string, { queueArn: string; definitionArn: string }>;
  sockets: { url: string; arns: { post: string; disconnect: string }; clientUrl: string };
  webhooks: IQueue;
  /** The queue that the bucket notifies of posted files. */
  notifications: IQueue;
  /** The dead-letter queues that the sweep reads. */
  deadLetters: IQueue[];
  bus: Pick<IEventBus, 'eventBusName' | 'eventBusArn'>;
  /** Variables that name the issuer for sign-in. */
  issuer: Record<string, string>;
}

/** Returns the policy statements of permissions: their actions on their resources, and nothing else. */
export function statementsFor(permissions: readonly Permission[], resources: Resources): PolicyStatement[] {
  const grants = permissions.flatMap((permission) => grantsOf(permission, resources));
  return Object.values(Object.groupBy(grants, ({ action, resource, on }) => `${action} ${on} ${resource}`))
    .flatMap((same = []) =>
      same.slice(0, 1).map((grant) => ({ ...grant, values: same.flatMap(({ values }) => values) })),
    )
    .map(({ action, resource, on, values }) => allow([action], [resource], conditionOn(on, values)));
}

/** Returns the variables that name the resources of permissions. */
export function variablesFor(permissions: readonly Permission[], resources: Resources): Record<string, string> {
  const kinds = new Set(permissions.map((permission) => permission.split(':', 1)[0] ?? ''));
  const touches = (...names: string[]) => names.some((name) => kinds.has(name));
  const queue = (name: string) => ({ [queueVariable(name)]: eventsQueue(name, resources).queueUrl });
  return {
    ...(touches(...Object.keys(partitions), ...Object.keys(indexPartitions))
      ? { LATHE_TABLE: resources.table.tableName }
      : {}),
    ...(touches(...Object.keys(objectPrefixes)) ? { LATHE_BUCKET: resources.bucket.bucketName } : {}),
    ...signingVariables(permissions, resources),
    ...(touches('work') ? workVariables(resources) : {}),
    ...(touches('engines')
      ? Object.fromEntries(
          [...resources.engines].map(([name, engine]) => [functionVariable(name), engine.functionName]),
        )
      : {}),
    ...(touches('batch')
      ? Object.fromEntries(
          [...resources.batch].map(([name, { queueArn, definitionArn }]) => [
            batchVariable(name),
            `${queueArn} ${definitionArn}`,
          ]),
        )
      : {}),
    ...(touches('events') ? queue('events') : {}),
    ...(touches('progress') ? queue('progress') : {}),
    ...(touches('webhooks') ? { [queueVariable('webhooks')]: resources.webhooks.queueUrl } : {}),
    ...(touches('notifications') ? { [queueVariable('uploads')]: resources.notifications.queueUrl } : {}),
    // The SDK reads this variable, so that the client needs no endpoint.
    ...(permissions.some((permission) => permission === 'sockets:post' || permission === 'sockets:disconnect')
      ? { AWS_ENDPOINT_URL_APIGATEWAYMANAGEMENTAPI: resources.sockets.url }
      : {}),
    ...(permissions.includes('sockets:locate') ? { LATHE_WEBSOCKET_URL: resources.sockets.clientUrl } : {}),
    ...(touches('bus') ? { LATHE_EVENT_BUS: resources.bus.eventBusName } : {}),
    ...(touches('issuer') ? resources.issuer : {}),
  };
}

/** Returns the variables with the URLs of the engines' queues. */
function workVariables(resources: Resources): Record<string, string> {
  const queues = workQueues(resources);
  const ownerOf = (shared: IQueue) => queues.find(([, queue]) => queue === shared)?.[0] ?? '';
  const sharing = queues.filter(([name, queue]) => ownerOf(queue) !== name);
  return {
    ...Object.fromEntries(
      queues.filter((each) => !sharing.includes(each)).map(([name, { queueUrl }]) => [queueVariable(name), queueUrl]),
    ),
    ...(sharing.length > 0
      ? { [sharedQueuesVariable]: sharing.map(([name, queue]) => `${name}=${ownerOf(queue)}`).join(' ') }
      : {}),
  };
}

function signingVariables(permissions: readonly Permission[], { signers }: Resources): Record<string, string> {
  const kinds = (['uploads', 'parts', 'files'] as const).filter((kind) => permissions.includes(`${kind}:sign`));
  const [kind, ...others] = kinds;
  if (others.length > 0) throw new Error('A function signs requests for one kind of objects.');
  return kind === undefined ? {} : { LATHE_SIGNING_ROLE: signers[kind].roleArn };
}

/** Additional permissions of a worker that performs its tasks itself: multipart files, and store credentials. */
const performing = ['files:abort', 'secrets:get'] as const satisfies Permission[];

/**
 * Additional permissions of a worker that invokes an engine: engine time, revocation markers, and the engine's state and speeds.
 */
const calling = [
  'engines:invoke',
  ...chargeTask,
  'revoked:get',
  'revoked:put',
  'engine:get',
  'engine:put',
] as const satisfies Permission[];

/** For an output that is too large for a form. */
const storingInParts = ['files:abort', 'files:listParts'] as const satisfies Permission[];

/** For runs in parts: plans, finished parts and shared places. */
const splitting = ['split:query', 'split:update'] as const satisfies Permission[];

/** For runs on AWS Batch: the job of a task, and what happens to it. */
const submitting = [
  'batch:submit',
  'batch:describe',
  'batch:terminate',
  'batchJob:get',
  'batchJob:update',
  'batchJob:delete',
] as const satisfies Permission[];

/** Returns the permissions of a worker for an engine or transfers: tasks and jobs, files, and secrets of its kind. */
export function workerPermissions({ resources, capabilities }: EngineCatalogue): Permission[] {
  const takesPasswords = capabilities.some(({ options }) => options.some(({ name }) => isSecretOption(name)));
  return [
    ...endTask,
    ...(resources.splits ? splitting : []),
    ...(sizesOf(resources).batchHours > 0 ? submitting : []),
    ...releaseTasks,
    ...deleteTask,
    'accountSubscribers:batchGet',
    'longRuns:batchGet',
    'longRuns:update',
    'progress:send',
    'files:get',
    'files:put',
    ...(resources.packaging === 'worker' ? performing : calling),
    ...(resources.packaging !== 'worker' && diskBytes(resources) > maxRequestBytes ? storingInParts : []),
    ...(takesPasswords ? (['passwords:get'] as const) : []),
  ];
}

/** Permissions to import a posted file: read it from the forms' prefix, and keep it under another. */
export const uploadedPermissions: readonly Permission[] = [
  ...endTask,
  ...releaseTasks,
  'group:query',
  'uploads:get',
  'uploads:list',
  'uploads:delete',
  // Files that were uploaded in parts keep the key of their upload.
  'files:get',
  'files:list',
  'files:put',
  'files:abort',
  'files:delete',
];

/** Lets imports and exports without keys access the buckets that the operator names by `-c openBuckets=one,two`. */
export function statementsForOpenBuckets(scope: Construct): PolicyStatement[] {
  const names = String(scope.node.tryGetContext('openBuckets') ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  const wrong = names.find((name) => !/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(name));
  // A star would open every bucket of the account to all API users.
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

/** One action on one resource, limited to a kind of item or object by a condition, if any. */
interface Grant {
  action: string;
  resource: string;
  on?: 'dynamodb:LeadingKeys' | 's3:prefix' | `aws:ResourceTag/${typeof jobTag}`;
  values: string[];
}

const itemActions: Record<ItemAction, string> = {
  get: 'GetItem',
  batchGet: 'BatchGetItem',
  query: 'Query',
  put: 'PutItem',
  update: 'UpdateItem',
  delete: 'DeleteItem',
  batchPut: 'BatchWriteItem',
};

const objectActions: Record<Exclude<ObjectAction, 'list'>, string> = {
  get: 'GetObject',
  put: 'PutObject',
  abort: 'AbortMultipartUpload',
  listParts: 'ListMultipartUploadParts',
  delete: 'DeleteObject',
};

function grantsOf(permission: Permission, resources: Resources): Grant[] {
  const { table, bucket, signers, sockets, webhooks, notifications, bus } = resources;
  const [kind = '', action = ''] = permission.split(':');
  if (isKeyOf(partitions, kind) && isKeyOf(itemActions, action)) return [itemGrant(kind, action, table.tableArn)];
  if (isKeyOf(objectPrefixes, kind) && action !== 'sign') return [objectGrant(kind, action, bucket)];
  switch (permission) {
    case 'uploads:sign':
      return grants('sts:AssumeRole', signers.uploads.roleArn);
    case 'parts:sign':
      return grants('sts:AssumeRole', signers.parts.roleArn);
    case 'files:sign':
      return grants('sts:AssumeRole', signers.files.roleArn);
    case 'incompleteUploads:list':
      return grants('s3:ListBucketMultipartUploads', bucket.bucketArn);
    case 'ownedTask:query':
      return [indexGrant('ownedTask', tableSchema.byOwner.name, table)];
    case 'ownedJob:query':
      return [indexGrant('ownedJob', tableSchema.byOwner.name, table)];
    case 'due:query':
      return [indexGrant('due', tableSchema.byDue.name, table)];
    case 'work:send':
      return grants('sqs:SendMessage', ...workQueues(resources).map(([, { queueArn }]) => queueArn));
    case 'engines:invoke':
      return grants('lambda:InvokeFunction', ...[...resources.engines.values()].map(({ functionArn }) => functionArn));
    case 'batch:submit': {
      const arns = [...resources.batch.values()].flatMap(({ queueArn, definitionArn }) => [queueArn, definitionArn]);
      return [...grants('batch:SubmitJob', ...new Set(arns)), ...grants('batch:TagResource', jobArns)];
    }
    case 'batch:describe':
      // It has no resource level.
      return grants('batch:DescribeJobs', '*');
    case 'batch:terminate':
      return [...new Set([...resources.batch.values()].map(({ queueArn }) => queueArn))].map((queueArn) => ({
        action: 'batch:TerminateJob',
        resource: jobArns,
        on: `aws:ResourceTag/${jobTag}`,
        values: [queueArn],
      }));
    case 'events:send':
    case 'progress:send':
      return grants('sqs:SendMessage', eventsQueue(kind, resources).queueArn);
    case 'webhooks:send':
      return grants('sqs:SendMessage', webhooks.queueArn);
    case 'notifications:send':
      return grants('sqs:SendMessage', notifications.queueArn);
    case 'deadLetters:take': {
      const sources = [...workQueues(resources).map(([, queue]) => queue), notifications];
      return [
        // Each queue names its own; their URLs would not fit the 4 KB of a function's environment.
        ...grants('sqs:GetQueueAttributes', ...sources.map(({ queueArn }) => queueArn)),
        ...resources.deadLetters.flatMap(({ queueArn }) => [
          ...grants('sqs:ReceiveMessage', queueArn),
          ...grants('sqs:DeleteMessage', queueArn),
        ]),
      ];
    }
    case 'sockets:post':
      return grants('execute-api:ManageConnections', sockets.arns.post);
    case 'sockets:disconnect':
      return grants('execute-api:ManageConnections', sockets.arns.disconnect);
    case 'sockets:locate':
    case 'issuer:locate':
      return [];
    case 'bus:put':
      return grants('events:PutEvents', bus.eventBusArn);
    default:
      throw new Error(`Expected a permission but received ${permission}.`);
  }
}

/** Jobs have ids that exist only at run time. */
const jobArns = `arn:${Aws.PARTITION}:batch:${Aws.REGION}:${Aws.ACCOUNT_ID}:job/*`;

function grants(action: string, ...resources: string[]): Grant[] {
  return resources.map((resource) => ({ action, resource, values: [] }));
}

function itemGrant(kind: ItemKind, action: ItemAction, tableArn: string): Grant {
  const values = [`${partitions[kind]}*`];
  return { action: `dynamodb:${itemActions[action]}`, resource: tableArn, on: 'dynamodb:LeadingKeys', values };
}

function indexGrant(kind: keyof typeof indexPartitions, index: string, { tableArn }: Resources['table']): Grant {
  const values = [`${indexPartitions[kind]}*`];
  return { action: 'dynamodb:Query', resource: `${tableArn}/index/${index}`, on: 'dynamodb:LeadingKeys', values };
}

function objectGrant(kind: ObjectKind, action: string, bucket: Resources['bucket']): Grant {
  const pattern = `${objectPrefixes[kind]}*`;
  if (action === 'list')
    return { action: 's3:ListBucket', resource: bucket.bucketArn, on: 's3:prefix', values: [pattern] };
  if (!isKeyOf(objectActions, action)) throw new Error(`Expected an action on objects but received ${action}.`);
  return { action: `s3:${objectActions[action]}`, resource: bucket.arnForObjects(pattern), values: [] };
}

/**
 * `ForAllValues` because a batch has the keys of all its items. It also holds for requests without keys, such as Scan
 * or PartiQL, so no role allows those.
 */
function conditionOn(key: Grant['on'], values: string[]): Conditions {
  if (key === undefined) return {};
  const unique = [...new Set(values)].sort();
  if (key === `aws:ResourceTag/${jobTag}`) return { StringEquals: { [key]: unique } };
  return { [key === 's3:prefix' ? 'StringLike' : 'ForAllValues:StringLike']: { [key]: unique } };
}

/** The event queues in the map of queues; all others belong to engines. */
const eventQueueNames = ['events', 'progress'];

function workQueues({ queues }: Resources): [string, IQueue][] {
  return [...queues].filter(([name]) => !eventQueueNames.includes(name));
}

function eventsQueue(name: string, { queues }: Resources): IQueue {
  const queue = queues.get(name);
  if (!queue) throw new Error(`The stack has no queue of ${name}.`);
  return queue;
}

function isKeyOf<T extends object>(record: T, key: PropertyKey): key is keyof T {
  return Object.hasOwn(record, key);
}

function allow(actions: string[], resources: string[], conditions: Conditions = {}): PolicyStatement {
  return new PolicyStatement({ actions, resources, conditions });
}
