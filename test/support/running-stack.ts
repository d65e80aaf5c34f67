import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { currentTemplate } from '../../infra/build/template-cache.ts';
import { projectRoot } from '../../infra/bundling.ts';
import { putNew } from '../../infra/keys/stored-keys.ts';
import { type LocalStackOptions, startLocalStack } from '../../infra/local/stack.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { maxCopyDelayMs } from '../../packages/local-aws/src/dynamodb/stale-reads.ts';
import { makeCredentials } from '../../packages/local-aws/src/iam/credentials.ts';
import type { LocalFunction, LocalStack } from '../../packages/local-aws/src/template/model.ts';
import { readTemplate } from '../../packages/local-aws/src/template/read.ts';
import type { Account, Person } from '../../shared/accounts/account.ts';
import { accountItem, itemsOfMember } from '../../shared/aws/stores/accounts.ts';
import { describeKey, itemsOfKey, newApiKey } from '../../shared/aws/stores/api-keys.ts';
import { newId } from '../../shared/ids.ts';
import { Client } from './client.ts';

/** The Node arguments of `npm start`, after the setup. */
const startArguments = packageJson.scripts.start.replace('node infra/setup/run.mjs --start ', '').split(' ');

const inherited = [
  ...['PATH', 'HOME', 'LANG', 'TMPDIR', 'LD_LIBRARY_PATH', 'LATHE_GATE_RECORD'],
  // Added by the setup of `npm start`.
  ...['MALLOC_ARENA_MAX', 'NODE_COMPILE_CACHE'],
  ...['LATHE_DYNAMODB_SERVER', 'LATHE_SQS_SERVER', 'LATHE_S3_SERVER'],
];

/** Tests poll more often than a client may, and call more endpoints in turn. Tests of the limits set their own. */
export const settingsOfTests: Record<string, string> = {
  LATHE_RATE_PER_MINUTE: '0',
  LATHE_CREATIONS_PER_MINUTE: '0',
  LATHE_WAITS_PER_MINUTE: '0',
  LATHE_IDLE_ENVIRONMENTS: '24',
  ...(process.env.LATHE_LOCAL_FAULTS === undefined ? {} : { LATHE_LOCAL_FAULTS: process.env.LATHE_LOCAL_FAULTS }),
};

/** Access to a stack's services for a test, with the permissions of one of its functions. */
export interface Caller {
  fn: LocalFunction;
  stack: LocalStack;
  /** Returns options for an SDK client. */
  client(service: 's3' | 'sqs' | 'dynamodb'): {
    region: string;
    endpoint: string;
    forcePathStyle: true;
    credentials: { accessKeyId: string; secretAccessKey: string; sessionToken: string };
    /** Distinguishes calls of tests from those of functions in the gate's recordings. */
    userAgentAppId: 'tests';
  };
}

/** The service as run by `npm start`, in a separate process with its own data. */
export class RunningService {
  readonly dataDirectory: string;
  readonly client: Client = new Client(this);
  readonly #settings: Record<string, string>;
  readonly #root: string;
  /** Its error output, over all starts. */
  readonly reports: string[] = [];
  #process: ChildProcess | undefined;
  #url = '';
  #apiKey = '';

  constructor(dataDirectory: string, settings: Record<string, string>, root: string) {
    this.dataDirectory = dataDirectory;
    this.#settings = settings;
    this.#root = root;
  }

  get url(): string {
    return this.#url;
  }

  get apiKey(): string {
    return this.#apiKey;
  }

  get pid(): number {
    const pid = this.#process?.pid;
    if (pid === undefined) throw new Error('The service is not running.');
    return pid;
  }

