import { Duration, NestedStack } from 'aws-cdk-lib';
import {
  type HttpApi,
  HttpIntegrationType,
  HttpMethod,
  HttpRoute,
  HttpRouteIntegration,
  type HttpRouteIntegrationConfig,
  HttpRouteKey,
  IntegrationCredentials,
  PayloadFormatVersion,
} from 'aws-cdk-lib/aws-apigatewayv2';
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { Route } from '../../functions/api/http/route.ts';
import { engineCatalogues } from '../../functions/catalogue/catalogues.ts';
import type { EngineCatalogue } from '../../shared/catalogue/catalogue.ts';
import type { OperationName } from '../../shared/operations/operations.ts';
import { identifyCaller, identifyKey, type Permission } from '../../shared/permissions.ts';
import { type Resources, statementsFor, variablesFor } from '../permissions.ts';
import { settingsWithout, splitSettings } from '../settings.ts';
import { presetOf, waitConcurrency } from '../sizes.ts';
import { expiringLogs, ZipFunction } from './function.ts';

/** API Gateway ends a request after 30 seconds. A function that stops just before can still respond. */
const timeout = Duration.seconds(29);
const memoryMegabytes = 1024;

/** Settings that instant conversions do not read. The names of all queues and engines leave little of Lambda's 4 KB. */
const unreadByInstant = [
  'sweepSeconds',
  'uploadSeconds',
  'fileSeconds',
  'waitsPerMinute',
  'isolation',
  ...splitSettings,
] as const;

interface EndpointsProps {
  /** Rows of the route table, by name. */
  rows: [string, Route][];
  /** The log group of other endpoints, to be shared with them. */
  logGroup?: ILogGroup;
  api: HttpApi;
  resources: Resources;
  environment: Record<string, string>;
}

/**
 * Endpoints of the HTTP API: a route for each row of the route table, and a function, which some rows share. They form a
 * nested stack because a stack may have 500 resources, and most endpoints take four: function, role, integration and route.
 */
export class Endpoints extends NestedStack {
  readonly #http: Construct;
  /** One for all, so that an operator finds every request in one place. Streams and JSON lines name the function. */
  readonly logGroup: ILogGroup;
  readonly #invokers = new Map<string, Invoker>();

  constructor(scope: Construct, id: string, { rows, logGroup, api, resources, environment }: EndpointsProps) {
    super(scope, id, { description: 'Lathe: the endpoints of the HTTP API' });
    this.#http = new Construct(this, 'Http');
    this.logGroup = logGroup ?? expiringLogs(this.#http, 'Logs');
    const integrations = new Map<string, HttpRouteIntegration>();
    for (const [name, row] of rows) {
      const owner = row.sharedFunction ?? name;
      const integration =
        integrations.get(owner) ??
        this.#invokerFor(row.module).integrate(
          pascalCase(owner),
          this.#addFunction(owner, row, operationsOf(owner, rows), { resources, environment }),
        );
      integrations.set(owner, integration);
      for (const method of row.alsoHead ? ([row.method, 'HEAD'] as const) : [row.method]) {
        new HttpRoute(this.#http, `${pascalCase(name)}${method === 'HEAD' ? 'Head' : ''}Route`, {
          httpApi: api,
          routeKey: HttpRouteKey.with(row.path, HttpMethod[method]),
          integration,
        });
      }
    }
  }

  #addFunction(
    name: string,
    row: Route,
    operations: OperationName[],
    { resources, environment }: Pick<EndpointsProps, 'resources' | 'environment'>,
  ): ZipFunction {
    const identify = row.access === 'public' ? [] : row.keyOnly ? identifyKey : identifyCaller;
    const permissions: Permission[] = [...identify, ...row.permissions];
    const reached = {
      ...resources,
      queues: queuesFor(row.upload ? [] : operations, resources.queues),
      engines: new Map([...resources.engines].filter(([engine]) => row.engine === undefined || engine === row.engine)),
    };
    return new ZipFunction(this.#http, pascalCase(name), {
      entry: `functions/api/${row.module}.ts`,
      description: `${row.method} ${row.path}: ${row.summary}`,
      timeout,
      memoryMegabytes,
      environment: {
        ...settingsWithout(
          environment,
          row.upload || row.engine ? unreadByInstant : ['instantAtOnce', ...splitSettings],
        ),
        ...variablesFor(permissions, reached),
        ...(row.sharedFunction === undefined && row.operation ? { LATHE_OPERATION: row.operation } : {}),
        ...((row.bucket === 'wait' || row.mayWait) && presetOf(this).isShared ? { LATHE_HOLDS_REQUESTS: 'false' } : {}),
      },
      statements: statementsFor(permissions, reached),
      logGroup: this.logGroup,
      reservedConcurrency: row.bucket === 'wait' ? waitConcurrency(this) : undefined,
    });
  }

  /** Adds the function for requests that no route matches. */
  addFallback(api: HttpApi): void {
    const module = 'service/fallback';
    const fallback = new ZipFunction(this.#http, 'Fallback', {
      entry: `functions/api/${module}.ts`,
      description: 'Responds to requests that no route matches',
      timeout,
      memoryMegabytes: 256,
      environment: {},
      statements: [],
      logGroup: this.logGroup,
    });
    new HttpRoute(this.#http, 'FallbackRoute', {
      httpApi: api,
      routeKey: HttpRouteKey.DEFAULT,
      integration: this.#invokerFor(module).integrate('Fallback', fallback),
    });
  }

  /**
   * Returns the role for endpoints in the folder of a module. One role for all would exceed the limit of 10,240
   * characters for its policies. By folder, no endpoint changes its role when another is added; such a change would
   * make it unreachable during the deployment.
   */
  #invokerFor(module: string): Invoker {
    const [folder = ''] = module.split('/');
    const invoker = this.#invokers.get(folder) ?? new Invoker(this.#http, `Invoke${pascalCase(folder)}`, folder);
    this.#invokers.set(folder, invoker);
    return invoker;
  }
}

