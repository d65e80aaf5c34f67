import { dirname, join } from 'node:path';
import { readAlarms } from './alarms.ts';
import { readBatch } from './batch.ts';
import { readDeployments } from './deployments.ts';
import { type FilledBucket, readDistributions } from './distributions.ts';
import { readFlattened } from './flatten.ts';
import { type Referable, replaceTexts, resolve } from './intrinsics.ts';
import type {
  ApiRoute,
  KeyAttribute,
  LocalBucket,
  LocalEventBus,
  LocalFunction,
  LocalHttpApi,
  LocalQueue,
  LocalRole,
  LocalStack,
  LocalTable,
  LocalUserPool,
  LocalWebSocketApi,
  PolicyStatement,
  QueueSource,
  Schedule,
  TableIndex,
} from './model.ts';
import { account, localUrlOf, type Origins, pseudoParameters, referable, region } from './names.ts';
import { mayInvoke, readPolicy } from './policies.ts';
import { isObject, NotUnderstood, Properties } from './properties.ts';

export interface ReadOptions {
  /** Path of the synthesized template. */
  template: string;
  /** The folder that entries and layers in the metadata are relative to; defaults to the working directory. */
  root?: string | undefined;
  origins: Origins;
  /** Values of the template's parameters, by id; the rest have their defaults. */
  parameters: Record<string, string>;
}

interface Resource {
  logicalId: string;
  type: string;
  ref: string;
  arn: string;
  attributes: Record<string, string>;
  properties: Properties;
  metadata: Record<string, unknown>;
}

/** Reads a synthesized template into the stack to run, or throws for anything in it that is not understood. */
export function readTemplate(options: ReadOptions): LocalStack {
  const sections = new Properties('Template', readFlattened(options.template));
  const parameters = objectOf(sections.raw('Parameters'));
  const conditions = objectOf(sections.raw('Conditions'));
  const declared = objectOf(sections.raw('Resources'));
  sections.pass('For people, and for checks of CloudFormation before a deployment', 'Description', 'Outputs', 'Rules');
  sections.finish();

  const names = new Map<string, Referable>(pseudoParameters);
  for (const [id, parameter] of Object.entries(parameters)) {
    names.set(id, { ref: options.parameters[id] ?? String(objectOf(parameter).Default ?? '') });
  }
  for (const id of Object.keys(options.parameters)) {
    if (!Object.hasOwn(parameters, id)) throw new NotUnderstood(`The template has no parameter ${id}.`);
  }
  for (const [id, condition] of Object.entries(conditions)) names.set(id, { ref: String(resolve(condition, names)) });
  const urls: [string, string][] = [];
  for (const [logicalId, resource] of Object.entries(declared)) {
    const { Type, Properties: given } = objectOf(resource);
    const named = referable(String(Type), logicalId, options.origins, objectOf(given));
    names.set(logicalId, named);
    urls.push(...localUrlOf(String(Type), named, options.origins));
  }

  const resources = Object.entries(declared).map(([logicalId, declaration]): Resource => {
    const fields = new Properties(logicalId, declaration);
    const type = fields.text('Type');
    const resolved = replaceTexts(resolve(fields.raw('Properties'), names), urls);
    const properties = new Properties(`${logicalId} (${type})`, resolved);
    const metadata = objectOf(fields.raw('Metadata'));
    fields.pass(
      'Order of creation and fate at deletion, which CloudFormation sees to',
      'DependsOn',
      'UpdateReplacePolicy',
      'DeletionPolicy',
    );
    fields.finish();
    const { ref, attributes } = names.get(logicalId) ?? { ref: logicalId };
    return { logicalId, type, ref, arn: attributes?.Arn ?? '', attributes: attributes ?? {}, properties, metadata };
  });
  const stack = assemble((type) => resources.filter((resource) => resource.type === type), {
    root: options.root ?? process.cwd(),
    assembly: dirname(options.template),
  });
  for (const { properties } of resources) properties.finish();
  return stack;
}

