import { createServer, request as httpRequest } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, test } from 'vitest';
import { createHttpApi } from '../../src/api-gateway/http/http-api.ts';
import { FunctionError } from '../../src/lambda/function-error.ts';
import { encodeEvent } from '../../src/lambda/payload.ts';
import type { LambdaRuntime } from '../../src/lambda/runtime.ts';
import type { ApiCors, ApiRoute } from '../../src/template/model.ts';
import { eventually } from '../lambda/fixtures/eventually.ts';
import { fixtureFunction, fixtureRuntime } from '../lambda/fixtures/functions.ts';

const megabyte = 1024 * 1024;

const cors: ApiCors = {
  allowOrigins: ['https://app.example'],
  allowMethods: ['GET', 'POST'],
  allowHeaders: ['authorization'],
  exposeHeaders: ['location'],
  maxAgeSeconds: 600,
};

interface Setting {
  invoke?: (event: unknown) => unknown;
  runtime?: LambdaRuntime;
  routes?: string[];
  cors?: ApiCors;
  target?: Pick<ApiRoute, 'function' | 'invoker'>;
  integrationSeconds?: number;
}

async function serveApi({ invoke = (event) => event, routes = ['$default'], ...setting }: Setting = {}) {
  const events: unknown[] = [];
  const stub: LambdaRuntime = {
    invoke: async (_, encoded) => {
      const event: unknown = JSON.parse(String(encoded));
      encodeEvent(encoded);
      events.push(event);
      return invoke(event);
    },
    stop: async () => {},
  };
  const api = createHttpApi(
    {
      logicalId: 'Api',
      apiId: 'api123',
      routes: routes.map((routeKey) => ({
        routeKey,
        ...(setting.target ?? { function: fixtureFunction('echo') }),
      })),
      ...(setting.cors && { cors: setting.cors }),
    },
    setting.runtime ?? stub,
    { account: '000000000000' },
    setting.integrationSeconds === undefined ? {} : { integrationSeconds: setting.integrationSeconds },
  );
  const failures: unknown[] = [];
  const server = createServer((request, response) => {
    api.handle(request, response).catch((error: unknown) => failures.push(error));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const { port } =
    typeof address === 'object' && address !== null ? address : ({ port: 0 } satisfies Partial<AddressInfo>);
  return {
    root: `http://127.0.0.1:${port}`,
    port,
    events,
    failures,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

test('a request becomes an event of payload format 2.0', async () => {
  await using api = await serveApi({ routes: ['POST /tasks/{id}'] });

  const response = await fetch(`${api.root}/tasks/a%20b?x=1&x=2&y=%C3%BC`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Cookie: 'a=1; b=2', 'User-Agent': 'test', 'X-One': 'y' },
    body: '{"ü":1}',
  });

  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('application/json');
  expect(response.headers.get('apigw-requestid')).toBeTruthy();
  expect(await response.json()).toMatchObject({
    version: '2.0',
    routeKey: 'POST /tasks/{id}',
    rawPath: '/tasks/a b',
    rawQueryString: 'x=1&x=2&y=%C3%BC',
    queryStringParameters: { x: '1,2', y: 'ü' },
    pathParameters: { id: 'a b' },
    cookies: ['a=1', 'b=2'],
    headers: { 'content-type': 'application/json', 'x-one': 'y', host: `127.0.0.1:${api.port}` },
    requestContext: {
      accountId: '000000000000',
      apiId: 'api123',
      domainName: '127.0.0.1',
      http: { method: 'POST', path: '/tasks/a b', protocol: 'HTTP/1.1', sourceIp: '127.0.0.1', userAgent: 'test' },
      requestId: response.headers.get('apigw-requestid'),
      routeKey: 'POST /tasks/{id}',
      stage: '$default',
      time: expect.stringMatching(/^\d\d\/\w{3}\/\d{4}:\d\d:\d\d:\d\d \+0000$/),
      timeEpoch: expect.any(Number),
    },
    body: '{"ü":1}',
    isBase64Encoded: false,
  });
});

test('a header sent twice is joined with a comma', async () => {
  await using api = await serveApi();

  await new Promise((resolve, reject) => {
    const request = httpRequest(api.root, { headers: { 'x-two': ['a', 'b'] } }, (response) => {
      response.resume().once('end', resolve);
    });
    request.once('error', reject).end();
  });

  expect(api.events).toMatchObject([{ headers: { 'x-two': 'a,b' } }]);
});

test('a body that is not text is encoded in base64', async () => {
  await using api = await serveApi();

  const response = await fetch(api.root, {
    method: 'POST',
    headers: { 'content-type': 'application/octet-stream' },
    body: Buffer.of(0xff, 0, 1),
  });

  expect(await response.json()).toMatchObject({ body: '/wAB', isBase64Encoded: true });
});

test.each([49_151, 49_152, 49_153, 200_000])('so is one of %i bytes', async (size) => {
  await using api = await serveApi();
  const body = Buffer.alloc(size, Buffer.from([0xff, 0, 1, 7, 9]));

  const response = await fetch(api.root, { method: 'POST', body });

  expect(await response.json()).toMatchObject({ body: body.toString('base64'), isBase64Encoded: true });
});

test('a body of a text type is text, even if it is not UTF-8', async () => {
  await using api = await serveApi();

  const response = await fetch(api.root, {
    method: 'POST',
    headers: { 'content-type': 'text/csv' },
    body: Buffer.from('Köln', 'latin1'),
  });

  expect(await response.json()).toMatchObject({ body: 'K\ufffdln', isBase64Encoded: false });
});

test('a full response sets status, headers, cookies and body', async () => {
  await using api = await serveApi({
    invoke: () => ({
      statusCode: 201,
      headers: { Location: '/x', 'X-Count': 3 },
      cookies: ['a=1', 'b=2; Path=/'],
      body: Buffer.of(1, 2, 255).toString('base64'),
      isBase64Encoded: true,
    }),
  });

  const response = await fetch(api.root);

  expect(response.status).toBe(201);
  expect(response.headers.get('location')).toBe('/x');
  expect(response.headers.get('x-count')).toBe('3');
  expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2; Path=/']);
  expect(Buffer.from(await response.arrayBuffer())).toEqual(Buffer.of(1, 2, 255));
});

test.each([
  ['an object', { a: 1 }, '{"a":1}'],
  ['a string', 'plain', 'plain'],
  ['an array', [1], '[1]'],
  ['null', null, 'null'],
])('%s without a status becomes a 200 with JSON', async (_, result, body) => {
  await using api = await serveApi({ invoke: () => result });

  const response = await fetch(api.root);

  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('application/json');
  expect(await response.text()).toBe(body);
});

test.each([
  ['throws', () => Promise.reject(new FunctionError('Error', 'no'))],
  ['returns a malformed status', () => ({ statusCode: 'x' })],
  ['returns a body that is no string', () => ({ statusCode: 200, body: {} })],
  ['returns a header that cannot be sent', () => ({ statusCode: 200, headers: { a: 'b\nc' }, body: '' })],
])('a function that %s gives a 500', async (_, invoke) => {
  await using api = await serveApi({ invoke });

  const response = await fetch(api.root);

  expect(response.status).toBe(500);
  expect(await response.json()).toEqual({ message: 'Internal Server Error' });
});

test('a request without a route gets a 404', async () => {
  await using api = await serveApi({ routes: ['GET /a'] });

  const response = await fetch(`${api.root}/b`, { method: 'POST', body: 'x' });

  expect(response.status).toBe(404);
  expect(await response.json()).toEqual({ message: 'Not Found' });
});

test('a function that exceeds the integration timeout gives a 503', async () => {
  await using api = await serveApi({ invoke: () => new Promise(() => {}), integrationSeconds: 0.05 });

  const response = await fetch(api.root);

  expect(response.status).toBe(503);
  expect(await response.json()).toEqual({ message: 'Service Unavailable' });
});

test('a function whose concurrency is used up gives a 503', async () => {
  await using api = await serveApi({
    invoke: () => Promise.reject(new FunctionError('TooManyRequestsException', 'no')),
  });

  const response = await fetch(api.root);

  expect(response.status).toBe(503);
  expect(await response.json()).toEqual({ message: 'Service Unavailable' });
});

test.each([
  ['declared', (bytes: number) => Buffer.alloc(bytes, 'x')],
  ['streamed', (bytes: number) => new Blob([Buffer.alloc(bytes, 'x')]).stream()],
])('a %s body over 10 MB is refused without an invocation', async (_, body) => {
  await using api = await serveApi();

  const response = await fetch(api.root, { method: 'POST', body: body(11 * megabyte), duplex: 'half' });

  expect(response.status).toBe(413);
  expect(await response.json()).toEqual({ message: 'Request Entity Too Large' });
  expect(api.events).toEqual([]);
});

test('a body that the function payload cannot hold is refused', async () => {
  await using api = await serveApi();

  const response = await fetch(api.root, { method: 'POST', body: Buffer.alloc(7 * megabyte) });

  expect(response.status).toBe(413);
});

test('headers over 10,240 bytes are refused', async () => {
  await using api = await serveApi();

  const response = await fetch(api.root, { headers: { 'x-long': 'x'.repeat(10_240) } });

  expect(response.status).toBe(431);
  expect(api.events).toEqual([]);
});

test('the gateway responds to a preflight itself', async () => {
  await using api = await serveApi({ cors });

  const response = await fetch(api.root, {
    method: 'OPTIONS',
    headers: { origin: 'https://app.example', 'access-control-request-method': 'POST' },
  });

  expect(response.status).toBe(204);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'access-control-allow-origin': 'https://app.example',
    'access-control-allow-methods': 'GET,POST',
    'access-control-allow-headers': 'authorization',
    'access-control-max-age': '600',
  });
  expect(api.events).toEqual([]);
});

