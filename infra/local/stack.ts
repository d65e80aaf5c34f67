import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { SQSClient } from '@aws-sdk/client-sqs';
import { engineCatalogues } from '../../functions/engines/runtime/catalogues.ts';
import { probeEngine } from '../../functions/engines/runtime/sandbox/probe.ts';
import { accountItem, itemsOfMember } from '../../shared/aws/accounts.ts';
import { describeKey, itemsOfKey } from '../../shared/aws/api-keys.ts';
import { engineStateItem } from '../../shared/aws/engine-state.ts';
import { personItem } from '../../shared/aws/people.ts';
import { partitions } from '../../shared/aws/table-schema.ts';
import { Catalogue } from '../../shared/catalogue/catalogue.ts';
import { encodeMissing, type MissingComponents } from '../../shared/catalogue/missing.ts';
import { putNew } from '../keys/stored-keys.ts';
import { parameterOf, settings } from '../settings.ts';
import type { CapacityMeter } from './aws/capacity/meter.ts';
import { type EventBuses, startEventBuses } from './aws/event-bus.ts';
import { type ServerAddresses, startServers } from './aws/servers.ts';
import { bundlesOnDemand } from './bundles.ts';
import { pageOnDemand } from './distribution/build.ts';
import { createDistribution } from './distribution/distribution.ts';
import { environmentFaults } from './faults/environments.ts';
import { type Faults, readFaults } from './faults/faults.ts';
import { type Credentials, makeCredentials, makeSessionCredentials, readSession } from './gate/credentials.ts';
import { createGate } from './gate/gate.ts';
import { createHttpApi } from './gateway/http-api.ts';
import { readIdentity } from './identity.ts';
import { throttledRuntime } from './lambda/invoke-throttles.ts';
import { MAX_IDLE_ENVIRONMENTS, type StartImage } from './lambda/options.ts';
import { createLambdaRuntime, type LocalRuntime } from './lambda/runtime.ts';
import { openLogs } from './logs.ts';
import type { AlarmState } from './monitoring/evaluate.ts';
import { startMonitoring } from './monitoring/monitoring.ts';
import { createSignInProvider, developmentUser, providerPath } from './sign-in/provider.ts';
import { localShare, maxOfAccount, startQueueSource } from './sources/queue-source.ts';
import { startSchedule } from './sources/schedule.ts';
import { Switch } from './sources/switch.ts';
import type { LocalFunction, LocalRole, LocalStack, QueueSource } from './template/model.ts';
import { readTemplate } from './template/read.ts';
import {
  createWebSocketApi,
  refuseUpgrade,
  type WebSocketApi,
  type WebSocketLimits,
} from './websocket/websocket-api.ts';

export interface LocalStackOptions {
  /** Path of the synthesized template. */
  template: string;
  dataDirectory: string;
  /** 0 takes any free port. */
  port: number;
  /** What this machine lacks of the engines. */
  missing: MissingComponents;
  /** The settings that the service's own variables name, and LATHE_API_KEY. */
  environment: Record<string, string | undefined>;
  report(line: string): void;
  /** Changes the stack before it runs; tests take permissions away with it. */
  alter?(stack: LocalStack): void;
  /** Runs engines in their images, in place of their modules on this machine. */
  startImage?: StartImage;
  /** Names the queues whose messages are all delivered twice; tests prove with it that a second delivery does no harm. */
  deliverTwice?(source: QueueSource): boolean;
  /** Serves WebSockets on a port of their own (0 takes any free one), at the stage's path alone, as in AWS. */
  socketsPort?: number;
  /** Other limits for WebSockets than API Gateway's, for tests that cannot wait for two hours. */
  socketLimits?: Partial<WebSocketLimits>;
  /** How many times faster than the clock time passes for alarms; for tests that cannot wait for their periods. */
  alarmSpeed?: number;
  /** Counts the capacity units that each partition key of the table and its indexes takes; not with LATHE_DYNAMODB_SERVER. */
  capacityMeter?: CapacityMeter;
  /** How AWS misbehaves; defaults to what LATHE_LOCAL_FAULTS says. */
  faults?: Faults;
}

