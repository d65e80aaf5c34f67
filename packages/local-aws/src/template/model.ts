/**
 * What the local stack runs, read from the synthesized template with every reference resolved.
 * The parts beside this folder (gate, aws, lambda, gateway, sources) know the template only through these types.
 */

export interface PolicyStatement {
  effect: 'Allow' | 'Deny';
  /** Absent on the policies of a role, whose principal is the role itself. */
  principals?: Principal[];
  actions: string[];
  /** ARN patterns with `*` and `?`. */
  resources: string[];
  /** Operator (`StringEquals`, `Bool`, …) to key to the accepted values. */
  conditions: Record<string, Record<string, string[]>>;
}

export interface Principal {
  type: 'AWS' | 'Service' | '*';
  value: string;
}

export interface LocalRole {
  logicalId: string;
  arn: string;
  statements: PolicyStatement[];
}

/** Where a function's code is, as Lambda names it to the process that runs it. */
export interface FunctionCode {
  /** The folder that `LAMBDA_TASK_ROOT` names. */
  root: string;
  /** Module and export, `index.handler`, as `_HANDLER` names them. */
  handler: string;
}

export interface LocalFunction {
  logicalId: string;
  name: string;
  arn: string;
  /** A zip function runs from its bundle, a container image from source. */
  packaging: 'zip' | 'image';
  /** Folders whose builds make the content of its layers, which Lambda puts in /opt. */
  layers?: string[];
  /** Absolute path of the TypeScript module and the export that is the handler. */
  entry: string;
  handler: string;
  /** The function's asset, which runs unless the caller has other code for it. */
  code?: FunctionCode;
  timeoutSeconds: number;
  memoryMegabytes: number;
  reservedConcurrency?: number | undefined;
  /** Whether its environments each serve one tenant, which every invocation then has to name. */
  perTenant?: boolean;
  /** Whether Lambda lets it be invoked by what it causes itself, again and again. */
  allowsLoops?: boolean;
  environment: Record<string, string>;
  role: LocalRole;
}

export interface KeyAttribute {
  name: string;
  type: 'S' | 'N' | 'B';
}

export interface TableIndex {
  name: string;
  partitionKey: KeyAttribute;
  sortKey?: KeyAttribute | undefined;
  projection: { type: 'ALL' | 'KEYS_ONLY' | 'INCLUDE'; attributes: string[] };
}

export interface LocalTable {
  logicalId: string;
  name: string;
  arn: string;
  partitionKey: KeyAttribute;
  sortKey?: KeyAttribute | undefined;
  indexes: TableIndex[];
  timeToLiveAttribute?: string | undefined;
}

export interface LocalQueue {
  logicalId: string;
  name: string;
  arn: string;
  url: string;
  /** Attributes as CreateQueue takes them: `VisibilityTimeout`, `RedrivePolicy`, `MessageRetentionPeriod`, … */
  attributes: Record<string, string>;
  policy: PolicyStatement[];
  /** Maximum messages of one group in flight, if its consumers are few; SQS has no such limit. */
  maxOfGroup?: number;
}

export interface BucketNotification {
  /** For example `s3:ObjectCreated:*`. */
  event: string;
  prefix: string;
  suffix: string;
  queueArn: string;
}

export interface BucketCorsRule {
  allowedMethods: string[];
  allowedOrigins: string[];
  allowedHeaders: string[];
  exposedHeaders: string[];
  maxAgeSeconds?: number | undefined;
}

export interface LocalBucket {
  logicalId: string;
  name: string;
  arn: string;
  cors: BucketCorsRule[];
  notifications: BucketNotification[];
  policy: PolicyStatement[];
  /** Days after which objects under the prefix expire. */
  expirations: { prefix: string; days: number }[];
}

