import { readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Route } from '../../functions/api/http/route.ts';
import { type EndpointName, routes } from '../../functions/api/routes.ts';
import { engineCatalogues, folderOf } from '../../functions/catalogue/catalogues.ts';
import { currentTemplate } from '../../infra/build/template-cache.ts';
import { projectRoot } from '../../infra/bundling.ts';
import type { LocalFunction, LocalStack, PolicyStatement } from '../../packages/local-aws/src/template/model.ts';
import { readTemplate } from '../../packages/local-aws/src/template/read.ts';
import { functionVariable } from '../../shared/aws/queues.ts';
import { tableSchema } from '../../shared/aws/table-schema.ts';
import type { EngineCatalogue } from '../../shared/catalogue/catalogue.ts';
import { isSecretOption } from '../../shared/catalogue/options.ts';
import { distributionHeader } from '../../shared/net/distribution.ts';
import type { Permission } from '../../shared/permissions.ts';
import { assetPaths, htmlFiles } from '../../web/html-files.ts';
import { type FunctionName, functionOf } from '../support/running-stack.ts';
import {
  type Json,
  readSynthesized,
  referredTo,
  resourcesOf,
  statementsOf,
  type TemplateResource,
} from '../support/template.ts';
import { templateTable } from '../support/template-table.ts';

const template = await readSynthesized();
const path = await currentTemplate();
const origins = { api: 'http://localhost:3000', gate: 'http://127.0.0.1:3000' };
const readWith = (parameters: Record<string, string>) => readTemplate({ template: path, origins, parameters });
const stack = readWith({});

const functions = resourcesOf(template, 'AWS::Lambda::Function');
/** Functions of the CDK that CloudFormation runs in a deployment. */
const deployers = resourcesOf(template, 'Custom::CDKBucketDeployment').map(({ Properties }) =>
  referredTo(Properties.ServiceToken),
);
const queues = resourcesOf(template, 'AWS::SQS::Queue');
const deadLetterIds = new Set(
  queues.flatMap(({ Properties }) => {
    const id = referredTo(Properties.RedrivePolicy);
    return id ? [id] : [];
  }),
);

function textsOf(value: Json | undefined): string[] {
  return [value ?? []].flat().map((item) => (typeof item === 'string' ? item : JSON.stringify(item)));
}

/** Returns the engine whose worker performs the tasks of an engine. */
function workerOf({ engine, worker = engine }: EngineCatalogue): string {
  return worker;
}

function nameOfWorker(catalogue: EngineCatalogue): FunctionName {
  const performsItself = catalogue.resources.packaging === 'worker';
  return performsItself ? `${folderOf(catalogue)}/handler.ts` : { worker: workerOf(catalogue) };
}

describe('every function', () => {
  test.for(functions.map((fn) => [fn.id, fn] as const))(
    '(%s) has a timeout, memory and logs that expire',
    ([, { Properties }]) => {
      expect(Properties.Timeout).toBeGreaterThanOrEqual(10);
      expect(Properties.Timeout).toBeLessThanOrEqual(900);
      expect(Properties.MemorySize).toBeGreaterThanOrEqual(256);
      const group = template.Resources[referredTo((Properties.LoggingConfig as { LogGroup: Json }).LogGroup)];
      expect(group?.Type).toBe('AWS::Logs::LogGroup');
      expect(group?.Properties.RetentionInDays).toBeLessThanOrEqual(90);
    },
  );

  test('has a role of its own, which only Lambda assumes and no other policy widens', () => {
    const roles = functions.map(({ Properties }) => referredTo(Properties.Role));
    expect(new Set(roles).size).toBe(functions.length);
    const { own = [], others = [] } = Object.groupBy(resourcesOf(template, 'AWS::IAM::Role'), ({ id }) =>
      roles.includes(id) ? 'own' : 'others',
    );
    expect(own.length).toBe(functions.length);
    for (const { id, Properties } of [...own, ...others])
      expect(Object.keys(Properties).sort(), id).toEqual(['AssumeRolePolicyDocument', 'Description', 'Policies']);
    for (const { id, Properties } of own)
      expect(JSON.stringify(Properties.AssumeRolePolicyDocument), id).toContain('"Service":"lambda.amazonaws.com"');
    for (const type of ['AWS::IAM::Policy', 'AWS::IAM::RolePolicy', 'AWS::IAM::ManagedPolicy'])
      expect(resourcesOf(template, type)).toEqual([]);
    const { signers = [], invokers = [] } = Object.groupBy(others, ({ id }) =>
      id.startsWith('Signers') ? 'signers' : 'invokers',
    );
    for (const role of invokers) {
      expect(JSON.stringify(role.Properties.AssumeRolePolicyDocument)).toContain(
        '"Service":"apigateway.amazonaws.com"',
      );
      expect(statementsOf(role).map(({ Action }) => Action)).toEqual(['lambda:InvokeFunction']);
    }
    expect(signers).toHaveLength(3);
  });

  test('that signs requests of clients uses a role that may do nothing else', () => {
    const grants = stack.assumableRoles.map(({ statements }) =>
      statements.map(({ effect, actions, resources }) => `${effect} ${actions} ${resources}`),
    );
    const bucket = stack.buckets[0]?.arn;
    expect(grants).toEqual([
      [`Allow s3:PutObject ${bucket}/uploads/*`],
      [`Allow s3:PutObject ${bucket}/files/*`],
      [`Allow s3:GetObject ${bucket}/files/*`],
    ]);
  });

  test('runs a module of this project by name', () => {
    expect(new Set(deployers).size).toBe(1);
    for (const { id, Metadata } of functions.filter((fn) => !deployers.includes(fn.id)))
      expect(Metadata?.['local-aws:entry'], id).toMatch(/^functions\/.+\.ts$/);
  });
});