type ByType = (type: string) => Resource[];

/** The folders that paths in metadata are relative to. */
interface Folders {
  root: string;
  assembly: string;
}

function assemble(ofType: ByType, folders: Folders): LocalStack {
  const { functionRoles, invokers, assumable, executionRoles } = readRoles(ofType);
  const deployments = readDeployments(ofType);
  const layers = new Map(
    ofType('AWS::Lambda::LayerVersion')
      .filter(({ ref }) => !deployments.layers.has(ref))
      .map((layer) => readLayer(layer, folders.root)),
  );
  const functions = ofType('AWS::Lambda::Function')
    .filter(({ arn }) => !deployments.handlers.has(arn))
    .map((resource) => readFunction(resource, functionRoles, layers, folders));
  /** Finds the function that a queue, schedule or API of the template invokes. */
  const functionNamed = (name: string): LocalFunction => {
    const found = functions.find((candidate) => candidate.name === name || candidate.arn === name);
    if (!found) throw new NotUnderstood(`The template has no function ${name}.`);
    if (found.perTenant)
      throw new NotUnderstood(`${name} is invoked by a service, which names no tenant: Lambda refuses that.`);
    return found;
  };
  const queues = readQueues(ofType);
  for (const { properties } of ofType('AWS::CDK::Metadata')) properties.pass('Statistics of the CDK', 'Analytics');
  for (const { properties } of ofType('AWS::Logs::LogGroup'))
    properties.pass('Logs go to a file here', 'RetentionInDays');
  const schedules = ofType('AWS::Events::Rule').map((resource) => readSchedule(resource, functionNamed));
  const { httpApis, webSocketApis } = readApis(ofType, functionNamed, invokers);
  const buckets = readBuckets(ofType);
  const filled = buckets.flatMap(({ name, arn, domainName, policy }): FilledBucket[] => {
    const build = deployments.builds.get(name);
    return build ? [{ arn, domainName, policy, build }] : [];
  });
  checkPermissions(ofType, functionNamed, [...httpApis, ...webSocketApis], schedules);
  return {
    account,
    region,
    functions,
    assumableRoles: [...assumable.values()],
    queues,
    tables: ofType('AWS::DynamoDB::Table').map(readTable),
    buckets: buckets.filter(({ name }) => !deployments.builds.has(name)),
    httpApis,
    webSocketApis,
    distributions: readDistributions(ofType, httpApis, filled),
    eventBuses: ofType('AWS::Events::EventBus').map(readEventBus),
    userPools: readUserPools(ofType),
    queueSources: ofType('AWS::Lambda::EventSourceMapping').map((resource) =>
      readQueueSource(resource, queues, functionNamed),
    ),
    schedules,
    alarms: readAlarms(ofType),
    ...readBatch(ofType, executionRoles, folders.root),
  };
}

interface Roles {
  /** Roles of functions by ARN. */
  functionRoles: Map<string, LocalRole>;
  /** Roles with which API Gateway invokes functions. */
  invokers: Map<string, LocalRole>;
  /** Roles that other roles assume. */
  assumable: Map<string, LocalRole>;
  /** Roles with which Fargate starts containers. */
  executionRoles: Map<string, LocalRole>;
}

/** Reads policies that are separate resources, by the names of their roles. */
function readAttachedPolicies(ofType: ByType): Map<string, PolicyStatement[]> {
  const attached = new Map<string, PolicyStatement[]>();
  for (const { logicalId, properties } of ofType('AWS::IAM::Policy')) {
    properties.pass('A name', 'PolicyName');
    const statements = readPolicy(properties.object('PolicyDocument'));
    const roles = properties.texts('Roles');
    if (roles.length === 0) throw new NotUnderstood(`${logicalId} is attached to no role.`);
    for (const role of roles) attached.set(role, [...(attached.get(role) ?? []), ...statements]);
  }
  return attached;
}