/** The role as which API Gateway invokes functions: one for many, instead of a permission per function and route. */
class Invoker extends Construct {
  readonly #role: Role;
  readonly #statement = new PolicyStatement({ actions: ['lambda:InvokeFunction'] });

  constructor(scope: Construct, id: string, folder: string) {
    super(scope, id);
    this.#role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('apigateway.amazonaws.com'),
      description: `Invokes the endpoints in functions/api/${folder}`,
      inlinePolicies: { Permissions: new PolicyDocument({ statements: [this.#statement] }) },
    });
  }

  integrate(name: string, { function: target }: ZipFunction): HttpRouteIntegration {
    this.#statement.addResources(target.functionArn);
    return new FunctionIntegration(`${name}Integration`, {
      type: HttpIntegrationType.AWS_PROXY,
      uri: target.functionArn,
      payloadFormatVersion: PayloadFormatVersion.VERSION_2_0,
      credentials: IntegrationCredentials.fromRole(this.#role),
    });
  }
}

class FunctionIntegration extends HttpRouteIntegration {
  readonly #config: HttpRouteIntegrationConfig;

  constructor(id: string, config: HttpRouteIntegrationConfig) {
    super(id);
    this.#config = config;
  }

  bind(): HttpRouteIntegrationConfig {
    return this.#config;
  }
}

/** Returns the operations whose tasks a function creates. */
function operationsOf(owner: string, rows: [string, Route][]): OperationName[] {
  return rows.flatMap(([name, { sharedFunction = name, operation }]) =>
    sharedFunction === owner && operation !== undefined ? operation : [],
  );
}

/** Leaves out queues of engines that never perform the operations of an endpoint, if it has any. */
function queuesFor(operations: OperationName[], queues: Resources['queues']): Resources['queues'] {
  if (operations.length === 0) return queues;
  const idle = engineCatalogues
    .filter((catalogue) => !operations.some((operation) => performs(catalogue, operation)))
    .map(({ engine }) => engine);
  return new Map([...queues].filter(([name]) => !idle.includes(name)));
}

function performs({ operations = [], capabilities }: EngineCatalogue, operation: OperationName): boolean {
  return operations.includes(operation) || capabilities.some((capability) => capability.operation === operation);
}

function pascalCase(name: string): string {
  return name
    .split('-')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}