export interface ApiRoute {
  /** `GET /v1/process/tasks/{taskId}` or `$default`. */
  routeKey: string;
  function: LocalFunction;
  /** The role that API Gateway invokes the function with; where there is none, the function itself permits it. */
  invoker?: LocalRole;
}

export interface ApiCors {
  allowOrigins: string[];
  allowMethods: string[];
  allowHeaders: string[];
  exposeHeaders: string[];
  maxAgeSeconds?: number | undefined;
}

export interface LocalHttpApi {
  logicalId: string;
  apiId: string;
  routes: ApiRoute[];
  cors?: ApiCors;
  /** Requests a second of all clients together, and how many at once above that. */
  throttle?: { rate: number; burst: number };
}

/** What CloudFormation builds and uploads to a bucket; it is served from the build here. */
export interface LocalBuild {
  /** The folder that is built, from the project's root. */
  folder: string;
  /** One after the other. Patterns have `*`, and those to include count for more. */
  uploads: { exclude: string[]; include: string[]; cacheControl: string }[];
  /** What S3 responds with where a file is missing: to those who may not list a bucket it does not say so. */
  missingStatus: 403 | 404;
}

export interface CacheBehavior {
  /** With `*` for any characters and `?` for one. */
  pattern: string;
  methods: string[];
  origin:
    | { kind: 'api'; api: LocalHttpApi; host: string; headers: Record<string, string> }
    | { kind: 'build'; build: LocalBuild };
  /** The code of the CloudFront function that sees requests first. */
  code?: string | undefined;
  /** Headers of every response of the origin, by their names in small letters. */
  headers: Record<string, string>;
}

/** A distribution of CloudFront. */
export interface LocalDistribution {
  logicalId: string;
  domainName: string;
  /** The first whose pattern matches a path is taken; the last matches any. */
  behaviors: CacheBehavior[];
}

export interface LocalWebSocketApi {
  logicalId: string;
  apiId: string;
  stage: string;
  /** `$connect`, `$disconnect`, `$default`, or the action of a message. */
  routes: ApiRoute[];
  /** Connects, messages and disconnects a second of all clients together, and how many at once above that. */
  throttle?: { rate: number; burst: number };
}

export interface LocalEventBus {
  logicalId: string;
  name: string;
  arn: string;
}

/** Where people sign in; the embedded provider stands in for it. */
export interface LocalUserPool {
  logicalId: string;
  /** URL of the issuer. */
  issuer: string;
  clients: { id: string; callbackUrls: string[]; logoutUrls: string[]; scopes: string[] }[];
}

export interface QueueSource {
  logicalId: string;
  queue: LocalQueue;
  function: LocalFunction;
  batchSize: number;
  batchingWindowSeconds: number;
  maximumConcurrency?: number | undefined;
  reportBatchItemFailures: boolean;
}

export interface Schedule {
  logicalId: string;
  everySeconds: number;
  function: LocalFunction;
  arn: string;
}

export interface LocalAlarm {
  logicalId: string;
  /** As the runbook calls it. */
  name: string;
  metric: { namespace: string; name: string; dimensions: Record<string, string> };
  statistic: 'Sum' | 'Average' | 'Minimum' | 'Maximum' | 'SampleCount';
  periodSeconds: number;
  evaluationPeriods: number;
  threshold: number;
  /** What a period without data counts as. */
  missing: 'breaching' | 'notBreaching';
}

export interface LocalStack {
  account: string;
  region: string;
  functions: LocalFunction[];
  /** Roles that other roles of the account assume, where their policies allow it. */
  assumableRoles: LocalRole[];
  tables: LocalTable[];
  queues: LocalQueue[];
  buckets: LocalBucket[];
  httpApis: LocalHttpApi[];
  webSocketApis: LocalWebSocketApi[];
  distributions: LocalDistribution[];
  eventBuses: LocalEventBus[];
  userPools: LocalUserPool[];
  queueSources: QueueSource[];
  schedules: Schedule[];
  alarms: LocalAlarm[];
}
