/**
 * The resources that the local stack runs, read from the synthesized template with every reference resolved. Everything
 * else in this package knows the template only through these types.
 */

export interface PolicyStatement {
  effect: 'Allow' | 'Deny';
  /** Absent in policies of a role, whose principal is the role itself. */
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

/** Location of a function's code, as Lambda passes it to the process. */
export interface FunctionCode {
  /** The value of `LAMBDA_TASK_ROOT`. */
  root: string;
  /** The value of `_HANDLER`: module and export, `index.handler`. */
  handler: string;
}

export interface LocalFunction {
  logicalId: string;
  name: string;
  arn: string;
  /** A zip function runs from its bundle, a container image from source. */
  packaging: 'zip' | 'image';
  /** Folders that build its layers, which Lambda mounts at /opt. */
  layers?: string[];
  /** Absolute path of the TypeScript module and the handler's export. */
  entry: string;
  handler: string;
  /** The function's asset, used unless the caller has other code for it. */
  code?: FunctionCode;
  timeoutSeconds: number;
  memoryMegabytes: number;
  reservedConcurrency?: number | undefined;
  /** Whether each environment serves one tenant, which every invocation must name. */
  perTenant?: boolean;
  /** Whether Lambda allows it to be invoked recursively. */
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
  /** Attributes of CreateQueue: `VisibilityTimeout`, `RedrivePolicy`, `MessageRetentionPeriod`, … */
  attributes: Record<string, string>;
  policy: PolicyStatement[];
  /** Maximum messages of one group in flight, if there are few consumers; SQS has no such limit. */
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
  /** When incomplete multipart uploads are aborted. */
  abortions: { prefix: string; days: number }[];
}

export interface ApiRoute {
  /** `GET /v1/process/tasks/{taskId}` or `$default`. */
  routeKey: string;
  function: LocalFunction;
  /** The role with which API Gateway invokes the function; absent if the function itself permits it. */
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
  /** Rate per second and burst of all clients together. */
  throttle?: { rate: number; burst: number };
}

/** Files that CloudFormation builds and uploads to a bucket; served from the build here. */
export interface LocalBuild {
  /** The folder to build, relative to the project. */
  folder: string;
  /** In sequence. Patterns have `*`, and inclusions take precedence. */
  uploads: { exclude: string[]; include: string[]; cacheControl: string }[];
  /** S3's status for a missing file: without the right to list a bucket it is 403. */
  missingStatus: 403 | 404;
}

export interface CacheBehavior {
  /** With `*` for any characters and `?` for one. */
  pattern: string;
  methods: string[];
  origin:
    | { kind: 'api'; api: LocalHttpApi; host: string; headers: Record<string, string> }
    | { kind: 'build'; build: LocalBuild };
  /** The CloudFront function that sees requests first. */
  code?: string | undefined;
  /** Headers of every response of the origin, by lower-case name. */
  headers: Record<string, string>;
}

export interface LocalDistribution {
  logicalId: string;
  domainName: string;
  /** The first whose pattern matches applies; the last matches any path. */
  behaviors: CacheBehavior[];
}

export interface LocalWebSocketApi {
  logicalId: string;
  apiId: string;
  stage: string;
  /** `$connect`, `$disconnect`, `$default`, or the action of a message. */
  routes: ApiRoute[];
  /** Connects, messages and disconnects of all clients together: rate per second and burst. */
  throttle?: { rate: number; burst: number };
}

export interface LocalEventBus {
  logicalId: string;
  name: string;
  arn: string;
}

/** A user pool; the embedded provider replaces it. */
export interface LocalUserPool {
  logicalId: string;
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
  /** Its name in the runbook. */
  name: string;
  metric: { namespace: string; name: string; dimensions: Record<string, string> };
  statistic: 'Sum' | 'Average' | 'Minimum' | 'Maximum' | 'SampleCount';
  periodSeconds: number;
  evaluationPeriods: number;
  threshold: number;
  /** How a period without data counts. */
  missing: 'breaching' | 'notBreaching';
}

/** A job queue of AWS Batch, with the capacity of its compute environment. */
export interface LocalJobQueue {
  logicalId: string;
  arn: string;
  maxVcpus: number;
  /** Whether it has a scheduling policy, so that each job names its share. */
  hasShares: boolean;
}

export interface LocalJobDefinition {
  logicalId: string;
  /** With the revision. */
  arn: string;
  /** Absolute path of the script that it runs, and the module that the script serves. */
  script: string;
  entry: string;
  vcpus: number;
  memoryMegabytes: number;
  timeoutSeconds: number | undefined;
  /** Required by queues with a scheduling policy. */
  schedulingPriority: number | undefined;
  environment: Record<string, string>;
}

export interface LocalStack {
  account: string;
  region: string;
  functions: LocalFunction[];
  /** Roles that other roles of the account may assume, if their policies allow it. */
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
  jobQueues: LocalJobQueue[];
  jobDefinitions: LocalJobDefinition[];
}
