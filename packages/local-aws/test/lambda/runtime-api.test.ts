import { type IncomingHttpHeaders, request } from 'node:http';
import { expect, test } from 'vitest';
import type { FunctionError } from '../../src/lambda/function-error.ts';
import { Invocation } from '../../src/lambda/invocation.ts';
import { RuntimeApiServer } from '../../src/lambda/runtime-api.ts';
import { RuntimeSession } from '../../src/lambda/session.ts';

interface Reply {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

/** Opens the API for a process that the test simulates. */
async function openSession() {
  const server = new RuntimeApiServer();
  const failures: FunctionError[] = [];
  let ready = Promise.withResolvers<void>();
  const session = new RuntimeSession('arn:aws:lambda:eu-central-1:000000000000:function:f', {
    ready: () => ready.resolve(),
    failed: (error) => failures.push(error),
    responded: () => {
      ready = Promise.withResolvers();
    },
  });
  const { address } = await server.open((call, req, res) => session.handle(call, req, res));
  const call = (method: string, path: string, body = '', headers: Record<string, string> = {}) =>
    send(`http://${address}/2018-06-01/runtime/${path}`, method, body, headers);
  return {
    address,
    session,
    failures,
    call,
    /** Requests an invocation and provides one. */
    async begin(tenantId?: string) {
      const invocation = new Invocation(Buffer.from('{"a":1}'), { tenantId });
      const next = call('GET', 'invocation/next');
      await ready.promise;
      session.start(invocation, 1_700_000_000_000);
      return { invocation, next: await next };
    },
    [Symbol.asyncDispose]: () => server.close(),
  };
}

function send(url: string, method: string, body: string, headers: Record<string, string>): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.once('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }));
    });
    sent.once('error', reject).end(body);
  });
}

async function textOf(invocation: Invocation): Promise<string> {
  let text = '';
  for await (const chunk of await invocation.response) text += chunk;
  return text;
}

test('passes the tenant of an invocation', async () => {
  await using api = await openSession();
  expect((await api.begin('ann')).next.headers['lambda-runtime-aws-tenant-id']).toBe('ann');

  await using other = await openSession();
  expect((await other.begin()).next.headers).not.toHaveProperty('lambda-runtime-aws-tenant-id');
});

test('passes an invocation with its id, deadline and function', async () => {
  await using api = await openSession();

  const { invocation, next } = await api.begin();

  expect(next).toMatchObject({
    status: 200,
    body: '{"a":1}',
    headers: {
      'lambda-runtime-aws-request-id': invocation.requestId,
      'lambda-runtime-deadline-ms': '1700000000000',
      'lambda-runtime-invoked-function-arn': 'arn:aws:lambda:eu-central-1:000000000000:function:f',
    },
  });
});

test('forwards a response and passes the next invocation', async () => {
  await using api = await openSession();
  const { invocation } = await api.begin();

  const accepted = await api.call('POST', `invocation/${invocation.requestId}/response`, '"done"');
  const second = await api.begin();

  expect(accepted.status).toBe(202);
  expect(await textOf(invocation)).toBe('"done"');
  expect(second.next.status).toBe(200);
});

test.each([
  ['next during an invocation', 'GET', 'invocation/next'],
  ['an error of the start during an invocation', 'POST', 'init/error'],
])('refuses %s', async (_, method, path) => {
  await using api = await openSession();
  const { invocation } = await api.begin();

  const refused = await api.call(method, path);
  await api.call('POST', `invocation/${invocation.requestId}/response`, '"done"');

  expect(refused.status).toBe(403);
  expect(JSON.parse(refused.body)).toMatchObject({ errorType: 'InvalidStateTransition' });
  expect(await textOf(invocation)).toBe('"done"');
});

test.each(['response', 'error'])(
  'refuses a %s for another invocation, without affecting the current one',
  async (end) => {
    await using api = await openSession();
    const { invocation } = await api.begin();

    const refused = await api.call('POST', `invocation/${crypto.randomUUID()}/${end}`, '"wrong"');
    await api.call('POST', `invocation/${invocation.requestId}/response`, '"done"');

    expect(refused.status).toBe(400);
    expect(JSON.parse(refused.body)).toMatchObject({ errorType: 'InvalidRequestID' });
    expect(await textOf(invocation)).toBe('"done"');
  },
);

test('refuses a second response, and one before the first invocation', async () => {
  await using api = await openSession();
  const early = await api.call('POST', `invocation/${crypto.randomUUID()}/response`, '1');
  const { invocation } = await api.begin();
  await api.call('POST', `invocation/${invocation.requestId}/response`, '1');

  const late = await api.call('POST', `invocation/${invocation.requestId}/error`, '{}');

  expect([early.status, late.status]).toEqual([403, 403]);
  expect(await textOf(invocation)).toBe('1');
});

test('fails an invocation with the error that the process reports', async () => {
  await using api = await openSession();
  const { invocation } = await api.begin();

  const accepted = await api.call(
    'POST',
    `invocation/${invocation.requestId}/error`,
    JSON.stringify({ errorType: 'RangeError', errorMessage: 'out of range' }),
    { 'lambda-runtime-function-error-type': 'RangeError' },
  );

  expect(accepted.status).toBe(202);
  await expect(invocation.response).rejects.toMatchObject({ errorType: 'RangeError', message: 'out of range' });
});

test('takes the error of a start, before the first invocation only', async () => {
  await using api = await openSession();

  const accepted = await api.call(
    'POST',
    'init/error',
    '{"errorType":"Runtime.ImportModuleError","errorMessage":"no"}',
  );

  expect(accepted.status).toBe(202);
  expect(api.failures).toMatchObject([{ errorType: 'Runtime.ImportModuleError', message: 'no' }]);
});

test('turns a response over 6 MB into a failed invocation and continues', async () => {
  await using api = await openSession();
  const { invocation } = await api.begin();

  const refused = await api.call('POST', `invocation/${invocation.requestId}/response`, 'x'.repeat(6_291_557));
  const second = await api.begin();

  expect(refused.status).toBe(413);
  await expect(invocation.response).rejects.toMatchObject({ errorType: 'Function.ResponseSizeTooLarge' });
  expect(second.next.status).toBe(200);
});

test('knows no other path, method or environment', async () => {
  await using api = await openSession();
  const { address } = api;
  const [host] = address.split('/');

  const replies = await Promise.all([
    api.call('POST', 'invocation/next'),
    api.call('GET', 'invocation/x/response'),
    api.call('POST', 'invocation/x/other'),
    send(`http://${host}/2018-06-01/runtime/invocation/next`, 'GET', '', {}),
    send(`http://${host}/0123456789abcdef0123456789abcdef/2018-06-01/runtime/invocation/next`, 'GET', '', {}),
  ]);

  expect(replies.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404]);
});