export interface RunningStack {
  /** Root of the API. */
  url: string;
  apiKey: string;
  /** How AWS misbehaves, by LATHE_LOCAL_FAULTS. */
  faults: Faults | undefined;
  stack: LocalStack;
  sockets: WebSocketApi;
  buses: EventBuses;
  /** Returns the state of each alarm by its name. */
  alarms(): Record<string, AlarmState>;
  /** Switches event source mappings and schedules off and on, by their logical ids. */
  switches: Map<string, Switch>;
  /** Ends the environments of a function at once, whatever they are doing, as AWS may. */
  killFunction(fn: LocalFunction): void;
  /** Has the page built before anybody opens it. */
  preparePage(): void;
  stop(): Promise<void>;
}

/** Runs a synthesized template on this machine: its routes, functions, roles, queues, table, bucket, schedules, all on one port. */
export async function startLocalStack(options: LocalStackOptions): Promise<RunningStack> {
  const { environment, report } = options;
  const faults = options.faults ?? readFaults(environment.LATHE_LOCAL_FAULTS);
  const front = new Front();
  const port = await front.listen(options.port);
  const url = `http://localhost:${port}`;
  const socketsFront = options.socketsPort === undefined ? undefined : new Front();
  const socketsPort = (await socketsFront?.listen(options.socketsPort ?? 0)) ?? port;
  const gateOrigin = `http://127.0.0.1:${port}`;
  const stack = readTemplate({
    template: options.template,
    origins: { api: url, gate: gateOrigin, sockets: `ws://localhost:${socketsPort}` },
    parameters: { ...chosenParameters(environment), Missing: encodeMissing(options.missing) },
  });
  options.alter?.(stack);
  const cores = availableParallelism();
  for (const source of stack.queueSources) {
    const max = maxOfAccount(source, cores);
    if (max !== undefined) source.queue.maxOfGroup = max;
  }

  const identity = await readIdentity(options.dataDirectory);
  const operator = operatorRole(stack);
  const credentials = new Map<LocalRole, Credentials>(
    [operator, ...stack.functions.map((fn) => fn.role)].map((role) => [
      role,
      makeCredentials(identity.masterSecret, role),
    ]),
  );
  const credentialsOf = (role: LocalRole): Credentials => {
    const found = credentials.get(role);
    if (!found) throw new Error(`The role ${role.logicalId} has no credentials.`);
    return found;
  };
  const credentialsFor = ({ role }: LocalFunction, expiresAt: number | undefined): Credentials =>
    expiresAt === undefined ? credentialsOf(role) : makeSessionCredentials(identity.masterSecret, role, expiresAt);
  const clientFor = (role: LocalRole, service: string) => ({
    region: stack.region,
    endpoint: `${gateOrigin}/_aws/${service}`,
    credentials: credentialsOf(role),
  });

  const servers = await startServers({
    stack,
    dataDirectory: options.dataDirectory,
    origin: gateOrigin,
    addresses: serverAddresses(environment),
    meter: options.capacityMeter,
    faults,
    onError: (error) => report(`embedded servers: ${String(error)}`),
  });
  const buses = startEventBuses(stack.eventBuses);
  let sockets: WebSocketApi | undefined;
  let functions: LocalRuntime | undefined;
  const gate = createGate({
    stack,
    credentials: [...credentials.values()],
    findSession: (token) => readSession(identity.masterSecret, [...credentials.keys(), ...stack.assumableRoles], token),
    assumeRole: (role, expiresAt) => makeSessionCredentials(identity.masterSecret, role, expiresAt),
    faults,
    servers,
    putEvents: buses.put,
    sockets: () => sockets,
    functions: () => functions,
    onDenied: ({ roleArn, action, resource }) => report(`refused: ${roleArn} may not ${action} on ${resource}`),
    onError: (error) => report(`gate: ${error instanceof Error ? error.stack : String(error)}`),
  });
  const monitoring = startMonitoring({
    alarms: stack.alarms,
    queues: servers.queueFacts,
    report,
    ...(options.alarmSpeed === undefined ? {} : { speed: options.alarmSpeed }),
  });
  const logs = openLogs(join(options.dataDirectory, 'logs'), report, monitoring.readLog);
  const runtime = createLambdaRuntime({
    cores,
    // For tests that call every endpoint in turn, and need not start its function again each time.
    maxIdle: Number(environment.LATHE_IDLE_ENVIRONMENTS ?? MAX_IDLE_ENVIRONMENTS),
    accountConcurrency: unreserved(stack, environment.LATHE_LAMBDA_CONCURRENCY),
    log: logs.write,
    onInvoked: monitoring.countInvocation,
    startImage: options.startImage,
    codeOf: bundlesOnDemand(),
    // The entry point of an image gives up the credentials that Lambda hands it.
    environmentOf: (fn, expiresAt) => ({
      ...fn.environment,
      ...localShare(fn, cores),
      ...(fn.packaging === 'image' ? {} : awsEnvironment(gateOrigin, stack, credentialsFor(fn, expiresAt))),
    }),
    faults: faults && environmentFaults(stack, faults),
    disconnect: gate.disconnect,
  });
  const throttles = faults?.random('invoke-throttles');
  const throttled = throttles ? throttledRuntime(runtime, throttles) : runtime;
  functions = throttled;
  const [api] = stack.httpApis;
  if (!api) throw new Error('The template has no HTTP API.');
  const http = createHttpApi(api, runtime, stack, { onResponse: (status) => monitoring.countResponse(api, status) });
  const [webSocketApi] = stack.webSocketApis;
  if (!webSocketApi) throw new Error('The template has no WebSocket API.');
  const realTime = createWebSocketApi(webSocketApi, runtime, stack, {
    report,
    ...(options.socketLimits ? { limits: options.socketLimits } : {}),
  });
  sockets = realTime;
  const upgradeAt =
    (paths: string[], otherwise: number): Upgrade =>
    (req, socket, head) => {
      const [path = ''] = (req.url ?? '').split('?');
      // With a slash at the end, which clients of Socket.IO put there, or without. API Gateway takes both: its developer guide
      // connects to `wss://….amazonaws.com/test/` ("Use wscat to connect to a WebSocket API"), its console shows no slash.
      if (paths.includes(path.replace(/\/$/, ''))) realTime.upgrade(req, socket, head);
      else refuseUpgrade(socket, otherwise);
    };
  const stagePath = `/${webSocketApi.stage}`;
  const [userPool] = stack.userPools;
  const provider = userPool && createSignInProvider(userPool, report);
  const build = pageOnDemand(report);
  const [distribution] = stack.distributions;
  const service = distribution ? createDistribution(distribution, { url, api: http, build, report }) : http;
  front.serve(
    (req, res) => {
      if (req.url?.startsWith('/_aws/')) return gate.handle(req, res);
      return provider && req.url?.startsWith(`${providerPath}/`) ? provider.handle(req, res) : service.handle(req, res);
    },
    // What the API mappings of a domain would do: further paths lead to the one stage.
    upgradeAt(socketsFront ? [] : ['/ws', '/socket.io', stagePath], 404),
  );
  socketsFront?.serve(async (_req, res) => void res.writeHead(403).end(), upgradeAt([stagePath], 403));

  const apiKey = environment.LATHE_API_KEY || identity.apiKey;
  const [table] = stack.tables;
  if (!table) throw new Error('The template has no table.');
  const dynamodb = new DynamoDBClient(clientFor(operator, 'dynamodb'));
  const development = developmentItems(apiKey, identity.user, userPool?.issuer);
  for (const item of development) await putNew(dynamodb, table.name, item);
  await Promise.all(
    engineCatalogues
      .filter(({ resources }) => resources.packaging === 'image')
      .map(async ({ engine, resources: { network = false } }) => {
        const Item = engineStateItem(engine, await probeEngine({ network }));
        await dynamodb.send(new PutItemCommand({ TableName: table.name, Item }));
      }),
  );

  const catalogue = new Catalogue(engineCatalogues, options.missing.engines);
  const off = engineCatalogues.filter(({ engine }) => !catalogue.isUsable(engine)).map(({ engine }) => engine);
  const usable = ({ environment: { LATHE_ENGINE: engine } }: LocalFunction) => !off.includes(engine ?? '');
  const sources = stack.queueSources
    .filter((source) => usable(source.function))
    .map((source) => {
      const start = () =>
        startQueueSource(source, {
          runtime: throttled,
          cores,
          sqs: new SQSClient(clientFor(source.function.role, 'sqs')),
          twice: options.deliverTwice?.(source) ?? false,
          log: report,
        });
      return [source.logicalId, new Switch(start)] as const;
    });
  const sweepSeconds = Number(environment.LATHE_SWEEP_SECONDS ?? 0);
  const schedules = stack.schedules.map((schedule) => {
    // EventBridge's finest rate is a minute; the clock here may be finer.
    const everySeconds = sweepSeconds > 0 ? { everySeconds: sweepSeconds } : {};
    const start = () => startSchedule(schedule, { runtime, log: report, ...everySeconds });
    return [schedule.logicalId, new Switch(start)] as const;
  });

  return {
    url,
    apiKey,
    faults,
    stack,
    sockets: realTime,
    buses,
    alarms: monitoring.states,
    switches: new Map([...sources, ...schedules]),
    killFunction: (fn) => runtime.kill(fn),
    preparePage: () => distribution && void build().catch(() => undefined),
    async stop() {
      monitoring.stop();
      await Promise.all([...schedules, ...sources].map(([, each]) => each.stop()));
      await realTime.close();
      await runtime.stop();
      await Promise.all([front.close(), socketsFront?.close()]);
      await servers.close();
      await logs.close();
    },
  };
}

