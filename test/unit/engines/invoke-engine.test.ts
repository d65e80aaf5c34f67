import { randomBytes } from 'node:crypto';
import { InvokeWithResponseStreamCommand, LambdaClient, TooManyRequestsException } from '@aws-sdk/client-lambda';
import { expect, test, vi } from 'vitest';
import type { EngineRequest } from '../../../functions/engines/runtime/protocol.ts';
import { invokeEngine } from '../../../functions/invocation/invoke-engine.ts';
import { until } from '../../support/until.ts';

const request: EngineRequest<Uint8Array> = {
  taskId: 'task',
  attempt: 1,
  tenant: 'user',
  operation: 'convert',
  outputFormat: 'webp',
  options: {},
  maxOutputBytes: 1,
  inputs: [],
  output: { url: '', fields: {}, prefix: '' },
  revoked: '',
  deadline: 0,
};

/** Has Lambda respond with lines, and returns whether all of its response was read. */
function respond(lines: string[]) {
  const response = { isRead: false };
  async function* stream() {
    for (const line of lines) yield { PayloadChunk: { Payload: Buffer.from(line) } };
    yield { InvokeComplete: {} };
    response.isRead = true;
  }
  vi.stubEnv('LATHE_FUNCTION_IMAGE', 'engine');
  const send = vi.spyOn(LambdaClient.prototype, 'send').mockImplementation(async () => ({ EventStream: stream() }));
  return Object.assign(response, { send });
}

const refusal = '{"type":"refused","msg":"no","detail":"","engineMs":0}\n';

test('files of any size and view reach the engine in base64', async () => {
  const { send } = respond([refusal]);
  const bytes = randomBytes(200_000);
  const contents = [0, 1, 2, 49_152, 49_153, 150_000].map((size) => new Uint8Array(bytes).subarray(7, 7 + size));
  const inputs = contents.map((content) => ({ content, name: 'ä"', format: 'png', size: content.length }));

  await invokeEngine('image', { ...request, inputs }, new AbortController().signal).next();

  const [command] = send.mock.calls[0] ?? [];
  const { Payload } = Object(command).input;
  const expected = contents.map((content) => Buffer.from(content).toString('base64'));
  expect(JSON.parse(Payload.toString()).inputs).toEqual(
    inputs.map((input, index) => ({ ...input, content: expected[index] })),
  );
});

// Regression: each response kept one of the 50 connections of a worker, which then waited until one was closed.
test('a response is read to its end although the caller needs its first line only', async () => {
  const response = respond([refusal]);
  for await (const { type } of invokeEngine('image', request, new AbortController().signal)) {
    expect(type).toBe('refused');
    break;
  }
  await until('the response is read', () => response.isRead || undefined, { seconds: 10 });
});

test('so is one that makes no sense', async () => {
  const response = respond(['no JSON\n', refusal]);
  await expect(invokeEngine('image', request, new AbortController().signal).next()).rejects.toThrow();
  await until('the response is read', () => response.isRead || undefined, { seconds: 10 });
});

test.each([
  ['false', 'user'],
  ['true', undefined],
])('with a single tenant (%s), the environments of the engine are those of the tenant %s', async (single, tenant) => {
  vi.stubEnv('LATHE_SINGLE_TENANT', single);
  const { send } = respond([refusal]);

  await invokeEngine('image', request, new AbortController().signal).next();

  const [command] = send.mock.lastCall ?? [];
  expect(command).toBeInstanceOf(InvokeWithResponseStreamCommand);
  expect(command?.input).toMatchObject({ FunctionName: 'engine' });
  expect(Object(command?.input).TenantId).toBe(tenant);
});

test('an engine that Lambda refuses is asked for three seconds, and then the task is given back', async () => {
  const { send } = respond([refusal]);
  send.mockRejectedValue(new TooManyRequestsException({ message: 'Rate Exceeded.', $metadata: {} }));
  const began = Date.now();

  await expect(invokeEngine('image', request, new AbortController().signal).next()).rejects.toMatchObject({
    name: 'NoEngineFree',
  });

  expect(Date.now() - began).toBeGreaterThanOrEqual(3_000);
  expect(send.mock.calls.length).toBeGreaterThan(3);
});

test('an engine that does not end is left when the caller gives up', async () => {
  const connection = new AbortController();
  const { send } = respond([refusal]);
  async function* endless(signal: AbortSignal) {
    yield { PayloadChunk: { Payload: Buffer.from('{"type":"progress","percent":1}\n') } };
    await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))));
  }
  send.mockImplementation(async (_command, options) => ({
    EventStream: endless(Object(options).abortSignal),
  }));
  const responses = invokeEngine('image', request, new AbortController().signal, connection);
  await responses.next();
  const next = responses.next();
  connection.abort();

  await expect(next).rejects.toThrow('aborted');
});
