import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { SQSClient } from '@aws-sdk/client-sqs';
import { createHttpApi } from './api-gateway/http/http-api.ts';
import {
  createWebSocketApi,
  refuseUpgrade,
  type WebSocketApi,
  type WebSocketLimits,
} from './api-gateway/websocket/websocket-api.ts';
import { JobScheduler } from './batch/job-scheduler.ts';
import { type Build, createDistribution } from './cloudfront/distribution.ts';
import type { AlarmState } from './cloudwatch/evaluate.ts';
import { openLogs } from './cloudwatch/logs.ts';
import { startMonitoring } from './cloudwatch/monitoring.ts';
import { createSignInProvider, type ProviderUser, providerPath } from './cognito/provider.ts';
import type { CapacityMeter } from './dynamodb/capacity/meter.ts';
import { type EventBuses, startEventBuses } from './eventbridge/event-bus.ts';
import { startSchedule } from './eventbridge/schedule.ts';
import type { Faults } from './faults/faults.ts';
import { Front, type Upgrade } from './front.ts';
import { createGate } from './gate/gate.ts';
import { type ServerAddresses, startServers } from './gate/servers.ts';
import { type Credentials, makeCredentials, makeSessionCredentials, readSession } from './iam/credentials.ts';
import { environmentFaults } from './lambda/faults.ts';
import { throttledRuntime } from './lambda/invoke-throttles.ts';
import type { RuntimeOptions } from './lambda/options.ts';
import { createLambdaRuntime, type LocalRuntime } from './lambda/runtime.ts';
import { type Slots, slotsOf, startQueueSource } from './sqs/queue-source.ts';
import { Switch } from './switch.ts';
import type { LocalFunction, LocalRole, LocalStack, PolicyStatement, QueueSource } from './template/model.ts';
import { readTemplate } from './template/read.ts';

export interface LocalAwsOptions {
  /** Path of the synthesized template, in its cloud assembly. */
  template: string;
  /** The folder that paths in the template's metadata are relative to; defaults to the working directory. */
  root?: string;
  dataDirectory: string;
  /** 0 selects any free port. */
  port: number;
  /** Address to listen on, such as 0.0.0.0 in a container; defaults to the loopback addresses. */
  host?: string | undefined;
  /** Root URL for clients if they reach the stack by a proxy, which keeps the Host header; defaults to localhost. */
  url?: string | undefined;
  /** Values of the template's parameters; the rest have their defaults. */
  parameters?: Record<string, string>;
  /** Role credentials are derived from it, so that their signatures stay valid after a restart. */
  secret: string;
  report(line: string): void;
  /** Changes the stack before it runs; tests use it to remove permissions. */
  alter?(stack: LocalStack): void;
  /** Returns the permissions of the calling program, which has the role Operator. */
  operatorMay?(stack: LocalStack): PolicyStatement[];
  /** Called once the services respond, before queues and schedules invoke anything. */
  prepare?(running: PreparedAws): Promise<void>;
  /** Finds the code of zip functions that do not run from their assets, such as bundles made on demand. */
  codeOf?: NonNullable<RuntimeOptions['codeOf']>;
  /** Starts functions in their images, instead of their modules on this machine. */
  startImage?: RuntimeOptions['startImage'];
  /** Returns local overrides of a function's variables. */
  variablesOf?(fn: LocalFunction, cores: number): Record<string, string>;
  /** Additional variables of jobs of AWS Batch. */
  jobVariables?: Record<string, string>;
  /** Whether a client waits for a function, which then has priority; defaults to functions of APIs. */
  isAwaited?(fn: LocalFunction): boolean;
  /** Returns the maximum concurrent messages of a queue; defaults to what Lambda or the processors allow. */
  slotsOf?(source: QueueSource, cores: number): Slots | undefined;
  /** Which queues are consumed; defaults to all. */
  isConsumed?(source: QueueSource): boolean;
  /** Finds the files of the bucket behind a distribution. */
  build?(): Promise<Build>;
  /** The user of the embedded issuer that replaces a user pool. */
  user?: ProviderUser;
  /** Additional paths of the WebSocket API's stage, like the mappings of a custom domain. */
  socketPaths?: string[];
  /** Selects queues that deliver every message twice; tests use it to prove idempotency. */
  deliverTwice?(source: QueueSource): boolean;
  /** Serves WebSockets on a separate port (0 selects any free one), at the stage's path only, as in AWS. */
  socketsPort?: number;
  /** Limits for WebSockets other than API Gateway's, for tests that cannot wait for two hours. */
  socketLimits?: Partial<WebSocketLimits>;
  /** How many times faster time passes for alarms, for tests that cannot wait for their periods. */
  alarmSpeed?: number;
  /** Seconds between the runs of each schedule, for tests that cannot wait for a minute. */
  scheduleSeconds?: number;
  /** Counts the capacity units per partition key of tables and indexes; only of the embedded DynamoDB. */
  capacityMeter?: CapacityMeter;
  /** Faults of the simulated AWS; defaults to none. */
  faults?: Faults | undefined;
  /** When messages whose receivers died with the stack become visible again, in milliseconds; defaults to 5,000. */
  orphansAfterMs?: number;
  /** Servers to use instead of the embedded ones. */
  servers?: ServerAddresses;
  /** Maximum idle environments over all zip functions; each is a process. */
  maxIdle?: number;
  /** The account's quota of concurrent executions; defaults to none. */
  concurrencyQuota?: number;
  /** A folder for recording the gate's decisions. */
  recordFolder?: string | undefined;
}