test('responses carry the configured CORS headers and not those of the function', async () => {
  const invoke = () => ({ statusCode: 200, headers: { 'access-control-allow-origin': 'https://evil.example' } });
  await using api = await serveApi({ cors, invoke });

  const allowed = await fetch(api.root, { headers: { origin: 'https://app.example' } });
  const refused = await fetch(api.root, { headers: { origin: 'https://evil.example' } });

  expect(allowed.headers.get('access-control-allow-origin')).toBe('https://app.example');
  expect(allowed.headers.get('access-control-expose-headers')).toBe('location');
  expect(refused.headers.get('access-control-allow-origin')).toBeNull();
});

test('a HEAD request gets no body', async () => {
  await using api = await serveApi({ invoke: () => ({ statusCode: 200, body: 'four' }) });

  const response = await fetch(api.root, { method: 'HEAD' });

  expect(response.headers.get('content-length')).toBe('4');
  expect(await response.text()).toBe('');
});

test('a client that disconnects, before or after the body, harms nothing', async () => {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  await using api = await serveApi({ invoke: () => released });
  const partial = connect(api.port, '127.0.0.1');
  partial.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\nhalf', () => partial.destroy());
  const whole = connect(api.port, '127.0.0.1');
  whole.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  await eventually(() => api.events.length === 1);
  whole.destroy();

  release();
  const response = await fetch(api.root);

  expect(response.status).toBe(200);
  expect(api.failures).toEqual([]);
});

