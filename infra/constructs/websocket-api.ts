import { CfnOutput, Duration, Stack } from 'aws-cdk-lib';
import { ApiMapping, CfnStage, DomainName, WebSocketApi, WebSocketStage } from 'aws-cdk-lib/aws-apigatewayv2';
import { WebSocketLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import { Construct } from 'constructs';
import type { Permission } from '../../shared/permissions.ts';
import { type CustomDomain, readDeployment } from '../deployment.ts';
import { type Resources, statementsFor, variablesFor } from '../permissions.ts';
import { ZipFunction } from './function.ts';
import { throttling } from './http-api.ts';

const timeout = Duration.seconds(29);
/** Part of the URL, since WebSocket APIs have no default stage. A custom domain maps any path to it. */
const stageName = 'live';

const permissions = [
  'apiKey:get',
  'token:get',
  'account:get',
  'accountSubscribers:get',
  'accountSubscribers:update',
  'connection:get',
  'connection:put',
  'connection:update',
  'connection:delete',
  'keyConnection:put',
  'keyConnection:delete',
  'pinged:put',
  'pinged:delete',
  'session:get',
  'session:update',
  'subscriber:put',
  'subscriber:delete',
  'group:get',
  'group:batchGet',
  'ownedTask:query',
  'ownedJob:query',
  'events:send',
  'sockets:post',
  'sockets:disconnect',
] as const satisfies Permission[];

/**
 * The WebSocket API, with one function for connects, messages and disconnects. The relay also posts to its connections.
 */
export class RealTimeApi extends Construct {
  readonly api: WebSocketApi;
  readonly stage: WebSocketStage;
  /** Scheme and host, as clients see them. */
  readonly origin: string;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.api = new WebSocketApi(this, 'Api', { description: 'Lathe WebSocket API' });
    this.stage = new WebSocketStage(this, 'Stage', { webSocketApi: this.api, stageName, autoDeploy: true });
    const resource = this.stage.node.defaultChild;
    if (!(resource instanceof CfnStage)) throw new Error('The stage has no resource of its own.');
    resource.defaultRouteSettings = throttling(this);
    const { socketsDomain } = readDeployment(this);
    if (socketsDomain) this.#addHost(socketsDomain);
    this.origin = socketsDomain ? `wss://${socketsDomain.host}` : this.api.apiEndpoint;
  }

  /** Adds a custom domain. The operator creates the DNS record that points at the output: the zone may be anywhere. */
  #addHost({ host, certificateArn }: CustomDomain): void {
    const scope = new Construct(this, 'Host');
    const domainName = new DomainName(scope, 'Name', {
      domainName: host,
      certificate: Certificate.fromCertificateArn(scope, 'Certificate', certificateArn),
    });
    // The stage's path works on every host, so that clients need to know only the host.
    new ApiMapping(scope, 'Mapping', { api: this.api, stage: this.stage, domainName, apiMappingKey: stageName });
    new CfnOutput(scope, 'Target', { value: domainName.regionalDomainName, description: `CNAME of ${host}` });
  }

  /** Returns the management endpoint, the ARNs for calling it, and the URL of clients. */
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

  /** Adds the function. It comes after the API because it posts to its connections. */
  addRoutes(resources: Resources, environment: Record<string, string>): void {
    const { function: target } = new ZipFunction(this, 'Socket', {
      entry: 'functions/events/websocket/socket.ts',
      description: 'Registers, serves and removes WebSocket clients',
      timeout,
      // Clients wait for the response to their first message. More memory means more of a core.
      memoryMegabytes: 1024,
      environment: { ...environment, ...variablesFor(permissions, resources) },
      statements: statementsFor(permissions, resources),
    });
    const integration = new WebSocketLambdaIntegration('SocketIntegration', target);
    for (const route of ['$connect', '$default', '$disconnect']) this.api.addRoute(route, { integration });
  }
}