/** Returns the statements of an AWS managed policy. */
function managedPolicy(logicalId: string, arn: string): PolicyStatement[] {
  if (arn !== 'arn:aws:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole')
    throw new NotUnderstood(`${logicalId} has the managed policy ${arn}, which is not known here.`);
  const actions = ['logs:CreateLogGroup', 'logs:CreateLogStream', 'logs:PutLogEvents'];
  return [{ effect: 'Allow', actions, resources: ['*'], conditions: {} }];
}

function readRoles(ofType: ByType): Roles {
  const functionRoles = new Map<string, LocalRole>();
  const invokers = new Map<string, LocalRole>();
  const assumable = new Map<string, LocalRole>();
  const executionRoles = new Map<string, LocalRole>();
  const attached = readAttachedPolicies(ofType);
  for (const { logicalId, ref, arn, properties } of ofType('AWS::IAM::Role')) {
    const inline = properties.objects('Policies').flatMap((policy) => {
      policy.pass('A name', 'PolicyName');
      return readPolicy(policy.object('PolicyDocument'));
    });
    const managed = properties.texts('ManagedPolicyArns').flatMap((policy) => managedPolicy(logicalId, policy));
    const statements = [...managed, ...inline, ...(attached.get(ref) ?? [])];
    const users: Record<string, Map<string, LocalRole>> = {
      'lambda.amazonaws.com': functionRoles,
      'apigateway.amazonaws.com': invokers,
      'ecs-tasks.amazonaws.com': executionRoles,
      [`arn:aws:iam::${account}:root`]: assumable,
    };
    const user = assumingPrincipal(logicalId, properties.object('AssumeRolePolicyDocument'));
    const roles = users[user];
    if (!roles)
      throw new NotUnderstood(
        `${logicalId} can be assumed by others than Lambda, API Gateway, Fargate and its own account.`,
      );
    properties.pass('A text for people', 'Description');
    roles.set(arn, { logicalId, arn, statements });
  }
  return { functionRoles, invokers, assumable, executionRoles };
}

function assumingPrincipal(logicalId: string, document: Properties): string {
  const [statement, ...others] = readPolicy(document);
  const [principal, ...further] = statement?.principals ?? [];
  if (
    (principal?.type !== 'Service' && principal?.type !== 'AWS') ||
    others.length + further.length > 0 ||
    Object.keys(statement?.conditions ?? {}).length > 0
  )
    throw new NotUnderstood(`${logicalId} can be assumed by others than one service or account.`);
  return principal.value;
}

function readFunction(
  { logicalId, ref, arn, properties, metadata }: Resource,
  roles: Map<string, LocalRole>,
  layerFolders: Map<string, string>,
  folders: Folders,
): LocalFunction {
  const role = roles.get(properties.text('Role'));
  if (!role) throw new NotUnderstood(`${logicalId} has a role that the template does not have.`);
  const isImage = properties.optionalText('PackageType') === 'Image';
  const layers = properties.texts('Layers').map((layer) => {
    const folder = layerFolders.get(layer);
    if (folder === undefined) throw new NotUnderstood(`${logicalId} has a layer that the template does not have.`);
    return folder;
  });
  const handler = isImage ? 'index.handler' : properties.text('Handler');
  const runtime = isImage ? undefined : properties.text('Runtime');
  if (runtime !== undefined && !/^nodejs2\d\.x$/.test(runtime))
    throw new NotUnderstood(`${logicalId} has the runtime ${runtime}, and only those of Node run here.`);
  const variables = objectOf(properties.object('Environment').raw('Variables'));
  properties.pass('The disk of this machine has the size it has', 'EphemeralStorage');
  properties.pass(
    'Bundles and images are made of the entry, which is bundled here as well, or runs from source',
    'Code',
  );
  properties.pass('This machine has the architecture it has', 'Architectures');
  properties.pass('A text for people', 'Description');
  properties.pass('Logs go to a file here', 'LoggingConfig');
  const tenancy = properties.object('TenancyConfig').optionalText('TenantIsolationMode');
  if (tenancy !== undefined && tenancy !== 'PER_TENANT')
    throw new NotUnderstood(`${logicalId} has the tenant isolation mode ${tenancy}.`);
  return {
    logicalId,
    name: ref,
    arn,
    // A zip with layers is not bundled either.
    packaging: isImage || layers.length > 0 ? 'image' : 'zip',
    layers,
    ...codeOf(logicalId, metadata, handler, folders),
    timeoutSeconds: properties.number('Timeout', 3),
    memoryMegabytes: properties.number('MemorySize', 128),
    reservedConcurrency: properties.optionalNumber('ReservedConcurrentExecutions'),
    perTenant: tenancy !== undefined,
    allowsLoops: properties.optionalText('RecursiveLoop') === 'Allow',
    environment: Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, String(value)])),
    role,
  };
}

