import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import type { JobView } from '../support/client.ts';
import { skipBecause } from '../support/skip.ts';
import { until } from '../support/until.ts';
import { startStack, type TestStack } from './stack.ts';
import {
  PlainSubscriber,
  type SocketAddresses,
  SocketSubscriber,
  type Subscriber,
  untilAllCame,
  untilSubscribed,
} from './subscribers.ts';
import { findFaults, findStale, upload } from './ten-tasks.ts';

const python = '/usr/bin/python3';
const eventNames = [
  'subscribed',
  'error',
  ...['job_started', 'job_completed', 'job_failed'],
  ...['task_started', 'task_updated', 'task_completed', 'task_failed', 'task_canceled', 'task_deleted'],
];

const threeTasks = {
  import: { operation: 'import/upload' },
  first: { operation: 'export/url', input: 'import' },
  second: { operation: 'export/url', input: 'import' },
};
/** The start and the end of the job and of each of its tasks. */
const eventsOfThree = 8;

/** A client on python-socketio, whose handlers take one argument and run each in a thread of its own, in no order. */
class PythonSubscriber implements Subscriber {
  readonly received: Subscriber['received'] = [];
  readonly messages: Subscriber['messages'] = [];
  readonly connections = 1;
  readonly #process;
  errors = '';

  constructor({ apiKey }: TestStack, { socketIo }: SocketAddresses) {
    const setting = { ...socketIo, token: `Bearer ${apiKey}`, events: eventNames };
    this.#process = spawn(python, [join(import.meta.dirname, 'python-client.py'), JSON.stringify(setting)]);
    this.#process.stderr.on('data', (chunk) => {
      this.errors += chunk;
    });
    createInterface(this.#process.stdout).on('line', (line) => {
      const message: Subscriber['messages'][number] = JSON.parse(line);
      this.messages.push(message);
      const { event, data } = message;
      if (event === 'subscribed') return;
      const { id, version, status } = data;
      this.received.push({
        event,
        id: String(id),
        version: Number(version),
        status: String(status),
        connection: 0,
        at: performance.now(),
      });
    });
  }

  subscribe(channel: string): void {
    this.#process.stdin.write(`${channel}\n`);
  }

  close(): void {
    this.#process.stdin.end();
  }
}

const hasPython = canImport('socketio', 'websocket');
const noPython = 'python3-socketio and python3-websocket are not installed';

function canImport(...modules: string[]): boolean {
  return spawnSync(python, ['-c', `import ${modules.join(', ')}`]).status === 0;
}

const shapes: [name: string, options: { socketsPort?: number }][] = [
  ['beside the API, as on this machine', {}],
  ['on another host and under a stage, as in AWS', { socketsPort: 0 }],
];

describe.each(shapes)('with sockets %s', (_name, options) => {
  let stack: TestStack;
  let addresses: SocketAddresses;
  let job: JobView;
  let clients: { plain: PlainSubscriber; socketIo: SocketSubscriber; python: PythonSubscriber | undefined };

  beforeAll(async () => {
    stack = await startStack({}, options);
    const { body } = await stack.client.call<{ websocket: SocketAddresses }>('GET', '/health');
    addresses = body.websocket;
    job = await stack.client.createJob(threeTasks);
    clients = {
      plain: new PlainSubscriber(stack, undefined, addresses),
      socketIo: new SocketSubscriber(stack, undefined, addresses),
      python: hasPython ? new PythonSubscriber(stack, addresses) : undefined,
    };
    const all = Object.values(clients).filter((client) => client !== undefined);
    await Promise.all(all.map(subscribeToAllChannels));
    await upload(job);
    job = await stack.client.waitForJob(job.id);
    await Promise.all(all.map(untilOver));
  });

  afterAll(async () => {
    for (const client of Object.values(clients)) client?.close();
    await stack[Symbol.asyncDispose]();
  });

  async function subscribeToAllChannels(subscriber: Subscriber): Promise<void> {
    await until('it is connected', () => subscriber.connections || undefined);
    for (const channel of [`job.${job.id}`, ...job.tasks.map(({ id }) => `task.${id}`)]) {
      subscriber.subscribe(channel);
      await untilSubscribed(subscriber, channel);
    }
  }

  async function untilOver(subscriber: Subscriber): Promise<void> {
    await until('all events have come', () => subscriber.received.length >= eventsOfThree || undefined);
    await untilAllCame(subscriber, `job.${job.id}`);
  }

  test.each([
    ['socket.io-client', () => clients.socketIo],
    ['a plain WebSocket', () => clients.plain],
  ])('%s connects to what /health says, and receives each event of a job once', (_client, clientOf) => {
    const { received } = clientOf();
    expect(findFaults(job, received)).toEqual([]);
    expect(findStale(received)).toEqual([]);
    expect(received).toHaveLength(eventsOfThree);
    for (const { id, version } of [job, ...job.tasks])
      expect(received.findLast((one) => one.id === id)?.version).toBe(version);
  });

  test('python-socketio does, with one argument for each', skipBecause(hasPython ? undefined : noPython), () => {
    const received = clients.python?.received.map(({ event, id }) => `${event} ${id}`);
    const expected = [
      ...['job_started', 'job_completed'].map((event) => `${event} ${job.id}`),
      ...job.tasks.flatMap(({ id }) => [`task_started ${id}`, `task_completed ${id}`]),
    ];
    expect(received?.sort()).toEqual(expected.sort());
    expect(clients.python?.errors).toBe('');
  });

  if (options.socketsPort === undefined) return;

  test('nothing but the stage is there, and no sockets are beside the API', async () => {
    const { url, socketIo } = addresses;
    expect(new URL(url).host).not.toBe(new URL(stack.url).host);
    expect(url).toBe(`${socketIo.url}${socketIo.path}`);
    const statusOf = async (address: string): Promise<number> => {
      const socket = new WebSocket(address, { headers: { authorization: `Bearer ${stack.apiKey}` } });
      const [, response] = await once(socket, 'unexpected-response');
      response.destroy();
      return response.statusCode;
    };
    for (const path of ['/', '/ws', '/socket.io/?EIO=4&transport=websocket', '/live/ws', '/live//'])
      expect(await statusOf(`${socketIo.url}${path}`), path).toBe(403);
    for (const path of ['/ws', '/socket.io/?EIO=4&transport=websocket', '/live'])
      expect(await statusOf(`${stack.url.replace('http', 'ws')}${path}`), path).toBe(404);
    expect((await fetch(url.replace('ws', 'http'))).status).toBe(403);
  });
});
