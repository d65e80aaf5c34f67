import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openAfterMs } from '../../functions/events/relay/broadcast.ts';
import { partitions } from '../../shared/aws/table-schema.ts';
import { coresOf } from '../../shared/catalogue/sizes.ts';
import { bundle, writeBundle } from '../support/bundle.ts';
import { type Json, readSynthesized, resourcesOf } from '../support/template.ts';
import { firstEvents, relayEntry, socketEntry } from './first-event.ts';
import { median } from './table.ts';

/** A start of a function's process: until its first response, or its second for WebSockets. */
interface Start {
  wall: number;
  /** Processor time of all threads; NaN if unknown. */
  cpu: number;
}

export interface ColdStart extends Start {
  entry: string;
  /** Size of the code loaded with the handler. */
  bytes: number;
  memoryMegabytes: number;
  /** Multiple of an empty handler's start, by the larger of processor time and wall time, and its limit. */
  ratio: number;
  maxRatio: number;
  /** Processor time with the compile cache of the local stack, which Lambda does not have. */
  cachedCpu: number;
}

interface Candidate {
  entry: string;
  variables: Record<string, string>;
  recordsOnly: boolean;
  folder: string;
  bytes: number;
  memoryMegabytes: number;
}

const client = 'packages/runtime-client/src/main.ts';
const emptyHandler = 'export const handler = async () => ({ statusCode: 200 });\n';
const signIn = /^functions\/api\/sign-in\//;
const engine = /^functions\/engines\/(?!runtime\/)/;
const maxRatios = { recordsOnly: 3, other: 4.5 };

/**
 * Measures every zip function from its own bundle, driven by the Runtime API as in Lambda, until its first response: to
 * a request with a valid key, with a stub for the table, or to an empty batch. The SDK loads `node:https` in any case;
 * a TLS handshake is not included. Functions take turns, so that other load affects all of them.
 */
export async function benchColdStarts({ rounds = 11, pick = (_: string) => true } = {}): Promise<{
  empty: Start;
  functions: ColdStart[];
}> {
  const folder = await mkdtemp(join(tmpdir(), 'lathe-cold-starts-'));
  const services = await listen(stubServices());
  try {
    const [empty, ...functions] = await prepare(folder, pick, services);
    const driver = new Driver(join(folder, 'client/index.mjs'), services);
    const [plain, cached] = [new Map<string, Start[]>(), new Map<string, Start[]>()];
    const all = empty ? [empty, ...functions] : [];
    for (const candidate of all) await driver.start(candidate, join(folder, 'cache'));
    for (let round = 0; round < rounds; round++) {
      for (const candidate of all) {
        add(plain, candidate, await driver.start(candidate));
        add(cached, candidate, await driver.start(candidate, join(folder, 'cache')));
      }
    }
    const base = medianOf(plain.get('empty'));
    return {
      empty: base,
      functions: functions.map(({ entry, bytes, memoryMegabytes, recordsOnly }) => {
        const { cpu, wall } = medianOf(plain.get(entry));
        return {
          entry,
          bytes,
          memoryMegabytes,
          cpu,
          wall,
          ratio: Number.isNaN(cpu) ? wall / base.wall : Math.max(cpu / base.cpu, wall / base.wall),
          maxRatio: recordsOnly ? maxRatios.recordsOnly : maxRatios.other,
          cachedCpu: medianOf(cached.get(entry)).cpu,
        };
      }),
    };
  } finally {
    services.close();
    await rm(folder, { recursive: true });
  }
}

function add(starts: Map<string, Start[]>, { entry }: Candidate, start: Start): void {
  starts.set(entry, [...(starts.get(entry) ?? []), start]);
}

function medianOf(starts: Start[] = []): Start {
  return { wall: median(starts.map(({ wall }) => wall)), cpu: median(starts.map(({ cpu }) => cpu)) };
}

/**
 * Returns how long a Socket.IO client waits for the response to its first message if nothing is warm: the WebSocket
 * function starts, then the relay, which waits briefly and sends the first packet. Their processor time is scaled to
 * the share of a core that each function's memory provides, which Lambda exceeds during starts.
 */
