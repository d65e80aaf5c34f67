import { Duration, Stack } from 'aws-cdk-lib';
import { CfnStage, WebSocketApi, WebSocketStage } from 'aws-cdk-lib/aws-apigatewayv2';
import { WebSocketLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { Construct } from 'constructs';
import type { Permission } from '../../shared/permissions.ts';
import { readDeployment } from '../deployment.ts';
import { type Resources, statementsFor, variablesFor } from '../permissions.ts';
import { CustomHost } from './custom-domain.ts';
import { ZipFunction } from './function.ts';
import { throttling } from './http-api.ts';

const timeout = Duration.seconds(29);
/** Part of the address, since WebSocket APIs have no stage without a name; a domain of one's own maps any path to it. */
const stageName = 'live';

/** The WebSocket API, with a function each for connects, messages and disconnects. The relay posts to its connections. */
export class RealTimeApi extends Construct {
  readonly api: WebSocketApi;
  readonly stage: WebSocketStage;
  /** Scheme and host, as clients see them. */
  readonly origin: string;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.api = new WebSocketApi(this, 'Api', { description: 'Lathe, in real time' });
    this.stage = new WebSocketStage(this, 'Stage', { webSocketApi: this.api, stageName, autoDeploy: true });
    const resource = this.stage.node.defaultChild;
    if (!(resource instanceof CfnStage)) throw new Error('The stage has no resource of its own.');
    resource.defaultRouteSettings = throttling(this);
    const { socketsDomain } = readDeployment(this);
    // The path of the stage leads to it on every host, so that clients need to know no more than the host.
    if (socketsDomain)
      new CustomHost(this, 'Host', { ...socketsDomain, api: this.api, stage: this.stage, path: stageName });
    this.origin = socketsDomain ? `wss://${socketsDomain.host}` : this.api.apiEndpoint;
  }

  /** Returns the management endpoint, the ARNs that allow calling it, and the URL that clients connect to. */
  get management(): NonNullable<Resources['sockets']> {
    const { region, account, partition } = Stack.of(this);
    const connections = `arn:${partition}:execute-api:${region}:${account}:${this.api.apiId}/${stageName}`;
    return {
      url: this.stage.callbackUrl,
      arns: {
        post: `${connections}/POST/@connections/*`,
        disconnect: `${connections}/DELETE/@connections/*`,
      },
      clientUrl: `${this.origin}/${stageName}`,
    };
  }

  /** Adds the functions; they come after the API because they post to its connections. */
  addRoutes(resources: Resources, environment: Record<string, string>): void {
    const subscribed = ['accountSubscribers:get', 'accountSubscribers:update'] as const;
    const authenticate = ['apiKey:get', 'token:get', 'account:get'] as const;
    const connect = [...authenticate, 'connection:put', 'keyConnection:put', 'events:send', ...subscribed] as const;
    const message = [
      ...connect,
      'connection:get',
      'connection:update',
      'session:get',
      'session:update',
      'subscriber:put',
      'subscriber:delete',
      'group:get',
      'group:batchGet',
      'ownedTask:query',
      'ownedJob:query',
      'sockets:post',
      'sockets:disconnect',
    ] as const;
    const disconnect = ['connection:get', 'connection:delete', 'keyConnection:delete', 'subscriber:delete'] as const;
    this.#add('$connect', 'Connect', 'Authenticates and registers WebSocket clients', connect, resources, environment);
    this.#add('$default', 'Message', 'Handles messages of WebSocket clients', message, resources, environment);
    this.#add(
      '$disconnect',
      'Disconnect',
      'Removes disconnected WebSocket clients',
      disconnect,
      resources,
      environment,
    );
  }

  #add(
    route: string,
    id: string,
    description: string,
    permissions: readonly Permission[],
    resources: Resources,
    environment: Record<string, string>,
  ): void {
    const { function: target } = new ZipFunction(this, id, {
      entry: `functions/events/websocket/${id.toLowerCase()}.ts`,
      description,
      timeout,
      memoryMegabytes: 512,
      environment: { ...environment, ...variablesFor(permissions, resources) },
      statements: statementsFor(permissions, resources),
    });
    this.api.addRoute(route, { integration: new WebSocketLambdaIntegration(`${id}Integration`, target) });
  }
}
