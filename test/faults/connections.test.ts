import { once } from 'node:events';
import { connect as connectTcp } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { startStack, type TestStack } from '../events/stack.ts';
import {
  PlainSubscriber,
  SocketSubscriber,
  type Subscriber,
  untilReceived,
  untilSubscribed,
} from '../events/subscribers.ts';
import { upload } from '../events/ten-tasks.ts';
import { until } from '../support/until.ts';

const twoTasks = { import: { operation: 'import/upload' }, export: { operation: 'export/url', input: 'import' } };

let stack: TestStack;
const subscribers: Subscriber[] = [];

beforeAll(async () => {
  stack = await startStack();
});

afterAll(async () => {
  for (const subscriber of subscribers) subscriber.close();
  await stack[Symbol.asyncDispose]();
});

async function subscribeTo(subscriber: Subscriber, channel: string): Promise<void> {
  subscriber.subscribe(channel);
  await untilSubscribed(subscriber, channel);
}

// Each waits a quarter of a minute for a time limit, and none touches the sockets of another.
describe.concurrent('a connection', () => {
  test('that could be neither posted to nor closed for a while is closed as soon as it can be, and reconnects to receive the end', async () => {
    const job = await stack.client.createJob(twoTasks);
    const both = [new PlainSubscriber(stack), new SocketSubscriber(stack)];
    subscribers.push(...both);
    await Promise.all(both.map((subscriber) => subscribeTo(subscriber, `job.${job.id}`)));
    const before = stack.sockets.connectionIds();
    const { post, disconnect } = stack.sockets;
    const refused: string[] = [];
    const refuse = (id: string) => {
      refused.push(id);
      throw new Error('The management endpoint is down.');
    };
    Object.assign(stack.sockets, { post: refuse, disconnect: refuse });
    try {
      await upload(job);
      // More than the relay tries by itself: two posts and two ends.
      const isAbandoned = (id: string) => refused.filter((one) => one === id).length > 4;
      await until('both are abandoned', () => before.every(isAbandoned) || undefined);
      await stack.client.waitForJob(job.id);
    } finally {
      Object.assign(stack.sockets, { post, disconnect });
    }
    await Promise.all(both.map((subscriber) => untilReceived(subscriber, 'job_completed', job.id)));
    for (const subscriber of both) expect(subscriber.connections).toBe(2);
  });

  test('that receives no events stays open for longer than API Gateway keeps an idle one', async () => {
    // A minute of AWS is two seconds here: the sweep, and the limit of ten minutes.
    await using short = await startStack({ LATHE_SWEEP_SECONDS: '2' }, { socketLimits: { idleMs: 20_000 } });
    const job = await short.client.createJob(twoTasks);
    const both = [new PlainSubscriber(short), new SocketSubscriber(short)];
    subscribers.push(...both);
    for (const subscriber of both) {
      await until('it is connected', () => subscriber.connections || undefined);
      await subscribeTo(subscriber, `job.${job.id}`);
    }
    const quietUntil = Date.now() + 45_000;
    const isOver = () => Date.now() > quietUntil || both.some(({ connections }) => connections > 1);
    await until('they were quiet for twice the limit, or reconnected', () => isOver() || undefined);
    for (const subscriber of both) expect(subscriber.connections).toBe(1);
    await upload(job);
    await Promise.all(both.map((subscriber) => untilReceived(subscriber, 'job_completed', job.id)));
    for (const subscriber of both) expect(subscriber.connections).toBe(1);
  });

  test('that has not authenticated is not kept open', async () => {
    await using short = await startStack({ LATHE_SWEEP_SECONDS: '1' }, { socketLimits: { idleMs: 10_000 } });
    const silent = new WebSocket(`${short.url.replace('http', 'ws')}/socket.io/?EIO=4&transport=websocket`);
    await once(silent, 'message');
    const [code] = await once(silent, 'close');
    expect(code).toBe(1001);
  });

  test('that is silent for too long, or lives for too long, is closed, and a client of Socket.IO comes back', async () => {
    await using short = await startStack({}, { socketLimits: { idleMs: 2_000, lifeMs: 12_000 } });
    await using kept = await keptConnection(short.url);
    const job = await short.client.createJob(twoTasks);
    const quiet = new WebSocket(`${short.url.replace('http', 'ws')}/ws?token=${short.apiKey}`);
    const quietClosed = once(quiet, 'close');
    const talking = new WebSocket(`${short.url.replace('http', 'ws')}/ws?token=${short.apiKey}`);
    const talkingClosed = once(talking, 'close');
    await Promise.all([once(quiet, 'open'), once(talking, 'open')]);
    const talk = setInterval(() => talking.send('{"action":"ping"}'), 200);
    const [quietCode] = await quietClosed;
    expect(quietCode).toBe(1001);
    expect(talking.readyState).toBe(WebSocket.OPEN);
    const subscriber = new SocketSubscriber(short);
    subscribers.push(subscriber);
    await until('it is in', () => subscriber.connections || undefined);
    await subscribeTo(subscriber, `job.${job.id}`);
    const [talkingCode] = await talkingClosed;
    clearInterval(talk);
    expect(talkingCode).toBe(1001);
    await until('it is back', () => (subscriber.connections >= 2 ? true : undefined));
    await upload(job);
    await untilReceived(subscriber, 'job_completed', job.id);
    // Long after the time for which the server says that it keeps it.
    const response = await kept.request();
    expect(response).toContain('200 OK');
    expect(response).toContain('Keep-Alive: timeout=5\r\n');
  });
});

/** A connection for requests to /health that stays when its client forgets to close it, as one does on a machine that stalls. */
async function keptConnection(url: string) {
  const { hostname, port, host } = new URL(url);
  const socket = connectTcp(Number(port), hostname);
  const request = async (): Promise<string> => {
    socket.write(`GET /health HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    const [chunk] = await Promise.race([once(socket, 'data'), once(socket, 'close').then(() => ['closed'])]);
    return String(chunk);
  };
  expect(await request()).toContain('200 OK');
  return { request, [Symbol.asyncDispose]: async () => void socket.destroy() };
}