export function coldConnectMs(functions: ColdStart[]): number {
  const ofBoth = functions.filter(({ entry }) => entry === socketEntry || entry === relayEntry);
  return ofBoth.reduce(
    (sum, { cpu, wall, memoryMegabytes }) => sum + (Number.isNaN(cpu) ? wall : cpu / coresOf(memoryMegabytes, 2)),
    openAfterMs,
  );
}

async function prepare(folder: string, pick: (entry: string) => boolean, services: Server): Promise<Candidate[]> {
  const functions = resourcesOf(await readSynthesized(), 'AWS::Lambda::Function')
    .filter(
      ({ Properties, Metadata }) => Properties.PackageType !== 'Image' && Metadata?.['local-aws:entry'] !== undefined,
    )
    .map(({ Properties, Metadata }) => ({
      entry: String(Metadata?.['local-aws:entry']),
      variables: variablesOf(Properties.Environment, addressOf(services)),
      memoryMegabytes: Number(Properties.MemorySize),
    }));
  // An engine also starts its programs, and a sign-in calls the issuer, which is absent.
  const measured = ({ entry }: { entry: string }) => !engine.test(entry) && !signIn.test(entry) && pick(entry);
  const unique = [...new Map(functions.map((each) => [each.entry, each])).values()].filter(measured);
  const bundles = await bundle([client, ...unique.map(({ entry }) => entry)]);
  await writeBundle(bundles.get(client), join(folder, 'client'));
  await mkdir(join(folder, 'empty'));
  await writeFile(join(folder, 'empty/index.mjs'), emptyHandler);
  const place = async (
    { entry, variables, memoryMegabytes }: (typeof unique)[number],
    index: number,
  ): Promise<Candidate> => {
    const root = join(folder, String(index));
    await writeBundle(bundles.get(entry), root);
    const bytes = bundles.get(entry)?.bytesAtStart ?? 0;
    return { entry, folder: root, bytes, memoryMegabytes, variables, recordsOnly: isRecordsOnly(entry, variables) };
  };
  return [
    {
      entry: 'empty',
      folder: join(folder, 'empty'),
      bytes: emptyHandler.length,
      memoryMegabytes: 0,
      variables: {},
      recordsOnly: true,
    },
    ...(await Promise.all(unique.map(place))),
  ];
}

/** Returns whether a function only uses the table. */
function isRecordsOnly(entry: string, variables: Record<string, string>): boolean {
  const others = Object.keys(variables).filter((name) =>
    /^(?:LATHE_(?:BUCKET|QUEUE_.*|EVENT_BUS|ENGINE_FUNCTION)|AWS_ENDPOINT_URL_.*)$/.test(name),
  );
  // The agents' tools call the API itself.
  return others.length === 0 && !/^functions\/(?:engines|transfers|api\/mcp)\//.test(entry);
}

/**
 * Reads the variables of a function in the template; values known only after a deployment are replaced by similar ones.
 */
function variablesOf(environment: Json | undefined, services: string): Record<string, string> {
  const { Variables = {} } = (environment ?? {}) as { Variables?: Record<string, Json> };
  return Object.fromEntries(
    Object.entries(Variables).flatMap(([name, value]) => {
      if (typeof value === 'string') return [[name, value]];
      if (/(?:URL|QUEUE)/.test(name)) return [[name, `http://${services}/queue`]];
      return /(?:TABLE|BUCKET|BUS|FUNCTION|ROLE)$/.test(name) ? [[name, 'name']] : [];
    }),
  );
}

/** Simulates the Runtime API for one process after the other. */
class Driver {
  readonly #client: string;
  readonly #services: string;

  constructor(clientPath: string, services: Server) {
    this.#client = clientPath;
    this.#services = addressOf(services);
  }