  /** Starts it, on its previous port if any, because forms and links name it. */
  async start(): Promise<void> {
    const environment = Object.fromEntries(
      inherited.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
    );
    const child = spawn(process.execPath, startArguments, {
      cwd: this.#root,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...environment,
        PORT: this.#url === '' ? '0' : new URL(this.#url).port,
        LATHE_DATA: this.dataDirectory,
        ...settingsOfTests,
        ...this.#settings,
      },
    });
    this.#process = child;
    // An interrupted test run leaves no service behind.
    const killWithParent = () => child.kill('SIGKILL');
    process.once('exit', killWithParent);
    child.once('exit', () => process.off('exit', killWithParent));
    child.stderr.setEncoding('utf8').on('data', (text: string) => this.reports.push(text));
    const ready = Promise.withResolvers<{ url: string; apiKey: string }>();
    let greeting = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      greeting += text;
      const url = /^Lathe is at +(\S+)\n/m.exec(greeting)?.[1];
      const apiKey = /^API key +(\S+)\n/m.exec(greeting)?.[1];
      if (url && apiKey) ready.resolve({ url, apiKey });
    });
    child.once('exit', (code, signal) =>
      ready.reject(new Error(`The service ended at its start (${signal ?? code}): ${this.reports.join('')}`)),
    );
    const { url, apiKey } = await ready.promise;
    this.#url = url;
    this.#apiKey = apiKey;
  }

  /** Ends it by a signal and waits for its exit. */
  async kill(signal: 'SIGKILL' | 'SIGTERM' | 'SIGINT'): Promise<{ code: number | null; signal: string | null }> {
    const child = this.#process;
    if (!child) throw new Error('The service is not running.');
    this.#process = undefined;
    if (child.exitCode !== null || child.signalCode !== null) return { code: child.exitCode, signal: child.signalCode };
    const gone = once(child, 'exit');
    child.kill(signal);
    const [code, by] = await gone;
    return { code, signal: by };
  }

  /** Stops it gracefully and restarts it on the same data and port. */
  async restart(): Promise<void> {
    await this.kill('SIGTERM');
    await this.start();
  }

  /** Stops it permanently and removes its data. */
  async stop(): Promise<void> {
    if (this.#process) await this.kill('SIGTERM');
    await rm(this.dataDirectory, { recursive: true, force: true });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /** Acts with the role of a function, through the gate like the function itself. */
  async as(named: FunctionName): Promise<Caller> {
    const { url, dataDirectory } = this;
    return actAs({ url, dataDirectory, stack: await stackOf(this) }, named);
  }
}

/** The address of a service, and its data folder. */
interface Place {
  url: string;
  dataDirectory: string;
}

/** Returns the stack of a service as described by the template. */
export async function stackOf({ url }: Pick<Place, 'url'>): Promise<LocalStack> {
  const origins = { api: url, gate: gateOf(url) };
  return readTemplate({ template: await currentTemplate(), origins, parameters: {} });
}

function gateOf(url: string): string {
  return `http://127.0.0.1:${new URL(url).port}`;
}

/** Acts on a service with the role of one of its functions, through the gate like the function itself. */
export async function actAs(
  { url, dataDirectory, stack }: Place & { stack: LocalStack },
  named: FunctionName,
): Promise<Caller> {
  const fn = functionOf(stack, named);
  const { masterSecret } = JSON.parse(await readFile(join(dataDirectory, 'identity.json'), 'utf8'));
  const credentials = makeCredentials(masterSecret, fn.role);
  return {
    fn,
    stack,
    client: (service) => ({
      region: stack.region,
      endpoint: `${gateOf(url)}/_aws/${service}`,
      forcePathStyle: true,
      credentials,
      userAgentAppId: 'tests',
    }),
  };
}

/** Starts the service in a separate process, on a free port and fresh data; `root` defaults to this checkout. */
export async function startService(
  settings: Record<string, string> = {},
  root: string = projectRoot,
): Promise<RunningService> {
  const service = new RunningService(await mkdtemp(join(tmpdir(), 'lathe-test-')), settings, root);
  try {
    await service.start();
  } catch (error) {
    await service.stop();
    throw error;
  }
  return service;
}

/** Runs the stack in this process, changed by the test before it starts. */
export async function startAlteredStack(
  alter: (stack: LocalStack) => void,
  settings: Record<string, string> = {},
  options: Partial<Pick<LocalStackOptions, 'template' | 'missing' | 'deliverTwice' | 'capacityMeter'>> = {},
) {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'lathe-test-'));
  const reports: string[] = [];
  const running = await startLocalStack({
    template: await currentTemplate(),
    dataDirectory,
    port: 0,
    missing: { engines: {} },
    environment: { ...settingsOfTests, ...settings },
    report: (line) => reports.push(line),
    alter,
    ...options,
  });
  return {
    client: new Client(running),
    stack: running.stack,
    url: running.url,
    dataDirectory,
    reports,
    async [Symbol.asyncDispose]() {
      await running.stop();
      await rm(dataDirectory, { recursive: true, force: true });
    },
  };
}

/** Adds a user, or a team with an owner, as the stack's operator, and returns their API key. */
export async function addUser(
  { url, dataDirectory, stack }: Place & { stack: LocalStack },
  user: string = newId(),
  { kind = 'personal', owner }: { kind?: Account['kind']; owner?: Person } = {},
): Promise<string> {
  const { masterSecret } = JSON.parse(await readFile(join(dataDirectory, 'identity.json'), 'utf8'));
  const client = new DynamoDBClient({
    region: stack.region,
    endpoint: `${gateOf(url)}/_aws/dynamodb`,
    credentials: makeCredentials(masterSecret, { logicalId: 'Operator', arn: '', statements: [] }),
  });
  const apiKey = newApiKey();
  const createdAt = new Date().toISOString();
  const { listed, effective } = itemsOfKey(
    describeKey(apiKey, { user, name: 'Tests', createdAt, createdBy: { type: 'operator' } }),
  );
  const account = accountItem(
    { id: user, kind, name: 'Tests', createdAt },
    owner && { id: owner.id, addedAt: createdAt },
  );
  const members = owner ? itemsOfMember(user, owner, createdAt) : [];
  for (const item of [account, ...members, listed, effective]) await putNew(client, stack.tables[0]?.name ?? '', item);
  // The service reads keys with eventual consistency, so a new one is accepted slightly later.
  if (settingsOfTests.LATHE_LOCAL_FAULTS) await new Promise((resolve) => setTimeout(resolve, maxCopyDelayMs));
  return apiKey;
}

/** A function by its module's path relative to the project, or the worker of an engine. */
export type FunctionName = string | { worker: string };

/** Finds a function of a stack. */
export function functionOf(stack: Pick<LocalStack, 'functions'>, named: FunctionName): LocalFunction {
  const found = stack.functions.find((fn) =>
    typeof named === 'string' ? fn.entry === join(projectRoot, named) : fn.environment.LATHE_ENGINE === named.worker,
  );
  if (!found) throw new Error(`The stack has no function ${JSON.stringify(named)}.`);
  return found;
}