/**
 * Finds the code of a function: the module in its metadata (`local-aws:entry`), which runs from source or is bundled by
 * the caller, otherwise its asset in the cloud assembly.
 */
function codeOf(
  logicalId: string,
  metadata: Record<string, unknown>,
  handler: string,
  { root, assembly }: Folders,
): Pick<LocalFunction, 'entry' | 'handler' | 'code'> {
  const { 'local-aws:entry': entry, 'aws:asset:path': asset } = metadata;
  const [module = '', name = 'handler'] = handler.split('.');
  if (typeof entry === 'string') return { entry: join(root, entry), handler: name };
  if (typeof asset !== 'string')
    throw new NotUnderstood(`${logicalId} does not say which module or asset it runs. Synthesize with asset metadata.`);
  const folder = join(assembly, asset);
  return { entry: join(folder, module), handler: name, code: { root: folder, handler } };
}

/** Returns the ARN of a layer, and the folder that builds its content. */
function readLayer({ logicalId, ref, properties, metadata }: Resource, root: string): [string, string] {
  const folder = metadata['local-aws:layer'];
  if (typeof folder !== 'string') throw new NotUnderstood(`${logicalId} does not say which folder it is made of.`);
  properties.pass('The content is built from the folder', 'Content');
  properties.pass('This machine has the architecture it has', 'CompatibleArchitectures');
  properties.pass('Functions name their runtime', 'CompatibleRuntimes');
  properties.pass('A text for people', 'Description');
  return [ref, join(root, folder)];
}

function readTable({ logicalId, ref, arn, properties }: Resource): LocalTable {
  const types = new Map(
    properties
      .objects('AttributeDefinitions')
      .map((definition) => [definition.text('AttributeName'), definition.text('AttributeType')]),
  );
  const keys = (schema: Properties[]): { partitionKey: KeyAttribute; sortKey: KeyAttribute | undefined } => {
    const attributes = new Map(schema.map((key) => [key.text('KeyType'), key.text('AttributeName')]));
    const attribute = (name: string): KeyAttribute => {
      const type = types.get(name);
      if (type !== 'S' && type !== 'N' && type !== 'B')
        throw new NotUnderstood(`${logicalId} has a key ${name} of type ${type}.`);
      return { name, type };
    };
    const sort = attributes.get('RANGE');
    return { partitionKey: attribute(attributes.get('HASH') ?? ''), sortKey: sort ? attribute(sort) : undefined };
  };
  const timeToLive = properties.object('TimeToLiveSpecification');
  if (timeToLive.optionalText('AttributeName') !== undefined) timeToLive.only('Enabled', true);
  properties.only('BillingMode', 'PAY_PER_REQUEST');
  properties.pass(
    'Backups and encryption at rest are the disk of this machine',
    'PointInTimeRecoverySpecification',
    'SSESpecification',
  );
  properties.pass('Nothing here deletes tables', 'DeletionProtectionEnabled');
  return {
    logicalId,
    name: ref,
    arn,
    ...keys(properties.objects('KeySchema')),
    indexes: properties.objects('GlobalSecondaryIndexes').map((index): TableIndex => {
      const projection = index.object('Projection');
      const type = projection.text('ProjectionType');
      if (type !== 'ALL' && type !== 'KEYS_ONLY' && type !== 'INCLUDE')
        throw new NotUnderstood(`${logicalId} has an index with the projection ${type}.`);
      return {
        name: index.text('IndexName'),
        ...keys(index.objects('KeySchema')),
        projection: { type, attributes: projection.texts('NonKeyAttributes') },
      };
    }),
    timeToLiveAttribute: timeToLive.optionalText('AttributeName'),
  };
}