/** Settings of an SDK client. */
export interface ClientSettings {
  region: string;
  endpoint: string;
  credentials: { accessKeyId: string; secretAccessKey: string; sessionToken: string };
}

/** A stack whose services respond. */
export interface PreparedAws {
  /** Root of the HTTP API, or of the distribution in front of it. */
  url: string;
  stack: LocalStack;
  /** Returns client settings for the operator. */
  clientFor(service: string): ClientSettings;
}

export interface RunningAws extends PreparedAws {
  sockets: WebSocketApi | undefined;
  buses: EventBuses;
  /** Returns the state of each alarm by name. */
  alarms(): Record<string, AlarmState>;
  /** Switches for event source mappings and schedules, by logical id. */
  switches: Map<string, Switch>;
  /** Ends the environments of a function immediately, as AWS may. */
  killFunction(fn: LocalFunction): void;
  stop(): Promise<void>;
}

/**
 * Runs a synthesized template on this machine: its routes, functions, roles, queues, tables, buckets and schedules, all
 * on one port.
 */
export async function startLocalAws(options: LocalAwsOptions): Promise<RunningAws> {
  const front = new Front();
  const socketsFront = options.socketsPort === undefined ? undefined : new Front();
  try {
    return await start(options, front, socketsFront);
  } catch (error) {
    await Promise.all([front.close(), socketsFront?.close()]);
    throw error;
  }
}