  async start({ entry, folder, variables }: Candidate, compileCache?: string): Promise<Start> {
    const responded = Promise.withResolvers<Start>();
    const events = firstEvents(entry);
    let given = 0;
    let returned = 0;
    const run: { child?: ChildProcess; began: number } = { began: 0 };
    const api = await listen(
      createServer(async (request, response) => {
        if (request.method === 'GET') {
          response.writeHead(200, {
            'lambda-runtime-aws-request-id': 'request',
            'lambda-runtime-deadline-ms': Date.now() + 30_000,
            'lambda-runtime-invoked-function-arn': 'arn:aws:lambda:us-east-1:000000000000:function:bench',
          });
          response.end(JSON.stringify(events[Math.min(given++, events.length - 1)]));
          return;
        }
        const wall = performance.now() - run.began;
        const cpu = cpuMilliseconds(run.child?.pid ?? 0);
        let body = '';
        for await (const chunk of request) body += chunk;
        const succeeded = /\/response$/.test(request.url ?? '') && !/"statusCode":5|"itemIdentifier"/.test(body);
        if (succeeded && ++returned === events.length) responded.resolve({ wall, cpu });
        else if (!succeeded) responded.reject(new Error(`${entry} failed: ${body}`));
        response.writeHead(202).end();
      }),
    );
    run.began = performance.now();
    const child = spawn(process.execPath, [this.#client], {
      stdio: 'ignore',
      env: {
        ...variables,
        ...lambdaVariables(addressOf(api), this.#services, folder),
        ...(compileCache === undefined ? {} : { NODE_COMPILE_CACHE: compileCache }),
      },
    });
    run.child = child;
    child.once('exit', (code) => responded.reject(new Error(`${entry} exited with ${code} before it responded.`)));
    try {
      const start = await responded.promise;
      // The process writes its cache after the first response, and then requests another event.
      if (compileCache !== undefined) await once(api, 'request');
      return start;
    } finally {
      child.kill('SIGKILL');
      api.closeAllConnections();
      api.close();
    }
  }
}

function lambdaVariables(runtimeApi: string, services: string, folder: string): Record<string, string> {
  return {
    AWS_LAMBDA_RUNTIME_API: runtimeApi,
    AWS_LAMBDA_FUNCTION_NAME: 'bench',
    AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '1024',
    AWS_LAMBDA_LOG_GROUP_NAME: 'bench',
    AWS_LAMBDA_LOG_STREAM_NAME: 'bench',
    AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'key',
    AWS_SECRET_ACCESS_KEY: 'secret',
    AWS_SESSION_TOKEN: 'token',
    AWS_ENDPOINT_URL: `http://${services}`,
    LAMBDA_TASK_ROOT: folder,
    _HANDLER: 'index.handler',
  };
}

/** Simulates DynamoDB, S3, SQS, STS and API Gateway: it holds a user's key with its counters, and a connection. */
function stubServices(): Server {
  return createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const known = { Items: [], Count: 0, ...itemFor(body), ...attributesFor(body) };
    if (body.includes('Action=AssumeRole')) response.end(assumed);
    else response.end(request.headers['x-amz-target'] ? JSON.stringify(known) : '');
  });
}

const assumed = `<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>key</AccessKeyId><SecretAccessKey>secret</SecretAccessKey><SessionToken>token</SessionToken><Expiration>2100-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`;

function itemFor(body: string): { Item?: object } {
  if (body.includes(`"${partitions.apiKey}`)) return { Item: { user: { S: '65a000000000000000000000' } } };
  if (body.includes(`"${partitions.connection}`)) return { Item: { dialect: { S: 'socket.io' }, channels: { M: {} } } };
  return {};
}

/** Returns the attributes of a queue, or the counters of an account within a period. */
function attributesFor(body: string): { Attributes?: object } {
  if (body.includes('RedrivePolicy'))
    return { Attributes: { RedrivePolicy: JSON.stringify({ deadLetterTargetArn: 'dead-letters' }) } };
  if (body.includes(partitions.rate))
    return { Attributes: { periodEnd: { N: String(Date.now() + 60_000) }, counts: { M: {} } } };
  return {};
}

async function listen(server: Server): Promise<Server> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return server;
}

function addressOf(server: Server): string {
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Returns the processor time of all threads of a process, if Linux reports it by the nanosecond. */
function cpuMilliseconds(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/task`)
      .map((thread) => Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]) / 1e6)
      .reduce((sum, each) => sum + each, 0);
  } catch {
    return Number.NaN;
  }
}