function readQueues(ofType: ByType): LocalQueue[] {
  const queues = ofType('AWS::SQS::Queue').map(({ logicalId, ref, arn, properties }): LocalQueue => {
    const attributes: Record<string, string> = {};
    for (const name of [
      'VisibilityTimeout',
      'MessageRetentionPeriod',
      'DelaySeconds',
      'ReceiveMessageWaitTimeSeconds',
      'MaximumMessageSize',
    ]) {
      const value = properties.optionalNumber(name);
      if (value !== undefined) attributes[name] = String(value);
    }
    for (const name of ['FifoQueue', 'ContentBasedDeduplication']) {
      const value = properties.raw(name);
      if (value !== undefined) attributes[name] = String(value);
    }
    properties.pass('A machine of one user needs no more throughput', 'DeduplicationScope', 'FifoThroughputLimit');
    const redrive = properties.raw('RedrivePolicy');
    if (redrive !== undefined) attributes.RedrivePolicy = JSON.stringify(redrive);
    properties.pass('Encryption at rest is the disk of this machine', 'SqsManagedSseEnabled');
    return { logicalId, name: arn.split(':').at(-1) ?? '', arn, url: ref, attributes, policy: [] };
  });
  for (const { logicalId, properties } of ofType('AWS::SQS::QueuePolicy')) {
    const statements = readPolicy(properties.object('PolicyDocument'));
    for (const url of properties.texts('Queues')) {
      const queue = queues.find((candidate) => candidate.url === url);
      if (!queue) throw new NotUnderstood(`${logicalId} belongs to a queue that the template does not have.`);
      queue.policy.push(...statements);
    }
  }
  return queues;
}

function readBuckets(ofType: ByType): (LocalBucket & { domainName: string })[] {
  const policies = ofType('AWS::S3::BucketPolicy').map(({ properties }) => ({
    bucket: properties.text('Bucket'),
    statements: readPolicy(properties.object('PolicyDocument')),
  }));
  return ofType('AWS::S3::Bucket').map(({ logicalId, ref, arn, attributes, properties }) => {
    const cors = properties.object('CorsConfiguration');
    const lifecycle = properties.object('LifecycleConfiguration');
    const notifications = properties.object('NotificationConfiguration');
    properties.pass('Encryption at rest is the disk of this machine', 'BucketEncryption');
    properties.pass(
      'The gate lets nobody in without a signature',
      'OwnershipControls',
      'PublicAccessBlockConfiguration',
    );
    return {
      logicalId,
      name: ref,
      arn,
      domainName: attributes.RegionalDomainName ?? '',
      cors: cors.objects('CorsRules').map((rule) => ({
        allowedMethods: rule.texts('AllowedMethods'),
        allowedOrigins: rule.texts('AllowedOrigins'),
        allowedHeaders: rule.texts('AllowedHeaders'),
        exposedHeaders: rule.texts('ExposedHeaders'),
        maxAgeSeconds: rule.optionalNumber('MaxAge'),
      })),
      notifications: notifications.objects('QueueConfigurations').map((configuration) => {
        const rules = new Map(
          configuration
            .object('Filter')
            .object('S3Key')
            .objects('Rules')
            .map((rule) => [rule.text('Name').toLowerCase(), rule.text('Value')]),
        );
        return {
          event: configuration.text('Event'),
          queueArn: configuration.text('Queue'),
          prefix: rules.get('prefix') ?? '',
          suffix: rules.get('suffix') ?? '',
        };
      }),
      policy: policies.filter(({ bucket }) => bucket === ref).flatMap(({ statements }) => statements),
      ...readLifecycle(lifecycle.objects('Rules')),
    };
  });
}

