import { InvokeWithResponseStreamCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { expect, test, vi } from 'vitest';
import type { EngineRequest } from '../../../functions/engines/runtime/protocol.ts';
import { invokeEngine } from '../../../functions/engines/runtime/worker/invoke-engine.ts';
import { until } from '../../support/until.ts';

const request: EngineRequest = {
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
  vi.stubEnv('LATHE_ENGINE_FUNCTION', 'engine');
  const send = vi.spyOn(LambdaClient.prototype, 'send').mockImplementation(async () => ({ EventStream: stream() }));
  return Object.assign(response, { send });
}

const refusal = '{"type":"refused","msg":"no","detail":"","engineMs":0}\n';

// Regression: each response kept one of the 50 connections of a worker, which then waited until one was closed.
test('a response is read to its end although the caller needs its first line only', async () => {
  const response = respond([refusal]);
  for await (const { type } of invokeEngine(request, new AbortController().signal)) {
    expect(type).toBe('refused');
    break;
  }
  await until('the response is read', () => response.isRead || undefined, { seconds: 10 });
});

test('so is one that makes no sense', async () => {
  const response = respond(['no JSON\n', refusal]);
  await expect(invokeEngine(request, new AbortController().signal).next()).rejects.toThrow();
  await until('the response is read', () => response.isRead || undefined, { seconds: 10 });
});

test.each([
  ['false', 'user'],
  ['true', undefined],
])('with a single tenant (%s), the environments of the engine are those of the tenant %s', async (single, tenant) => {
  vi.stubEnv('LATHE_SINGLE_TENANT', single);
  const { send } = respond([refusal]);

  await invokeEngine(request, new AbortController().signal).next();

  const [command] = send.mock.lastCall ?? [];
  expect(command).toBeInstanceOf(InvokeWithResponseStreamCommand);
  expect(command?.input).toMatchObject({ FunctionName: 'engine' });
  expect(Object(command?.input).TenantId).toBe(tenant);
});