/**
 * How much longer than announced the server keeps an idle connection. Clients close it before that time; on a
 * machine that stalls for seconds they are late, and a request on a connection that is being closed is lost.
 */
const keepAliveTimeoutBuffer = 60_000;

type Upgrade = (req: IncomingMessage, socket: Duplex, head: Buffer) => void;

/** The one port, on the loopback addresses of both families; requests that come early wait until the stack has started. */
class Front {
  readonly #servers: Server[] = [];
  readonly #ready = Promise.withResolvers<(req: IncomingMessage, res: ServerResponse) => Promise<void>>();
  readonly #upgrade = Promise.withResolvers<Upgrade>();

  async listen(port: number): Promise<number> {
    const chosen = await this.#listenOn('127.0.0.1', port);
    try {
      await this.#listenOn('::1', chosen);
    } catch (error) {
      // A machine without IPv6 reaches localhost by IPv4.
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      if (code !== 'EADDRNOTAVAIL' && code !== 'EAFNOSUPPORT') throw error;
    }
    return chosen;
  }

  serve(handle: (req: IncomingMessage, res: ServerResponse) => Promise<void>, upgrade: Upgrade): void {
    this.#ready.resolve(handle);
    this.#upgrade.resolve(upgrade);
  }

  async close(): Promise<void> {
    await Promise.all(
      this.#servers.map((server) => {
        server.closeAllConnections();
        return new Promise((resolve) => server.close(resolve));
      }),
    );
  }

  async #listenOn(host: string, port: number): Promise<number> {
    const server = createServer(
      { maxHeaderSize: 32_768, requestTimeout: 0, keepAliveTimeoutBuffer },
      async (req, res) => {
        const handle = await this.#ready.promise;
        await handle(req, res);
      },
    );
    server.on('upgrade', async (req: IncomingMessage, socket: Duplex, head: Buffer) => {
      const upgrade = await this.#upgrade.promise;
      upgrade(req, socket, head);
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(port, host, resolve);
    });
    this.#servers.push(server);
    return (server.address() as AddressInfo).port;
  }
}