/** Reads when objects expire, and when incomplete multipart uploads are aborted. */
function readLifecycle(rules: Properties[]): Pick<LocalBucket, 'expirations' | 'abortions'> {
  const [expirations, abortions]: [LocalBucket['expirations'], LocalBucket['abortions']] = [[], []];
  for (const rule of rules) {
    rule.only('Status', 'Enabled');
    const prefix = rule.optionalText('Prefix') ?? '';
    const days = rule.optionalNumber('ExpirationInDays');
    const daysOfUploads = rule.object('AbortIncompleteMultipartUpload').optionalNumber('DaysAfterInitiation');
    if (days !== undefined) expirations.push({ prefix, days });
    if (daysOfUploads !== undefined) abortions.push({ prefix, days: daysOfUploads });
  }
  return { expirations, abortions };
}

interface Apis {
  httpApis: LocalHttpApi[];
  webSocketApis: LocalWebSocketApi[];
}

function readApis(
  ofType: ByType,
  functionNamed: (name: string) => LocalFunction,
  invokers: Map<string, LocalRole>,
): Apis {
  const targets = new Map(
    ofType('AWS::ApiGatewayV2::Integration').map(({ logicalId, ref, properties }) => {
      properties.only('IntegrationType', 'AWS_PROXY');
      properties.only('PayloadFormatVersion', '2.0');
      // WebSocket APIs name the invocation ARN of a function, HTTP APIs its own ARN.
      const uri = properties.text('IntegrationUri');
      const target = functionNamed(/\/functions\/(.+)\/invocations$/.exec(uri)?.[1] ?? uri);
      properties.text('ApiId');
      const credentials = properties.optionalText('CredentialsArn');
      const invoker = credentials === undefined ? undefined : invokers.get(credentials);
      if (credentials !== undefined && !invoker)
        throw new NotUnderstood(`${logicalId} has credentials of a role that API Gateway may not assume.`);
      return [`integrations/${ref}`, { function: target, ...(invoker ? { invoker } : {}) }];
    }),
  );
  const routes = ofType('AWS::ApiGatewayV2::Route').map(({ logicalId, properties }): ApiRoute & { api: string } => {
    const target = targets.get(properties.text('Target'));
    if (!target) throw new NotUnderstood(`${logicalId} has an integration that the template does not have.`);
    properties.only('AuthorizationType', 'NONE');
    return { api: properties.text('ApiId'), routeKey: properties.text('RouteKey'), ...target };
  });
  const stages = new Map(
    ofType('AWS::ApiGatewayV2::Stage').map(({ properties }) => {
      properties.only('AutoDeploy', true);
      properties.pass('Logs go to files here', 'AccessLogSettings');
      const settings = properties.object('DefaultRouteSettings');
      const rate = settings.optionalNumber('ThrottlingRateLimit');
      const burst = settings.optionalNumber('ThrottlingBurstLimit');
      const throttle = rate === undefined || burst === undefined ? undefined : { rate, burst };
      return [properties.text('ApiId'), { name: properties.text('StageName'), throttle }];
    }),
  );
  const routesOf = (ref: string) => routes.filter(({ api }) => api === ref).map(({ api: _api, ...route }) => route);
  const apis: Apis = { httpApis: [], webSocketApis: [] };
  for (const resource of ofType('AWS::ApiGatewayV2::Api')) {
    const protocol = resource.properties.text('ProtocolType');
    const { name: stage = '', throttle } = stages.get(resource.ref) ?? {};
    const throttled = throttle ? { throttle } : {};
    if (protocol === 'WEBSOCKET')
      apis.webSocketApis.push({ ...readWebSocketApi(resource, stage, routesOf), ...throttled });
    else if (protocol === 'HTTP' && stage === '$default')
      apis.httpApis.push({ ...readHttpApi(resource, routesOf), ...throttled });
    else throw new NotUnderstood(`${resource.logicalId} is an API for ${protocol} with the stage ${stage}.`);
  }
  return apis;
}

