import { Duration } from 'aws-cdk-lib';
import { CfnStage, CorsHttpMethod, HttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import { Construct } from 'constructs';
import { readDeployment } from '../deployment.ts';
import { expiringLogs } from './function.ts';

const accessLogFormat = JSON.stringify({
  time: '$context.requestTime',
  requestId: '$context.requestId',
  ip: '$context.identity.sourceIp',
  route: '$context.routeKey',
  status: '$context.status',
  bytes: '$context.responseLength',
  latency: '$context.responseLatency',
  error: '$context.error.message',
  integrationError: '$context.integrationErrorMessage',
});

/** Returns the throttling of a stage, which limits the load of all clients together, and so the cost. */
export function throttling(scope: Construct): CfnStage.RouteSettingsProperty {
  const { rate, burst } = readDeployment(scope).throttle;
  return { throttlingRateLimit: rate, throttlingBurstLimit: burst };
}

/** The HTTP API. Its routes are in the nested stack of the endpoints. */
export class LatheApi extends Construct {
  readonly api: HttpApi;
  /** Root URL at API Gateway's own host. */
  readonly url: string;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.api = new HttpApi(this, 'Api', {
      description: 'Lathe',
      corsPreflight: {
        allowOrigins: ['*'],
        allowMethods: [CorsHttpMethod.GET, CorsHttpMethod.POST, CorsHttpMethod.DELETE],
        allowHeaders: ['authorization', 'content-type', 'accept', 'idempotency-key', 'prefer'],
        exposeHeaders: [
          ...['location', 'retry-after', 'ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'],
          ...['content-disposition', 'preference-applied'],
          ...['lathe-conversion-seconds', 'lathe-warnings', 'lathe-archive'],
        ],
        maxAge: Duration.hours(1),
      },
    });
    const stage = this.api.defaultStage?.node.defaultChild;
    if (!(stage instanceof CfnStage)) throw new Error('The API has no stage of its own.');
    stage.defaultRouteSettings = throttling(this);
    // Requests that API Gateway refuses reach no function, so they appear only in this log.
    stage.accessLogSettings = { destinationArn: expiringLogs(this, 'AccessLogs').logGroupArn, format: accessLogFormat };
    this.url = this.api.apiEndpoint;
  }
}
