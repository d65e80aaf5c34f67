import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect as connectTcp, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { until } from '../../../../../test/support/until.ts';
import { createWebSocketApi, type WebSocketLimits } from '../../../src/api-gateway/websocket/websocket-api.ts';
import type { LocalFunction } from '../../../src/template/model.ts';

const closing: (() => Promise<unknown> | unknown)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

type Handler = (event: { requestContext: Record<string, unknown>; body?: string }) => Promise<unknown> | unknown;

/** Serves a WebSocket API with the given handlers, by route. */
async function serve(
  handlers: Record<string, Handler> = {},
  limits: Partial<WebSocketLimits> = {},
  throttle?: { rate: number; burst: number },
) {
  const events: { route: string; event: Parameters<Handler>[0] }[] = [];
  const routes = ['$connect', '$default', '$disconnect'].map((routeKey) => ({
    routeKey,
    function: functionFor(routeKey),
  }));
  const runtime = {
    invoke: async (fn: LocalFunction, event: unknown) => {
      const given: Parameters<Handler>[0] = JSON.parse(JSON.stringify(event));
      events.push({ route: fn.name, event: given });
      return (await handlers[fn.name]?.(given)) ?? { statusCode: 200 };
    },
    stop: async () => undefined,
  };
  const api = createWebSocketApi(
    { logicalId: 'Sockets', apiId: 'abc', stage: 'live', routes, ...(throttle ? { throttle } : {}) },
    runtime,
    { account: '000000000000' },
    { report: () => undefined, limits },
  );
  const server = createServer().on('upgrade', api.upgrade);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(
    () => new Promise((resolve) => server.close(resolve)),
    () => api.close(),
  );
  const { port } = server.address() as AddressInfo;
  const connect = (options: { headers?: Record<string, string>; query?: string } = {}) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/ws${options.query ?? ''}`, { headers: options.headers ?? {} });
    // A refused connection reports an error when the test ends it.
    socket.on('error', () => undefined);
    closing.push(() => socket.terminate());
    return socket;
  };
  return { api, events, connect, server, port };
}

function functionFor(name: string): LocalFunction {
  return {
    logicalId: name,
    name,
    arn: `arn:${name}`,
    packaging: 'zip',
    entry: '',
    handler: 'handler',
    timeoutSeconds: 3,
    memoryMegabytes: 128,
    environment: {},
    role: { logicalId: name, arn: '', statements: [] },
  };
}

test('calls the functions of a client that connects, sends and disconnects', async () => {
  const { events, connect } = await serve();
  const socket = connect({ headers: { 'X-Mine': 'yes' }, query: '?token=t' });
  await once(socket, 'open');
  socket.send('{"action":"subscribe"}');
  socket.send('no JSON');
  await until('both messages came', () => (events.length === 3 ? true : undefined));
  socket.close(1000);
  await until('its disconnect was reported', () => (events.length === 4 ? true : undefined));
  expect(events.map(({ route }) => route)).toEqual(['$connect', '$default', '$default', '$disconnect']);
  expect(events[0]?.event).toMatchObject({
    headers: { 'X-Mine': 'yes' },
    queryStringParameters: { token: 't' },
    requestContext: { eventType: 'CONNECT', stage: 'live' },
  });
  expect(events[1]?.event).toMatchObject({ body: '{"action":"subscribe"}', requestContext: { eventType: 'MESSAGE' } });
  const ids = new Set(events.map(({ event }) => event.requestContext.connectionId));
  expect(ids.size).toBe(1);
});

test.each([401, 403, 500])(
  'a client to which the connect route responds with %i is not accepted',
  async (statusCode) => {
    const { events, connect } = await serve({ $connect: () => ({ statusCode }) });
    const [, response] = await once(connect(), 'unexpected-response');
    expect(response.statusCode).toBe(statusCode);
    response.destroy();
    expect(events.map(({ route }) => route)).toEqual(['$connect']);
  },
);

test('connects and messages beyond the rate of the stage are refused, and disconnects beyond it are not reported', async () => {
  // A token is refilled only after hours.
  const { events, connect } = await serve({}, {}, { rate: 0.0001, burst: 3 });
  const socket = connect();
  await once(socket, 'open');
  const replies: unknown[] = [];
  socket.on('message', (data) => replies.push(JSON.parse(data.toString())));
  for (const text of ['one', 'two', 'three']) socket.send(text);
  await until('the third was refused', () => replies.length > 0 || undefined);
  const [, response] = await once(connect(), 'unexpected-response');
  expect(response.statusCode).toBe(429);
  response.destroy();
  expect(replies).toEqual([
    { message: 'Too Many Requests', connectionId: expect.any(String), requestId: expect.any(String) },
  ]);
  socket.close();
  await once(socket, 'close');
  expect(events.map(({ route, event }) => [route, event.body])).toEqual([
    ['$connect', undefined],
    ['$default', 'one'],
    ['$default', 'two'],
  ]);
});

test('nothing can be sent before the connect route has returned, or after the client has disconnected', async () => {
  const sent: string[] = [];
  const { api, events, connect } = await serve({
    $connect: async ({ requestContext }) => {
      sent.push(api.post(String(requestContext.connectionId), Buffer.from('early')));
    },
  });
  const socket = connect();
  await once(socket, 'open');
  const [id = ''] = api.connectionIds();
  const heard = once(socket, 'message');
  sent.push(api.post(id, Buffer.from('in time')));
  expect(String((await heard)[0])).toBe('in time');
  socket.terminate();
  await until('it has disconnected', () => (events.length === 2 ? true : undefined));
  sent.push(api.post(id, Buffer.from('late')));
  expect(sent).toEqual(['gone', 'sent', 'gone']);
  expect(api.disconnect(id)).toBe(false);
});

test('posts to a client that does not read are refused until it reads, and it can be disconnected meanwhile', async () => {
  const { api, connect } = await serve({}, { bufferBytes: 100_000 });
  const reader = connect();
  await once(reader, 'open');
  const deaf = connect();
  await once(deaf, 'open');
  const [first = '', second = ''] = api.connectionIds();
  const heard: number[] = [];
  reader.on('message', (data) => heard.push(data.toString().length));
  reader.pause();
  deaf.pause();
  const fill = (id: string) => {
    for (let count = 0; count < 1_000; count++) if (api.post(id, Buffer.alloc(100_000, 'a')) === 'full') return count;
    return Number.POSITIVE_INFINITY;
  };
  const taken = fill(first);
  expect(taken).toBeLessThan(1_000);
  reader.resume();
  await until('all accepted data has arrived', () => heard.length === taken || undefined);
  expect(api.post(first, Buffer.from('more'))).toBe('sent');
  fill(second);
  expect(api.disconnect(second)).toBe(true);
  await until('it is ended', () => api.connectionIds().length === 1 || undefined);
  expect(api.post(second, Buffer.from('more'))).toBe('gone');
});

test('a message whose function fails gets an error', async () => {
  const { connect } = await serve({
    $default: () => {
      throw new Error('broken');
    },
  });
  const socket = connect();
  await once(socket, 'open');
  socket.send('{}');
  expect(JSON.parse(String((await once(socket, 'message'))[0]))).toMatchObject({ message: 'Internal server error' });
});

test('closes an idle connection', async () => {
  const { connect } = await serve({}, { idleMs: 100 });
  const socket = connect();
  expect((await once(socket, 'close'))[0]).toBe(1001);
});

test('closes an old connection, even if it is busy', async () => {
  const { connect } = await serve({}, { idleMs: 60_000, lifeMs: 500 });
  const socket = connect();
  await once(socket, 'open');
  const timer = setInterval(() => socket.send('{}'), 20);
  expect((await once(socket, 'close'))[0]).toBe(1001);
  clearInterval(timer);
});

test('closes a connection for a message that is too large, and for a binary one', async () => {
  const { connect } = await serve();
  for (const [message, code] of [
    ['x'.repeat(128 * 1024 + 1), 1009],
    [Buffer.from('x'), 1003],
  ] as const) {
    const socket = connect();
    await once(socket, 'open');
    socket.send(message);
    expect((await once(socket, 'close'))[0]).toBe(code);
  }
});

/** Opens a WebSocket by hand, for requests that no client library makes. */
function ask(port: number): Socket {
  const client = connectTcp({ port, host: '127.0.0.1', allowHalfOpen: true });
  closing.push(() => client.destroy());
  const lines = [
    'GET /ws HTTP/1.1',
    'Host: localhost',
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    `Sec-WebSocket-Key: ${Buffer.alloc(16).toString('base64')}`,
  ];
  client.write(`${lines.join('\r\n')}\r\n\r\n`);
  return client;
}

test('does not keep a refused client that never closes its side', async () => {
  const { server, port } = await serve({ $connect: () => ({ statusCode: 401 }) });
  const [response] = await once(ask(port), 'data');
  expect(String(response)).toContain('401 Unauthorized');
  await until(
    'the server has closed it',
    async () => {
      const count = await new Promise<number>((resolve) => server.getConnections((_, open) => resolve(open)));
      return count === 0 || undefined;
    },
    { seconds: 10 },
  );
});

test('reports a client that disconnects while it is being accepted', async () => {
  const asked = Promise.withResolvers<void>();
  const result = Promise.withResolvers<{ statusCode: number }>();
  const { events, server, port, api } = await serve({
    $connect: () => {
      asked.resolve();
      return result.promise;
    },
  });
  const arrived = once(server, 'connection');
  const client = ask(port);
  const [socket] = await arrived;
  await asked.promise;
  const closed = new Promise((resolve) => socket.once('close', resolve));
  client.resetAndDestroy();
  await closed;
  result.resolve({ statusCode: 200 });
  await until('it has left', () => events.some(({ route }) => route === '$disconnect') || undefined);
  expect(events.map(({ event }) => event.requestContext.connectionId)[1]).toBe(
    events[0]?.event.requestContext.connectionId,
  );
  expect(api.connectionIds()).toEqual([]);
});
