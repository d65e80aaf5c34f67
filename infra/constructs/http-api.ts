import { Duration } from 'aws-cdk-lib';
import { CorsHttpMethod, HttpApi, HttpMethod, HttpRoute, HttpRouteKey } from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { Construct } from 'constructs';
import type { Route } from '../../functions/api/http/route.ts';
import { routes } from '../../functions/api/routes.ts';
import { engineCatalogues } from '../../functions/engines/runtime/catalogues.ts';
import type { EngineCatalogue } from '../../shared/catalogue/catalogue.ts';
import type { OperationName } from '../../shared/operations/operations.ts';
import type { Permission } from '../../shared/permissions.ts';
import { type Resources, statementsFor, variablesFor } from '../permissions.ts';
import { ZipFunction } from './function.ts';

/** API Gateway ends a request after 30 seconds; a function that stops just before can still respond. */
const timeout = Duration.seconds(29);
const memoryMegabytes = 1024;

/** The HTTP API: a route and a function for each row of the route table, and one function for everything else. */
export class LatheApi extends Construct {
  readonly api: HttpApi;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.api = new HttpApi(this, 'Api', {
      description: 'Lathe',
      corsPreflight: {
        allowOrigins: ['*'],
        allowMethods: [CorsHttpMethod.GET, CorsHttpMethod.POST, CorsHttpMethod.DELETE],
        allowHeaders: ['authorization', 'content-type', 'accept', 'idempotency-key'],
        exposeHeaders: ['location', 'retry-after', 'ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'],
        maxAge: Duration.hours(1),
      },
    });
  }

  /** Adds the functions; they come after the API because their environment holds its URL. */
  addRoutes(resources: Resources, environment: Record<string, string>): void {
    for (const [name, route] of Object.entries<Route>(routes)) {
      const permissions: Permission[] =
        route.access === 'key' ? ['apiKey:get', 'rate:update', ...route.permissions] : [...route.permissions];
      const reached = { ...resources, queues: queuesFor(route, resources.queues) };
      const { function: target } = new ZipFunction(this, pascalCase(name), {
        entry: `functions/api/${route.module}.ts`,
        description: `${route.method} ${route.path}: ${route.summary}`,
        timeout,
        memoryMegabytes,
        environment: {
          ...environment,
          ...variablesFor(permissions, reached),
          ...(route.operation === undefined ? {} : { LATHE_OPERATION: route.operation }),
        },
        statements: statementsFor(permissions, reached),
      });
      const integration = new HttpLambdaIntegration(`${pascalCase(name)}Integration`, target);
      for (const method of route.alsoHead ? ([route.method, 'HEAD'] as const) : [route.method]) {
        new HttpRoute(this, `${pascalCase(name)}${method === 'HEAD' ? 'Head' : ''}Route`, {
          httpApi: this.api,
          routeKey: HttpRouteKey.with(route.path, HttpMethod[method]),
          integration,
        });
      }
    }
    const { function: fallback } = new ZipFunction(this, 'Fallback', {
      entry: 'functions/api/service/fallback.ts',
      description: 'Responds to requests that no route matches',
      timeout,
      memoryMegabytes: 256,
      environment: {},
      statements: [],
    });
    new HttpRoute(this, 'FallbackRoute', {
      httpApi: this.api,
      routeKey: HttpRouteKey.DEFAULT,
      integration: new HttpLambdaIntegration('FallbackIntegration', fallback),
    });
  }
}

/** Leaves out the queues of engines that never perform the operation of a row. */
function queuesFor({ operation }: Route, queues: Resources['queues']): Resources['queues'] {
  if (operation === undefined) return queues;
  const idle = engineCatalogues.filter((catalogue) => !performs(catalogue, operation)).map(({ engine }) => engine);
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