function readWebSocketApi(
  { logicalId, ref, properties }: Resource,
  stage: string,
  routesOf: (ref: string) => ApiRoute[],
): LocalWebSocketApi {
  properties.only('RouteSelectionExpression', '$request.body.action');
  properties.pass('Texts for people', 'Description', 'Name');
  return { logicalId, apiId: ref, stage, routes: routesOf(ref) };
}

function readEventBus({ logicalId, ref, arn, properties }: Resource): LocalEventBus {
  properties.pass('Texts for people', 'Description', 'Name');
  return { logicalId, name: ref, arn };
}

function readUserPools(ofType: ByType): LocalUserPool[] {
  const clients = ofType('AWS::Cognito::UserPoolClient').map(({ ref, properties }) => {
    properties.only('GenerateSecret', false);
    properties.only('AllowedOAuthFlowsUserPoolClient', true);
    const flows = properties.texts('AllowedOAuthFlows');
    if (flows.join() !== 'code')
      throw new NotUnderstood(`${ref} has the OAuth flows ${flows.join(' and ')} instead of code.`);
    properties.pass(
      'The embedded provider has no passwords, and one lifetime of tokens',
      ...['ExplicitAuthFlows', 'PreventUserExistenceErrors', 'SupportedIdentityProviders', 'TokenValidityUnits'],
      ...['AccessTokenValidity', 'IdTokenValidity', 'RefreshTokenValidity'],
    );
    return {
      pool: properties.text('UserPoolId'),
      id: ref,
      callbackUrls: properties.texts('CallbackURLs'),
      logoutUrls: properties.texts('LogoutURLs'),
      scopes: properties.texts('AllowedOAuthScopes'),
    };
  });
  for (const type of ['AWS::Cognito::UserPoolDomain', 'AWS::Cognito::ManagedLoginBranding'])
    for (const { properties } of ofType(type))
      properties.pass(
        'The pages of the embedded provider are its own, on this machine',
        ...['ClientId', 'Domain', 'ManagedLoginVersion', 'UseCognitoProvidedValues', 'UserPoolId'],
      );
  return ofType('AWS::Cognito::UserPool').map(({ logicalId, ref, attributes, properties }) => {
    properties.pass(
      'The embedded provider has one user, who needs no password',
      ...['AccountRecoverySetting', 'AdminCreateUserConfig', 'AutoVerifiedAttributes', 'EmailVerificationMessage'],
      ...[
        'EmailVerificationSubject',
        'EnabledMfas',
        'MfaConfiguration',
        'Policies',
        'Schema',
        'SmsVerificationMessage',
      ],
      ...['UserAttributeUpdateSettings', 'UsernameAttributes', 'UsernameConfiguration', 'VerificationMessageTemplate'],
      ...['DeletionProtection', 'UserPoolTier'],
    );
    return {
      logicalId,
      issuer: attributes.ProviderURL ?? '',
      clients: clients.filter(({ pool }) => pool === ref).map(({ pool: _pool, ...client }) => client),
    };
  });
}