async function start(options: LocalAwsOptions, front: Front, socketsFront: Front | undefined): Promise<RunningAws> {
  const { faults, report } = options;
  const port = await front.listen(options.port, options.host);
  const url = options.url ?? `http://localhost:${port}`;
  const socketsPort = await socketsFront?.listen(options.socketsPort ?? 0, options.host);
  const gateOrigin = `http://127.0.0.1:${port}`;
  const stack = readTemplate({
    template: options.template,
    root: options.root,
    origins: {
      api: url,
      gate: gateOrigin,
      ...(options.url === undefined ? {} : { files: url }),
      ...(socketsPort === undefined ? {} : { sockets: `ws://localhost:${socketsPort}` }),
    },
    parameters: options.parameters ?? {},
  });
  options.alter?.(stack);
  const cores = availableParallelism();
  const slots = new Map(
    stack.queueSources.map((source) => [source, options.slotsOf?.(source, cores) ?? slotsOf(source, cores)]),
  );
  for (const [{ queue }, { perGroup }] of slots) if (perGroup !== undefined) queue.maxOfGroup = perGroup;

  const operator: LocalRole = {
    logicalId: 'Operator',
    arn: `arn:aws:iam::${stack.account}:role/Operator`,
    statements: options.operatorMay?.(stack) ?? [],
  };
  const credentials = new Map<LocalRole, Credentials>(
    [operator, ...stack.functions.map((fn) => fn.role)].map((role) => [role, makeCredentials(options.secret, role)]),
  );
  const credentialsOf = (role: LocalRole): Credentials => {
    const found = credentials.get(role);
    if (!found) throw new Error(`The role ${role.logicalId} has no credentials.`);
    return found;
  };
  const credentialsFor = ({ role }: LocalFunction, expiresAt: number | undefined): Credentials =>
    expiresAt === undefined ? credentialsOf(role) : makeSessionCredentials(options.secret, role, expiresAt);
  const clientFor = (role: LocalRole, service: string): ClientSettings => ({
    region: stack.region,
    endpoint: `${gateOrigin}/_aws/${service}`,
    credentials: credentialsOf(role),
  });

  const servers = await startServers({
    stack,
    dataDirectory: options.dataDirectory,
    origin: gateOrigin,
    addresses: options.servers ?? {},
    meter: options.capacityMeter,
    faults,
    orphansAfterMs: options.orphansAfterMs ?? 5_000,
    onError: (error) => report(`embedded servers: ${String(error)}`),
  });
  const buses = startEventBuses(stack.eventBuses);
  const jobs =
    stack.jobQueues.length > 0
      ? new JobScheduler({
          stack,
          cores,
          variables: options.jobVariables ?? {},
          log: (job, stream, line) => logs.write({ name: job }, stream, line),
        })
      : undefined;
  let sockets: WebSocketApi | undefined;
  let functions: LocalRuntime | undefined;
  const gate = createGate({
    stack,
    credentials: [...credentials.values()],
    findSession: (token) => readSession(options.secret, [...credentials.keys(), ...stack.assumableRoles], token),
    assumeRole: (role, expiresAt) => makeSessionCredentials(options.secret, role, expiresAt),
    faults,
    servers,
    putEvents: buses.put,
    sockets: () => sockets,
    functions: () => functions,
    jobs,
    recordFolder: options.recordFolder,
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
    ...(options.maxIdle === undefined ? {} : { maxIdle: options.maxIdle }),
    accountConcurrency: unreserved(stack, options.concurrencyQuota),
    log: logs.write,
    onInvoked: monitoring.countInvocation,
    startImage: options.startImage,
    ...(options.codeOf ? { codeOf: options.codeOf } : {}),
    isAwaited: options.isAwaited ?? isOfApi(stack),
    // The entry point of an image drops the credentials from Lambda.
    environmentOf: (fn, expiresAt) => ({
      ...fn.environment,
      ...options.variablesOf?.(fn, cores),
      ...(fn.packaging === 'image' ? {} : awsEnvironment(gateOrigin, stack, credentialsFor(fn, expiresAt))),
    }),
    faults: faults && environmentFaults(stack, faults),
    disconnect: gate.disconnect,
  });
  const throttles = faults?.random('invoke-throttles');
  const throttled = throttles ? throttledRuntime(runtime, throttles) : runtime;
  functions = throttled;
  const [api] = stack.httpApis;
  const http =
    api && createHttpApi(api, runtime, stack, { onResponse: (status) => monitoring.countResponse(api, status) });
  const [webSocketApi] = stack.webSocketApis;
  const realTime =
    webSocketApi &&
    createWebSocketApi(webSocketApi, runtime, stack, {
      report,
      ...(options.socketLimits ? { limits: options.socketLimits } : {}),
    });
  sockets = realTime;
  const upgradeAt =
    (paths: string[], otherwise: number): Upgrade =>
    (req, socket, head) => {
      const [path = ''] = (req.url ?? '').split('?');
      // With or without a trailing slash, which Socket.IO clients add. API Gateway accepts both: its developer guide
      // connects to `wss://….amazonaws.com/test/` ("Use wscat to connect to a WebSocket API"), its console shows no
      // slash.
      if (realTime && paths.includes(path.replace(/\/$/, ''))) realTime.upgrade(req, socket, head);
      else refuseUpgrade(socket, otherwise);
    };
  const stagePath = `/${webSocketApi?.stage}`;
  const [userPool] = stack.userPools;
  const provider = userPool && options.user && createSignInProvider(userPool, options.user, report);
  const [distribution] = stack.distributions;
  const { build } = options;
  const service =
    distribution && http && build ? createDistribution(distribution, { url, api: http, build, report }) : http;
  front.serve(
    async (req, res) => {
      if (req.url?.startsWith('/_aws/')) return gate.handle(req, res);
      if (provider && req.url?.startsWith(`${providerPath}/`)) return provider.handle(req, res);
      if (service) return service.handle(req, res);
      res.writeHead(404).end();
    },
    upgradeAt(socketsFront ? [] : [...(options.socketPaths ?? []), stagePath], 404),
  );
  socketsFront?.serve(async (_req, res) => void res.writeHead(403).end(), upgradeAt([stagePath], 403));

  const prepared: PreparedAws = { url, stack, clientFor: (name) => clientFor(operator, name) };
  await options.prepare?.(prepared);

  const sources = [...slots]
    .filter(([source]) => options.isConsumed?.(source) ?? true)
    .map(([source, { concurrency }]) => {
      const start = () =>
        startQueueSource(source, {
          runtime: throttled,
          concurrency,
          sqs: new SQSClient(clientFor(source.function.role, 'sqs')),
          twice: options.deliverTwice?.(source) ?? false,
          log: report,
        });
      return [source.logicalId, new Switch(start)] as const;
    });
  const schedules = stack.schedules.map((schedule) => {
    // EventBridge's minimum rate is a minute; this may be shorter.
    const everySeconds = options.scheduleSeconds ? { everySeconds: options.scheduleSeconds } : {};
    const start = () => startSchedule(schedule, { runtime, log: report, ...everySeconds });
    return [schedule.logicalId, new Switch(start)] as const;
  });

  return {
    ...prepared,
    sockets: realTime,
    buses,
    alarms: monitoring.states,
    switches: new Map([...sources, ...schedules]),
    killFunction: (fn) => runtime.kill(fn),
    async stop() {
      monitoring.stop();
      await Promise.all([...schedules, ...sources].map(([, each]) => each.stop()));
      await realTime?.close();
      await Promise.all([runtime.stop(), jobs?.stop()]);
      await Promise.all([front.close(), socketsFront?.close()]);
      await servers.close();
      await logs.close();
    },
  };
}

function isOfApi({ httpApis, webSocketApis }: LocalStack): (fn: LocalFunction) => boolean {
  const routes = [...httpApis, ...webSocketApis].flatMap((api) => api.routes);
  const functions = new Set(routes.map((route) => route.function));
  return (fn) => functions.has(fn);
}

/** Returns the unreserved concurrency of an account with that quota. */
function unreserved({ functions }: LocalStack, quota: number | undefined): number | undefined {
  if (quota === undefined) return undefined;
  return functions.reduce((left, { reservedConcurrency = 0 }) => left - reservedConcurrency, quota);
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
    AWS_ENDPOINT_URL_BATCH: `${origin}/_aws/batch`,
    AWS_ENDPOINT_URL_LAMBDA: `${origin}/_aws/lambda`,
    ...(sockets
      ? { AWS_ENDPOINT_URL_APIGATEWAYMANAGEMENTAPI: `${origin}/_aws/apigatewaymanagementapi/${sockets.stage}` }
      : {}),
  };
}