test('a path is decoded, and cut at a question mark that this brings up', async () => {
  await using api = await serveApi({ routes: ['GET /a/{proxy+}'] });

  const response = await fetch(`${api.root}/a/b%2Fc%25d%3Fe/f`);

  expect(await response.json()).toMatchObject({ rawPath: '/a/b/c%d', rawQueryString: '' });
});

test('a malformed encoding in the path is passed on as it is', async () => {
  await using api = await serveApi({ routes: ['GET /a/{name}'] });

  const response = await fetch(`${api.root}/a/%E0%A4%A`);

  expect(await response.json()).toMatchObject({ pathParameters: { name: '%E0%A4%A' } });
});

test('a connection serves one request after another through a real function', async () => {
  await using runtime = fixtureRuntime();
  await using api = await serveApi({ runtime });

  const bodies = [];
  for (const body of ['one', 'two']) {
    const response = await fetch(api.root, { method: 'POST', headers: { 'content-type': 'text/plain' }, body });
    bodies.push(await response.json());
  }

  expect(bodies).toMatchObject([{ body: 'one' }, { body: 'two' }]);
});

test('a function is invoked only while the role of the integration allows it', async () => {
  const target = fixtureFunction('echo');
  const allowed = { effect: 'Allow' as const, actions: ['lambda:InvokeFunction'], conditions: {} };
  const invoker = { logicalId: 'Invoker', arn: 'arn:invoker', statements: [{ ...allowed, resources: [target.arn] }] };
  await using api = await serveApi({ target: { function: target, invoker } });

  const before = await fetch(api.root);
  invoker.statements = [{ ...allowed, resources: [`${target.arn}Other`] }];
  const after = await fetch(api.root);

  expect([before.status, after.status]).toEqual([200, 500]);
  expect(api.events.length).toBe(1);
});