function readHttpApi({ logicalId, ref, properties }: Resource, routesOf: (ref: string) => ApiRoute[]): LocalHttpApi {
  const cors = properties.object('CorsConfiguration');
  properties.pass('Texts for people', 'Description', 'Name');
  return {
    logicalId,
    apiId: ref,
    routes: routesOf(ref),
    cors: {
      allowOrigins: cors.texts('AllowOrigins'),
      allowMethods: cors.texts('AllowMethods'),
      allowHeaders: cors.texts('AllowHeaders'),
      exposeHeaders: cors.texts('ExposeHeaders'),
      maxAgeSeconds: cors.optionalNumber('MaxAge'),
    },
  };
}

function readQueueSource(
  { logicalId, properties }: Resource,
  queues: LocalQueue[],
  functionNamed: (name: string) => LocalFunction,
): QueueSource {
  const queueArn = properties.text('EventSourceArn');
  const queue = queues.find(({ arn }) => arn === queueArn);
  if (!queue) throw new NotUnderstood(`${logicalId} reads a queue that the template does not have.`);
  const target = functionNamed(properties.text('FunctionName'));
  const visibility = Number(queue.attributes.VisibilityTimeout ?? 30);
  if (visibility < target.timeoutSeconds) {
    throw new NotUnderstood(
      `${logicalId}: Lambda refuses a queue whose visibility timeout (${visibility} s) is shorter than the function's (${target.timeoutSeconds} s).`,
    );
  }
  return {
    logicalId,
    queue,
    function: target,
    batchSize: properties.number('BatchSize', 10),
    batchingWindowSeconds: properties.number('MaximumBatchingWindowInSeconds', 0),
    maximumConcurrency: properties.object('ScalingConfig').optionalNumber('MaximumConcurrency'),
    reportBatchItemFailures: properties.texts('FunctionResponseTypes').includes('ReportBatchItemFailures'),
  };
}

function readSchedule(
  { logicalId, arn, properties }: Resource,
  functionNamed: (name: string) => LocalFunction,
): Schedule {
  const expression = properties.text('ScheduleExpression');
  const rate = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(expression);
  if (!rate) throw new NotUnderstood(`${logicalId} runs by ${expression}, which the local stack does not understand.`);
  properties.only('State', 'ENABLED');
  const [target, ...others] = properties.objects('Targets');
  if (!target || others.length > 0) throw new NotUnderstood(`${logicalId} has ${others.length + 1} targets.`);
  const seconds = { minute: 60, hour: 3_600, day: 86_400 }[rate[2] ?? ''] ?? 60;
  target.pass('A name', 'Id');
  target.pass('The next run comes soon anyway', 'RetryPolicy');
  return { logicalId, arn, everySeconds: Number(rate[1]) * seconds, function: functionNamed(target.text('Arn')) };
}

/** Throws if a function lacks the permission for an API or rule that invokes it, which would fail only in AWS. */
function checkPermissions(
  ofType: ByType,
  functionNamed: (name: string) => LocalFunction,
  apis: { routes: ApiRoute[] }[],
  schedules: Schedule[],
): void {
  const permitted = new Set(
    ofType('AWS::Lambda::Permission').map(({ properties }) => {
      properties.only('Action', 'lambda:InvokeFunction');
      properties.pass('Which route or rule it is for', 'SourceArn');
      return `${properties.text('Principal')} ${functionNamed(properties.text('FunctionName')).name}`;
    }),
  );
  const routes = apis.flatMap((api) => api.routes);
  for (const { routeKey, invoker, function: target } of routes) {
    if (invoker && !mayInvoke(invoker, target))
      throw new NotUnderstood(`${routeKey}: ${invoker.logicalId} has no permission to call ${target.name}.`);
  }
  const calls = [
    ...routes
      .filter(({ invoker }) => invoker === undefined)
      .map((route) => ['apigateway.amazonaws.com', route.function.name]),
    ...schedules.map((schedule) => ['events.amazonaws.com', schedule.function.name]),
  ];
  for (const [principal, name] of calls) {
    if (!permitted.has(`${principal} ${name}`))
      throw new NotUnderstood(`${principal} has no permission to call ${name}.`);
  }
}

function objectOf(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {};
}