/**
 * Returns the items of the development account with its key and, where there is an issuer, its person: who signs in sees what
 * was made with the key that the greeting shows. They are written where they are missing.
 */
function developmentItems(apiKey: string, user: string, issuer: string | undefined) {
  const name = 'Development';
  const createdAt = new Date().toISOString();
  const key = describeKey(apiKey, { user, name, createdAt, createdBy: { type: 'operator' } });
  const { listed, effective } = itemsOfKey(key);
  const account = { id: user, kind: 'personal', name, createdAt } as const;
  if (issuer === undefined) return [accountItem(account), listed, effective];
  const owner = { id: user, ...developmentUser };
  return [
    ...itemsOfMember(user, owner, createdAt),
    accountItem(account, { id: user, addedAt: createdAt }),
    personItem({ issuer, ...developmentUser }, user),
    listed,
    effective,
  ];
}

function chosenParameters(environment: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(settings).flatMap(([name, { variable }]) => {
      const value = environment[variable];
      return value === undefined || value === '' ? [] : [[parameterOf(name), value]];
    }),
  );
}

/** Returns the concurrency that an account of such a quota leaves to functions that have none reserved. */
function unreserved({ functions }: LocalStack, quota: string | undefined): number | undefined {
  if (quota === undefined) return undefined;
  return functions.reduce((left, { reservedConcurrency = 0 }) => left - reservedConcurrency, Number(quota));
}

