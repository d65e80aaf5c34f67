import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import type { JobView } from '../support/client.ts';
import { until } from '../support/until.ts';
import {
  type Follower,
  PlainFollower,
  type SocketAddresses,
  SocketFollower,
  untilAllCame,
  untilFollowing,
} from './followers.ts';
import { startStack, type TestStack } from './stack.ts';
import { findFaults, findStale, tenTasks, upload } from './ten-tasks.ts';

const python = '/usr/bin/python3';
const eventNames = [
  'subscribed',
  'error',
  ...['job_started', 'job_completed', 'job_failed'],
  ...['task_started', 'task_updated', 'task_completed', 'task_failed', 'task_canceled', 'task_deleted'],
];

/** The start and the end of a job and of each of its ten tasks. */
const eventsOfTen = 22;

/** A client on python-socketio, whose handlers take one argument and run each in a thread of its own, in no order. */
class PythonFollower implements Follower {
  readonly heard: Follower['heard'] = [];
  readonly messages: Follower['messages'] = [];
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
      const message: Follower['messages'][number] = JSON.parse(line);
      this.messages.push(message);
      const { event, data } = message;
      if (event === 'subscribed') return;
      const { id, version, status } = data;
      this.heard.push({
        event,
        id: String(id),
        version: Number(version),
        status: String(status),
        connection: 0,
        at: performance.now(),
      });
    });
  }

  follow(channel: string): void {
    this.#process.stdin.write(`${channel}\n`);
  }

  close(): void {
    this.#process.stdin.end();
  }
}

function hasPythonClient(): boolean {
  try {
    execFileSync(python, ['-c', 'import socketio, websocket; assert socketio.Client'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

const shapes: [name: string, options: { socketsPort?: number }][] = [
  ['beside the API, as on this machine', {}],
  ['on another host and under a stage, as in AWS', { socketsPort: 0 }],
];

describe.each(shapes)('with sockets %s', (_name, options) => {
  let stack: TestStack;
  let addresses: SocketAddresses;

  beforeAll(async () => {
    stack = await startStack({}, options);
    const { body } = await stack.client.call<{ websocket: SocketAddresses }>('GET', '/health');
    addresses = body.websocket;
  });

  afterAll(() => stack[Symbol.asyncDispose]());

  /** Follows a job and each of its tasks from the upload to the end, and returns the job as it was created. */
  async function followByAllChannels(follower: Follower): Promise<JobView> {
    const job = await stack.client.createJob(tenTasks);
    for (const channel of [`job.${job.id}`, ...job.tasks.map(({ id }) => `task.${id}`)]) {
      follower.follow(channel);
      await untilFollowing(follower, channel);
    }
    await upload(job);
    const ended = await stack.client.waitForJob(job.id);
    await until('all events have come', () => follower.heard.length >= eventsOfTen || undefined);
    await untilAllCame(follower, `job.${job.id}`);
    for (const { id, version } of [ended, ...ended.tasks]) {
      const versions = follower.heard.filter((one) => one.id === id).map((one) => one.version);
      expect(Math.max(...versions)).toBe(version);
    }
    return job;
  }

  test.each([
    ['socket.io-client', () => new SocketFollower(stack, undefined, addresses)],
    ['a plain WebSocket', () => new PlainFollower(stack, undefined, addresses)],
  ])('%s connects to what /health says, and receives each event of a job once', async (_client, connect) => {
    const follower = connect();
    try {
      await until('it is connected', () => follower.connections || undefined);
      const job = await followByAllChannels(follower);
      expect(findFaults(job, follower.heard)).toEqual([]);
      expect(findStale(follower.heard)).toEqual([]);
      expect(follower.heard).toHaveLength(eventsOfTen);
    } finally {
      follower.close();
    }
  });

  test.skipIf(!hasPythonClient())('python-socketio does, with one argument for each', async () => {
    const follower = new PythonFollower(stack, addresses);
    try {
      const job = await followByAllChannels(follower);
      const heard = follower.heard.map(({ event, id }) => `${event} ${id}`).sort();
      const expected = [
        ...['job_started', 'job_completed'].map((event) => `${event} ${job.id}`),
        ...job.tasks.flatMap(({ id }) => [`task_started ${id}`, `task_completed ${id}`]),
      ];
      expect(heard).toEqual(expected.sort());
      expect(follower.errors).toBe('');
    } finally {
      follower.close();
    }
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