describe('no policy', () => {
  const documents = ['AWS::SQS::QueuePolicy', 'AWS::S3::BucketPolicy', 'AWS::SNS::TopicPolicy'].flatMap((type) =>
    resourcesOf(template, type),
  );
  const statements = [
    ...documents.flatMap(({ id, Properties }) => {
      const { Statement } = Properties.PolicyDocument as { Statement: Record<string, Json>[] };
      return Statement.map((statement) => [id, statement] as const);
    }),
    ...resourcesOf(template, 'AWS::IAM::Role').flatMap((role) =>
      statementsOf(role).map((statement) => [role.id, statement] as const),
    ),
  ];

  test('allows an action by a pattern, or anything on every resource', () => {
    for (const [id, statement] of statements) {
      if (statement.Effect === 'Deny') continue;
      for (const action of textsOf(statement.Action)) expect(action, id).toMatch(/^[a-z0-9-]+:[A-Za-z]+$/);
      for (const resource of textsOf(statement.Resource)) expect(resource, id).not.toMatch(/^\*$|^arn:[^{]*\*$/);
      expect(statement, id).not.toHaveProperty('NotAction');
      expect(statement, id).not.toHaveProperty('NotResource');
    }
  });

  test('admits callers from outside the account', () => {
    for (const [id, statement] of statements) {
      if (statement.Effect === 'Deny' || statement.Principal === undefined) continue;
      const { Service } = Object(statement.Principal);
      expect(['s3.amazonaws.com', 'cloudwatch.amazonaws.com', 'cloudfront.amazonaws.com'], id).toContain(Service);
      if (Service === 'cloudfront.amazonaws.com')
        expect(JSON.stringify(statement.Condition), id).toMatch(/"StringEquals":\{"AWS:SourceArn":.*"PageDistribution/);
      else expect(JSON.stringify(statement.Condition), id).toContain('aws:SourceAccount');
    }
  });
});

describe('every queue', () => {
  test('is encrypted, and has a dead-letter queue unless it is one', () => {
    for (const { id, Properties } of queues) {
      expect(Properties.SqsManagedSseEnabled, id).toBe(true);
      if (deadLetterIds.has(id)) expect(Properties.MessageRetentionPeriod, id).toBe(14 * 86_400);
      else expect(referredTo(Properties.RedrivePolicy), id).not.toBe('');
    }
  });

  test('accepts no request without TLS', () => {
    const policies = resourcesOf(template, 'AWS::SQS::QueuePolicy');
    const protectedIds = policies
      .filter(({ Properties }) => JSON.stringify(Properties.PolicyDocument).includes('"aws:SecureTransport":"false"'))
      .flatMap(({ Properties }) => [Properties.Queues ?? []].flat().map(referredTo));
    expect(protectedIds.sort()).toEqual(queues.map(({ id }) => id).sort());
  });

  test('of an engine is processed one message at a time, and the sweep reads its dead letters', () => {
    const sweep = functionOf(stack, 'functions/lifecycle/sweep.ts');
    const read = sweep.role.statements
      .filter(({ actions }) => actions.includes('sqs:ReceiveMessage'))
      .flatMap(({ resources }) => resources);
    for (const catalogue of engineCatalogues) {
      const { engine } = catalogue;
      const worker = functionOf(stack, nameOfWorker(catalogue));
      const source = stack.queueSources.find((candidate) => candidate.function === worker);
      expect(source?.batchSize, engine).toBe(1);
      const { deadLetterTargetArn } = JSON.parse(source?.queue.attributes.RedrivePolicy ?? '{}');
      const deadLetters = stack.queues.find(({ arn }) => arn === deadLetterTargetArn);
      expect(read, engine).toContain(deadLetters?.arn);
      // Longer than a sweep, or the next one would settle the same message.
      expect(Number(deadLetters?.attributes.VisibilityTimeout), engine).toBeGreaterThan(sweep.timeoutSeconds);
    }
  });
});

test('no dead-letter queue is polled: a poller costs by the month, and the sweep comes every minute', () => {
  const polled = stack.queueSources.map(({ queue }) => queue.logicalId);
  expect(polled.filter((id) => deadLetterIds.has(id))).toEqual([]);
});

describe('an engine', () => {
  const engines = engineCatalogues.filter(({ resources }) => resources.packaging === 'image');

  test.for(engines.map((catalogue) => [catalogue.engine, catalogue] as const))(
    '(%s) may write its log and nothing else, and only its worker, instant conversions and images by URL may invoke it',
    ([, catalogue]) => {
      const engine = functionOf(stack, `${folderOf(catalogue)}/handler.ts`);
      expect(engine.role.statements.flatMap(({ actions }) => actions).sort()).toEqual([
        'logs:CreateLogStream',
        'logs:PutLogEvents',
      ]);
      const callers = stack.functions.filter(({ role }) =>
        role.statements.some(
          ({ actions, resources }) => actions.includes('lambda:InvokeFunction') && resources.includes(engine.arn),
        ),
      );
      expect(new Set(callers)).toEqual(
        new Set([
          functionOf(stack, { worker: workerOf(catalogue) }),
          functionOf(stack, 'functions/api/instant/instant.ts'),
          ...(catalogue.engine === 'image' ? [functionOf(stack, 'functions/api/pictures/show-picture.ts')] : []),
        ]),
      );
      for (const { environment } of callers) expect(environment[functionVariable(catalogue.engine)]).toBe(engine.name);
    },
  );

  test('isolates accounts in separate environments, unless there is one tenant; workers, which a queue invokes, do not', () => {
    const tenantsIn = ({ functions }: LocalStack) =>
      functions.filter(({ perTenant }) => perTenant).map(({ entry }) => relative(projectRoot, entry));
    expect(tenantsIn(stack).toSorted()).toEqual(engines.map((each) => `${folderOf(each)}/handler.ts`).toSorted());
    expect(tenantsIn(readWith({ SingleTenant: 'true' }))).toEqual([]);
  });

  test('receives no name of a table, bucket or queue', () => {
    for (const { engine } of engines) {
      const { environment } = functionOf(stack, `functions/engines/${engine}/handler.ts`);
      expect(Object.keys(environment).sort(), engine).toEqual([
        'LATHE_ALLOW_HOSTS',
        'LATHE_ISOLATION',
        'LATHE_MISSING',
        'LATHE_SINGLE_TENANT',
      ]);
    }
  });

  test("is outlived by its worker, within Lambda's maximum timeout", () => {
    for (const [worker, served = []] of Object.entries(Object.groupBy(engines, workerOf))) {
      const timeouts = served.map((each) => functionOf(stack, `${folderOf(each)}/handler.ts`).timeoutSeconds);
      expect(functionOf(stack, { worker }).timeoutSeconds, worker).toBe(Math.min(900, Math.max(...timeouts) + 30));
    }
  });
});

describe('the bucket', () => {
  const [bucket] = resourcesOf(template, 'AWS::S3::Bucket');
  const properties = bucket?.Properties ?? {};

  test('is private, encrypted, and accepts no request without TLS', () => {
    expect(properties.PublicAccessBlockConfiguration).toEqual({
      BlockPublicAcls: true,
      BlockPublicPolicy: true,
      IgnorePublicAcls: true,
      RestrictPublicBuckets: true,
    });
    expect(JSON.stringify(properties.BucketEncryption)).toContain('"SSEAlgorithm":"aws:kms"');
    expect(properties.VersioningConfiguration).toBeUndefined();
    expect(JSON.stringify(properties.OwnershipControls)).toContain('BucketOwnerEnforced');
    const [policy] = resourcesOf(template, 'AWS::S3::BucketPolicy');
    expect(JSON.stringify(policy?.Properties.PolicyDocument)).toContain('"aws:SecureTransport":"false"');
  });

  test('accepts uploads from any page and notifies the uploads queue of them only', () => {
    const [rule] = (properties.CorsConfiguration as { CorsRules: Record<string, Json>[] }).CorsRules;
    expect(rule).toMatchObject({ AllowedOrigins: ['*'], AllowedMethods: expect.arrayContaining(['GET', 'POST']) });
    expect(stack.buckets[0]?.notifications).toMatchObject([{ event: 's3:ObjectCreated:*', prefix: 'uploads/' }]);
    const uploads = stack.queues.find(({ arn }) => arn === stack.buckets[0]?.notifications[0]?.queueArn);
    expect(stack.queueSources.find(({ queue }) => queue === uploads)).toMatchObject({
      function: functionOf(stack, 'functions/lifecycle/uploaded.ts'),
      reportBatchItemFailures: true,
    });
  });

  test('expires anything that the sweep misses', () => {
    const { Rules } = properties.LifecycleConfiguration as { Rules: Record<string, Json>[] };
    expect(Rules).toEqual([
      { Status: 'Enabled', ExpirationInDays: 2, AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 } },
    ]);
  });
});

describe('the page', () => {
  const [distribution] = stack.distributions;
  const [api] = stack.httpApis;

  test('has its documents at their paths and its files in a bucket; everything else is the API, uncached', () => {
    const paths = distribution?.behaviors.flatMap(({ origin, pattern }) => (origin.kind === 'build' ? [pattern] : []));
    expect(paths).toEqual([...assetPaths, ...htmlFiles.flatMap((file) => file.paths)]);
    expect(distribution?.behaviors.at(-1)).toMatchObject({
      pattern: '*',
      methods: ['GET', 'HEAD', 'OPTIONS', 'PUT', 'PATCH', 'POST', 'DELETE'],
      origin: { kind: 'api', api },
    });
  });

  test('is in a bucket that only the distribution reads, and that is deleted with the stack', () => {
    const bucket = resourcesOf(template, 'AWS::S3::Bucket').find(({ id }) => id.startsWith('Page'));
    expect(bucket).toMatchObject({
      DeletionPolicy: 'Delete',
      Properties: {
        PublicAccessBlockConfiguration: {
          BlockPublicAcls: true,
          BlockPublicPolicy: true,
          IgnorePublicAcls: true,
          RestrictPublicBuckets: true,
        },
      },
    });
    for (const { Properties } of resourcesOf(template, 'Custom::CDKBucketDeployment'))
      expect(Properties).toMatchObject({ DestinationBucketName: { Ref: bucket?.id }, RetainOnDelete: false });
  });

  test('proves to every endpoint, and only to those, that requests come from the distribution', () => {
    const { origin } = distribution?.behaviors.at(-1) ?? {};
    const key = origin?.kind === 'api' ? origin.headers[distributionHeader] : undefined;
    expect(key).toMatch(/^[0-9a-f-]{36}$/);
    const told = stack.functions.filter(({ environment }) => environment.LATHE_DISTRIBUTION_KEY === key);
    const endpoints = api?.routes.filter(({ routeKey }) => routeKey !== '$default').map((route) => route.function);
    expect(new Set(told)).toEqual(new Set(endpoints));
  });

  test('is deployed after the endpoints that it calls, and its documents after their files', () => {
    const [assets, documents] = resourcesOf(template, 'Custom::CDKBucketDeployment');
    expect(assets?.Properties).toMatchObject({ Include: ['assets/*'], Prune: false });
    expect(documents?.DependsOn).toEqual(
      expect.arrayContaining([assets?.id, expect.stringMatching(/^ApiNestedStack/)]),
    );
  });
});

test('both APIs limit the requests of all clients together', () => {
  const stages = resourcesOf(template, 'AWS::ApiGatewayV2::Stage');
  expect(stages.length).toBe(2);
  for (const { id, Properties } of stages)
    expect(Properties.DefaultRouteSettings, id).toEqual({ ThrottlingRateLimit: 500, ThrottlingBurstLimit: 1_000 });
});

describe('the table', () => {
  const [table] = resourcesOf(template, 'AWS::DynamoDB::Table');

  test('is billed by request, encrypted, recoverable, and expires items automatically', () => {
    expect(table?.Properties).toMatchObject({
      BillingMode: 'PAY_PER_REQUEST',
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      DeletionProtectionEnabled: true,
      SSESpecification: { SSEEnabled: true },
      TimeToLiveSpecification: { AttributeName: tableSchema.timeToLive, Enabled: true },
    });
  });

  test('has the indexes that the records use', () => {
    expect(
      stack.tables[0]?.indexes.map(({ name, partitionKey, sortKey }) => [name, partitionKey.name, sortKey?.name]),
    ).toEqual([tableSchema.byOwner, tableSchema.byDue].map((index) => [index.name, index.partitionKey, index.sortKey]));
  });
});

describe('people sign in', () => {
  const [pool] = resourcesOf(template, 'AWS::Cognito::UserPool');
  const [client] = resourcesOf(template, 'AWS::Cognito::UserPoolClient');

  test('by a user pool that only the operator adds people to, and that outlives the stack', () => {
    expect(pool?.Properties).toMatchObject({
      AdminCreateUserConfig: { AllowAdminCreateUserOnly: true },
      DeletionProtection: 'ACTIVE',
      UsernameAttributes: ['email'],
      AutoVerifiedAttributes: ['email'],
    });
  });

  test('by a code that is sent only to this service, without a secret', () => {
    expect(client?.Properties).toMatchObject({
      GenerateSecret: false,
      AllowedOAuthFlows: ['code'],
      AllowedOAuthScopes: ['openid', 'email', 'profile'],
    });
    expect(stack.userPools).toEqual([
      {
        logicalId: pool?.id,
        issuer: 'http://localhost:3000/_oidc',
        clients: [
          {
            id: client?.id,
            callbackUrls: ['http://localhost:3000/auth/callback'],
            logoutUrls: ['http://localhost:3000/'],
            scopes: ['openid', 'email', 'profile'],
          },
        ],
      },
    ]);
  });

  test('at an issuer that only their endpoints know', () => {
    const told = stack.functions.filter(({ environment }) => 'LATHE_OIDC_ISSUER' in environment);
    expect(told.map(functionNameOf).sort()).toEqual(['HttpSignIn', 'HttpSignInCallback', 'HttpSignOut']);
    for (const { environment } of told)
      expect(environment).toMatchObject({
        LATHE_POOL_ISSUER: 'http://localhost:3000/_oidc',
        LATHE_POOL_CLIENT_ID: client?.id,
      });
  });
});

test('files, records and people outlive the stack', () => {
  for (const type of ['AWS::S3::Bucket', 'AWS::DynamoDB::Table', 'AWS::Cognito::UserPool']) {
    for (const resource of resourcesOf(template, type).filter(({ id }) => !id.startsWith('Page')))
      expect(resource).toMatchObject({ DeletionPolicy: 'Retain' });
  }
});

const rows: [EndpointName, Route][] = Object.entries<Route>(routes).map(([name, route]) => [
  name as EndpointName,
  route,
]);

/** Finds the function of a row by its name in the template, since rows may share a module or a function. */
function functionOfRow(name: EndpointName): LocalFunction {
  const construct = ((routes[name] as Route).sharedFunction ?? name)
    .split('-')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
  const found = stack.functions.filter(({ logicalId }) =>
    new RegExp(`^Http${construct}Function[0-9A-F]{8}$`).test(logicalId),
  );
  const [only] = found;
  if (!only || found.length > 1) throw new Error(`The row ${name} has ${found.length} functions.`);
  return only;
}

describe('every row of the route table', () => {
  const api = stack.httpApis[0];

  test.for(rows)('(%s) has its route, and its function on its module behind it', ([name, route]) => {
    const methods = route.alsoHead ? [route.method, 'HEAD'] : [route.method];
    for (const method of methods) {
      const found = api?.routes.find(({ routeKey }) => routeKey === `${method} ${route.path}`);
      expect(found?.function).toBe(functionOfRow(name));
      expect(found?.function.entry).toBe(join(projectRoot, `functions/api/${route.module}.ts`));
      expect(found?.function.environment.LATHE_OPERATION).toBe(route.sharedFunction ? undefined : route.operation);
    }
  });

  test.for(rows)('(%s) gives its role exactly what it needs', ([name, route]) => {
    const fn = functionOfRow(name);
    const ofKey = route.access === 'key' ? (['apiKey:get', 'rate:update'] as const) : [];
    const takesSession = route.access === 'key' && !route.keyOnly;
    const ofSession = takesSession ? (['signIn:get', 'signIn:update', 'account:get'] as const) : [];
    const expected = [...route.permissions, ...ofKey, ...ofSession].flatMap((need) =>
      permissionsOf(need, fn, route.engine),
    );
    expect(permissionsIn(fn)).toEqual([...new Set([...expected, ...logging(stack, fn)])].sort());
  });

  test.for(rows.filter(([, { module }]) => module === 'tasks/create-task'))(
    '(%s) stores secrets only if its operation has options that are secrets',
    ([, { operation, permissions }]) => {
      const options = engineCatalogues.flatMap(({ capabilities }) =>
        capabilities.flatMap((each) => (each.operation === operation ? each.options : [])),
      );
      expect(permissions.includes('passwords:put')).toBe(options.some(({ name }) => isSecretOption(name)));
    },
  );

  test('is invoked by the role of its folder, which invokes nothing else', () => {
    const invoked = new Map<string, Set<string>>();
    for (const { invoker, function: target } of api?.routes ?? []) {
      expect(invoker, target.logicalId).toBeDefined();
      const targets = invoked.get(invoker?.logicalId ?? '') ?? new Set();
      invoked.set(invoker?.logicalId ?? '', targets.add(target.arn));
    }
    for (const { logicalId, statements } of (api?.routes ?? []).flatMap(({ invoker = [] }) => invoker))
      expect(statements.flatMap(({ resources }) => resources).sort(), logicalId).toEqual(
        [...(invoked.get(logicalId) ?? [])].sort(),
      );
  });

  test('is all that the API serves, apart from the fallback', () => {
    const serving = new Set(api?.routes.map((route) => route.function));
    expect(serving.size).toBe(new Set(rows.map(([name, { sharedFunction = name }]) => sharedFunction)).size + 1);
    expect(api?.routes.find(({ routeKey }) => routeKey === '$default')?.function).toBe(
      functionOf(stack, 'functions/api/service/fallback.ts'),
    );
  });
});

/** Lists the permissions of a role: each action on each resource with each accepted value of its condition. */
function permissionsIn({ role }: Pick<LocalFunction, 'role'>): string[] {
  expect(role.statements.every(({ effect }) => effect === 'Allow')).toBe(true);
  return [...new Set(role.statements.flatMap(atomsOf))].sort();
}

function atomsOf({ actions, resources, conditions }: PolicyStatement): string[] {
  const tests = Object.entries(conditions).flatMap(([operator, keys]) =>
    Object.entries(keys).map(([key, values]) => values.map((value) => ` where ${key} ${operator} ${value}`)),
  );
  expect(tests.length).toBeLessThan(2);
  return actions.flatMap((action) =>
    resources.flatMap((resource) => (tests[0] ?? ['']).map((condition) => `${action} ${resource}${condition}`)),
  );
}

function logging({ region, account }: LocalStack, fn: LocalFunction): string[] {
  const [own] = permissionsIn(fn).filter((permission) => permission.startsWith('logs:PutLogEvents '));
  const group = new RegExp(`^logs:PutLogEvents arn:aws:logs:${region}:${account}:log-group:\\w+:\\*$`);
  expect(own).toMatch(group);
  const arn = own?.split(' ')[1];
  return [`logs:CreateLogStream ${arn}`, `logs:PutLogEvents ${arn}`];
}

/** The expansion of each permission, written by hand a second time: a wider grant must be made in both places. */
const keysOfItems: Record<string, string> = {
  group: 'group#*',
  accountSubscribers: 'following#*',
  counts: 'counts#*',
  apiKey: 'key#*',
  accountKey: 'keys#*',
  imageKey: 'imagekey#*',
  accountImageKey: 'imagekeys#*',
  derivative: 'derivative#*',
  keyConnection: 'keyconn#*',
  pinged: 'ping#*',
  account: 'account#*',
  membership: 'membership#*',
  invitation: 'invite#*',
  audit: 'audit#*',
  person: 'person#*',
  attempt: 'attempt#*',
  signIn: 'signin#*',
  rate: 'rate#*',
  token: 'token#*',
  idempotency: 'once#*',
  webhook: 'hooks#*',
  delivery: 'hook#*',
  connection: 'conn#*',
  session: 'session#*',
  subscriber: 'listen#*',
  engine: 'engine#*',
  minutes: 'minutes#*',
  usage: 'usage#*',
};
const keysOfIndexes: Record<string, [index: string, keys: string]> = {
  ownedTask: ['byOwner', 'tasks#*'],
  ownedJob: ['byOwner', 'jobs#*'],
  due: ['byDue', 'due#*'],
};
const itemActions: Record<string, string> = {
  get: 'GetItem',
  batchGet: 'BatchGetItem',
  query: 'Query',
  put: 'PutItem',
  update: 'UpdateItem',
  delete: 'DeleteItem',
  batchPut: 'BatchWriteItem',
};
const objectActions: Record<string, string> = {
  get: 'GetObject',
  put: 'PutObject',
  abort: 'AbortMultipartUpload',
  listParts: 'ListMultipartUploadParts',
  delete: 'DeleteObject',
};

function permissionsOf(need: Permission, { environment }: LocalFunction, engine?: string): string[] {
  const [kind = '', action = ''] = need.split(':');
  const [table, bucket] = [stack.tables[0]?.arn, stack.buckets[0]?.arn];
  const withKeys = (keys: string) => `where dynamodb:LeadingKeys ForAllValues:StringLike ${keys}`;
  if (keysOfItems[kind]) return [`dynamodb:${itemActions[action]} ${table} ${withKeys(keysOfItems[kind])}`];
  const [index, keys] = keysOfIndexes[kind] ?? [];
  if (index && keys) return [`dynamodb:Query ${table}/index/${index} ${withKeys(keys)}`];
  if (kind === 'incompleteUploads') return [`s3:ListBucketMultipartUploads ${bucket}`];
  if (need === 'notifications:send')
    return stack.queues
      .filter(({ logicalId }) => /^FilesUploadsQueue/.test(logicalId))
      .map(({ arn }) => `sqs:SendMessage ${arn}`);
  if (action === 'sign')
    return stack.assumableRoles
      .filter(({ logicalId }) => logicalId.toLowerCase().startsWith(`signers${kind}`))
      .map(({ arn }) => `sts:AssumeRole ${arn}`);
  if (['uploads', 'files', 'secrets', 'passwords', 'revoked'].includes(kind))
    return action === 'list'
      ? [`s3:ListBucket ${bucket} where s3:prefix StringLike ${kind}/*`]
      : [`s3:${objectActions[action]} ${bucket}/${kind}/*`];
  if (need === 'sockets:locate' || need === 'issuer:locate') return [];
  if (need === 'engines:invoke')
    return stack.functions
      .filter(({ perTenant, entry }) => perTenant && (engine === undefined || entry.includes(`/engines/${engine}/`)))
      .map(({ arn }) => `lambda:InvokeFunction ${arn}`);
  if (need === 'bus:put') return stack.eventBuses.map(({ arn }) => `events:PutEvents ${arn}`);
  if (action !== 'send') throw new Error(`No endpoint is known to need ${need}.`);
  // A function has a queue's URL if and only if it may send to it.
  const events = ['events', 'progress', 'webhooks'];
  const urls = Object.entries(environment).flatMap(([name, url]) => {
    const queue = /^LATHE_QUEUE_(.+)$/.exec(name)?.[1]?.toLowerCase();
    return queue !== undefined && (kind === 'work' ? !events.includes(queue) : queue === kind) ? [url] : [];
  });
  return queuesOf(urls).map(({ arn }) => `sqs:SendMessage ${arn}`);
}

function queuesOf(urls: string[]): LocalStack['queues'] {
  return stack.queues.filter(({ url }) => urls.includes(url));
}

/** Sensitive permissions and the functions that may have them, with reasons. */
const sensitive: [what: string, atom: RegExp, holders: string[] | RegExp][] = [
  [
    'only the operator and two endpoints write API keys, so that no breach of another function creates one',
    /dynamodb:(?:Put|Update|Delete|BatchWrite)Item .* keys?#\*$/,
    ['HttpKeyCreate', 'HttpKeyDelete'],
  ],
  [
    'only functions that authenticate callers, or send them events, read API keys',
    / key#\*$/,
    /^Http|^SocketsSocket$|^EventsRelay$/,
  ],
  [
    'members and roles are changed by their endpoints only',
    /dynamodb:(?:Put|Update|Delete|BatchWrite)Item .* (?:account|membership|invite)#\*$/,
    ['HttpTeamCreate', 'HttpMemberInvite', 'HttpMemberChange', 'HttpMemberRemove', 'HttpSignInCallback'],
  ],
  ['entries of the audit log never change', /dynamodb:(?:Update|Delete|BatchWrite)Item .* audit#\*$/, []],
  ['and one endpoint reads it', /dynamodb:(?:Get|BatchGet|Query).* audit#\*$/, ['HttpAuditList']],
  ['sessions begin with a sign-in', /dynamodb:(?:Put|BatchWrite)Item .* signin#\*$/, ['HttpSignInCallback']],
  ['and end with a sign-out', /DeleteItem .* signin#\*$/, ['HttpSignOut']],
  ['only functions that authenticate callers read sessions', /Item .* signin#\*$/, /^Http/],
  ['only a sign-in reads people', / person#\*$/, ['HttpSignInCallback']],
  ['a sign-in is begun by one endpoint and completed by another', / attempt#\*$/, ['HttpSignIn', 'HttpSignInCallback']],
  ['tokens are made by one endpoint', /Item .* token#\*$/, ['HttpAccountToken', 'SocketsSocket']],
  ['and read where WebSockets connect', /GetItem .* token#\*$/, ['SocketsSocket']],
  ['only transfers access the stores of users', /s3:GetObject .*\/secrets\/\*$/, ['EnginetransferWorker']],
  [
    'only engines that open protected files read their passwords',
    /s3:GetObject .*\/passwords\/\*$/,
    ['EnginedocumentWorker', 'EnginearchiveWorker'],
  ],
  [
    'webhooks hold signing secrets, which only their endpoints and the functions that call or plan need',
    /(?:GetItem|Query) .* hooks#\*$/,
    /^HttpWebhook|^EventsRelay$|^EventsDeliver$/,
  ],
  [
    'a webhook decides where data goes',
    /dynamodb:(?:Put|Update|Delete|BatchWrite)Item .* hooks#\*$/,
    ['HttpCreateJob', 'HttpWebhookCreate', 'HttpWebhookDelete', 'EventsDeliver'],
  ],
  ['connections belong to the WebSocket API', / (?:conn|session|listen)#\*$/, /^Sockets|^Events(?:Relay|Progress)$/],
  ['only the sweep looks for connections to ping', /Query .* ping#\*$/, ['LifecycleSweep']],
  ['posted files are unchecked, so one function reads them', /s3:GetObject .*\/uploads\/\*$/, ['LifecycleUploaded']],
  ['and no function writes them', /s3:PutObject .*\/uploads\/\*$/, []],
  ['but those that make forms', /sts:AssumeRole .*SignersUploads\w*$/, ['HttpCreateJob', 'HttpImportUpload']],
  [
    'workers, the importer of uploads, instant conversions and images by URL read stored files',
    /s3:GetObject .*\/files\/\*$/,
    /^Engine\w+Worker$|^LifecycleUploaded$|^HttpInstant$|^HttpPicture$/,
  ],
  [
    'only the sweep lists incomplete uploads, for which AWS knows no prefix',
    /s3:ListBucketMultipartUploads /,
    ['LifecycleSweep'],
  ],
  ['and links do', /sts:AssumeRole .*SignersFiles\w*$/, ['HttpFile', 'HttpInstant', 'HttpPicture']],
  [
    'image keys hold signing keys and credentials of stores, which only image URLs need',
    /(?:GetItem|Query) .* imagekey#\*$/,
    ['HttpPicture'],
  ],
  [
    'and two endpoints write them',
    /dynamodb:(?:Put|Update|Delete|BatchWrite)Item .* imagekeys?#\*$/,
    ['HttpImageKeyCreate', 'HttpImageKeyDelete'],
  ],
  ['only workers report progress', /sqs:SendMessage .*:EventsProgressQueue\w+$/, /^Engine\w+Worker$/],
  ['only workers and the sweep handle revoked runs', /\/revoked\/\*$/, /^Engine\w+Worker$|^LifecycleSweep$/],
  [
    'only functions that delete, import or recover read whole groups',
    /dynamodb:Query .* group#\*$/,
    ['HttpDeleteJob', 'LifecycleUploaded', 'LifecycleSweep'],
  ],
  ['only lists read their counts', /(?:GetItem|Query) .* counts#\*$/, ['HttpListTasks', 'HttpListJobs']],
  [
    'and only deletions invalidate them',
    /dynamodb:(?:Put|Update|Delete|BatchWrite)Item .* counts#\*$/,
    /^HttpList|^HttpDelete(?:Task|Job)$|^Engine\w+Worker$|^LifecycleSweep$/,
  ],
  ['only the sweep queries due records', /\/index\/byDue /, ['LifecycleSweep']],
  ['only lists and snapshots query the records of an owner', /\/index\/byOwner /, /^HttpList|^SocketsSocket$/],
];

describe('roles', () => {
  const grants = stack.functions.map((fn) => [functionNameOf(fn), permissionsIn(fn)] as const);

  test.for(sensitive)('%s', ([, atom, holders]) => {
    const found = grants.filter(([, atoms]) => atoms.some((each) => atom.test(each))).map(([name]) => name);
    if (Array.isArray(holders)) expect(found.sort()).toEqual(holders.sort());
    else for (const name of found) expect(name).toMatch(holders);
  });

  // The condition on keys also holds for requests without any, so no such action may be allowed.
  test('access items by key only, and only of named kinds', () => {
    const keyed =
      /^dynamodb:(?:(?:Batch)?GetItem|Query|PutItem|UpdateItem|DeleteItem|BatchWriteItem) \S+ where dynamodb:LeadingKeys ForAllValues:StringLike [a-zA-Z]+#\*$/;
    for (const [name, atoms] of grants)
      for (const atom of atoms.filter((each) => each.startsWith('dynamodb:'))) expect(atom, name).toMatch(keyed);
  });

  test('list the bucket under named prefixes only', () => {
    for (const [name, atoms] of grants)
      for (const atom of atoms.filter((each) => each.startsWith('s3:ListBucket ')))
        expect(atom, name).toMatch(/ where s3:prefix StringLike [a-z]+\/\*$/);
  });
});

function functionNameOf({ logicalId }: LocalFunction): string {
  return logicalId.replace(/Function[0-9A-F]{8}$/, '');
}

test('/health has the URL of the WebSocket API: its own endpoint and stage in AWS, this machine here', () => {
  const apis = resourcesOf(template, 'AWS::ApiGatewayV2::Api');
  const sockets = apis.find(({ Properties }) => Properties.ProtocolType === 'WEBSOCKET');
  const health = functions.find(({ Metadata }) => Metadata?.['local-aws:entry'] === 'functions/api/service/health.ts');
  const endpoint = { 'Fn::GetAtt': [sockets?.id, 'ApiEndpoint'] };
  const url = { 'Fn::Join': ['', [endpoint, `/${stack.webSocketApis[0]?.stage}`]] };
  expect(health?.Properties.Environment).toMatchObject({ Variables: { LATHE_WEBSOCKET_URL: url } });
  expect(template.Outputs.SocketsUrl).toMatchObject({ Value: url });
  const { environment } = functionOf(stack, 'functions/api/service/health.ts');
  expect(environment.LATHE_WEBSOCKET_URL).toBe('ws://localhost:3000/live');
});

test('the template deploys what was reviewed', async () => {
  await expect(templateTable(template)).toMatchFileSnapshot('__snapshots__/template.md');
});

test.for([
  ['timeout', '"Timeout":29', '"Timeout":28'],
  ['memory size', '"MemorySize":512', '"MemorySize":513'],
  ['grant', '"dynamodb:BatchGetItem"', '"dynamodb:Scan"'],
  ['condition of a grant', '"rate#*"', '"*"'],
  ['route', '"RouteKey":"GET /health"', '"RouteKey":"PUT /health"'],
  ['retention of messages', '"MessageRetentionPeriod":345600', '"MessageRetentionPeriod":60'],
  ['retention of files', '"ExpirationInDays":2', '"ExpirationInDays":3'],
  ['limit of concurrency', '"MaximumConcurrency":22', '"MaximumConcurrency":23'],
] as const)('a changed %s changes the table', ([, from, to]) => {
  const changed = JSON.parse(JSON.stringify(template).replace(from, () => to));
  expect(templateTable(changed)).not.toBe(templateTable(template));
});

test('an update deploys engines before their workers, and the endpoints last', async () => {
  const root: { Resources: Record<string, TemplateResource> } = JSON.parse(
    await readFile(await currentTemplate(), 'utf8'),
  );
  const [endpoints] = Object.values(root.Resources).filter(({ Type }) => Type === 'AWS::CloudFormation::Stack');
  for (const catalogue of engineCatalogues) {
    const { logicalId } = functionOf(stack, nameOfWorker(catalogue));
    expect(endpoints?.DependsOn).toContain(logicalId);
    if (catalogue.resources.packaging === 'worker') continue;
    // A reference is a dependency: CloudFormation updates the referenced resource first.
    const { Variables } = Object(template.Resources[logicalId]?.Properties.Environment);
    expect(referredTo(Variables[functionVariable(catalogue.engine)])).toMatch(
      new RegExp(`^Engine${catalogue.engine}EngineFunction`),
    );
  }
});