function serverAddresses({
  LATHE_DYNAMODB_SERVER: dynamodb,
  LATHE_SQS_SERVER: sqs,
  LATHE_S3_SERVER: s3,
}: Record<string, string | undefined>): ServerAddresses {
  return { dynamodb, sqs, s3 };
}

/** The person at the keyboard, who may store API keys and themselves, what the engines of this machine report, and send dead letters again. */
function operatorRole(stack: LocalStack): LocalRole {
  return {
    logicalId: 'Operator',
    arn: `arn:aws:iam::${stack.account}:role/Operator`,
    statements: [
      {
        effect: 'Allow',
        actions: ['dynamodb:PutItem'],
        resources: stack.tables.map(({ arn }) => arn),
        conditions: {
          'ForAllValues:StringLike': {
            'dynamodb:LeadingKeys': (
              ['account', 'accountKey', 'apiKey', 'engine', 'membership', 'person'] as const
            ).map(prefixOf),
          },
        },
      },
      { effect: 'Allow', actions: ['sqs:ListQueues'], resources: ['*'], conditions: {} },
      {
        effect: 'Allow',
        actions: [
          'sqs:GetQueueAttributes',
          'sqs:ReceiveMessage',
          'sqs:ChangeMessageVisibility',
          'sqs:SendMessage',
          'sqs:DeleteMessage',
        ],
        resources: stack.queues.map(({ arn }) => arn),
        conditions: {},
      },
    ],
  };
}

function prefixOf(kind: keyof typeof partitions): string {
  return `${partitions[kind]}*`;
}

function awsEnvironment(
  origin: string,
  { webSocketApis: [sockets] }: LocalStack,
  { accessKeyId, secretAccessKey, sessionToken }: Credentials,
): Record<string, string> {
  return {
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_SESSION_TOKEN: sessionToken,
    AWS_ENDPOINT_URL_DYNAMODB: `${origin}/_aws/dynamodb`,
    AWS_ENDPOINT_URL_SQS: `${origin}/_aws/sqs`,
    AWS_ENDPOINT_URL_S3: `${origin}/_aws/s3`,
    AWS_ENDPOINT_URL_STS: `${origin}/_aws/sts`,
    AWS_ENDPOINT_URL_EVENTBRIDGE: `${origin}/_aws/events`,
    AWS_ENDPOINT_URL_LAMBDA: `${origin}/_aws/lambda`,
    ...(sockets
      ? { AWS_ENDPOINT_URL_APIGATEWAYMANAGEMENTAPI: `${origin}/_aws/apigatewaymanagementapi/${sockets.stage}` }
      : {}),
  };
}
