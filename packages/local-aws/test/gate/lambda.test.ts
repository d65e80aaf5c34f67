import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import {
  InvokeCommand,
  InvokeWithResponseStreamCommand,
  type InvokeWithResponseStreamResponseEvent,
  LambdaClient,
  TooManyRequestsException,
} from '@aws-sdk/client-lambda';
import { expect, test } from 'vitest';
import type { LocalFunction } from '../../src/template/model.ts';
import { eventually } from '../lambda/fixtures/eventually.ts';
import { temporaryFolder } from '../lambda/fixtures/files.ts';
import { fixtureFunction, fixtureRuntime } from '../lambda/fixtures/functions.ts';
import { accountId, allow, type LocalAws, nothing, role, startLocalAws } from './fixture.ts';

const streams = fileURLToPath(new URL('../lambda/fixtures/streams.ts', import.meta.url));

function named(handler: string, changes: Partial<LocalFunction> = {}): LocalFunction {
  return fixtureFunction(handler, {
    name: handler,
    arn: `arn:aws:lambda:eu-central-1:${accountId}:function:${handler}`,
    ...changes,
  });
}

const functions = [
  named('echo'),
  named('fail'),
  named('count', { reservedConcurrency: 0 }),
  named('describeContext', { perTenant: true }),
  ...['lines', 'failBefore', 'failAfter', 'flood'].map((name) => named(name, { entry: streams })),
];
const invoker = role(
  'Invoker',
  functions.map(({ arn }) => allow(['lambda:InvokeFunction'], [arn])),
);

async function startFunctions() {
  const runtime = fixtureRuntime();
  const aws = await startLocalAws({
    roles: [invoker],
    change: (stack) => stack.functions.push(...functions),
    functions: runtime,
  });
  return {
    aws,
    client: clientOf(aws),
    async [Symbol.asyncDispose]() {
      await aws[Symbol.asyncDispose]();
      await runtime.stop();
    },
  };
}

function clientOf(aws: LocalAws, caller = invoker): LambdaClient {
  return new LambdaClient({
    endpoint: `${aws.origin}/_aws/lambda`,
    region: 'eu-central-1',
    credentials: aws.credentials(caller),
    maxAttempts: 1,
  });
}

async function stream(client: LambdaClient, FunctionName: string, event: unknown = {}) {
  const { EventStream } = await client.send(
    new InvokeWithResponseStreamCommand({ FunctionName, Payload: JSON.stringify(event) }),
  );
  if (!EventStream) throw new Error('The response has no stream.');
  return EventStream[Symbol.asyncIterator]();
}

function textOf(event: InvokeWithResponseStreamResponseEvent | undefined): string {
  return Buffer.from(event?.PayloadChunk?.Payload ?? []).toString();
}

test('a line reaches the caller before the function ends', async () => {
  await using local = await startFunctions();
  using temporary = temporaryFolder();
  const release = join(temporary.path, 'release');

  const events = await stream(local.client, 'lines', { release });
  const first = await events.next();
  writeFileSync(release, '');
  const rest = [await events.next(), await events.next(), await events.next()];

  expect(textOf(first.value)).toBe('first\n');
  expect(textOf(rest[0]?.value)).toBe('second\n');
  expect(rest[1]?.value).toMatchObject({ InvokeComplete: {} });
  expect(rest[1]?.value?.InvokeComplete?.ErrorCode).toBeUndefined();
  expect(rest[2]?.done).toBe(true);
});

test('an error in the middle arrives with the end of the stream', async () => {
  await using local = await startFunctions();

  const events = await stream(local.client, 'failAfter');
  const [first, end] = [await events.next(), await events.next()];

  expect(textOf(first.value)).toBe('first\n');
  expect(end.value?.InvokeComplete?.ErrorCode).toBe('RangeError');
  expect(JSON.parse(end.value?.InvokeComplete?.ErrorDetails ?? '')).toMatchObject({ errorMessage: 'broke off' });
});

test('an error before the first byte arrives with the end of the stream', async () => {
  await using local = await startFunctions();

  const events = await stream(local.client, 'failBefore');

  expect((await events.next()).value?.InvokeComplete?.ErrorCode).toBe('RangeError');
});

test('a response of many chunks arrives whole', async () => {
  await using local = await startFunctions();

  const events = await stream(local.client, 'flood', { megabytes: 10 });

  let size = 0;
  for (let event = await events.next(); !event.done; event = await events.next()) {
    size += event.value.PayloadChunk?.Payload?.length ?? 0;
  }
  expect(size).toBe(10 * 1024 * 1024);
});

test('a function can be invoked by name, ARN or partial ARN', async () => {
  await using local = await startFunctions();
  const invoke = (FunctionName: string) =>
    local.client.send(new InvokeCommand({ FunctionName, Payload: JSON.stringify({ a: 1 }) }));

  const results = await Promise.all(
    ['echo', `arn:aws:lambda:eu-central-1:${accountId}:function:echo`, `${accountId}:function:echo`].map(invoke),
  );

  expect(results.map(({ Payload }) => Buffer.from(Payload ?? []).toString())).toEqual(Array(3).fill('{"a":1}'));
  expect(results[0]).toMatchObject({ StatusCode: 200, ExecutedVersion: '$LATEST' });
});

test('reports a failed function in the header and the payload', async () => {
  await using local = await startFunctions();

  const result = await local.client.send(new InvokeCommand({ FunctionName: 'fail' }));

  expect(result.FunctionError).toBe('Unhandled');
  expect(JSON.parse(Buffer.from(result.Payload ?? []).toString())).toEqual({
    errorType: 'RangeError',
    errorMessage: 'out of range',
  });
});

test('a role without the permission is refused', async () => {
  await using local = await startFunctions();
  const client = clientOf(local.aws, nothing);

  const refused = stream(client, 'echo');

  await expect(refused).rejects.toMatchObject({ name: 'AccessDeniedException', $metadata: { httpStatusCode: 403 } });
  expect(local.aws.denials).toMatchObject([
    { action: 'lambda:InvokeFunction', resource: `arn:aws:lambda:eu-central-1:${accountId}:function:echo` },
  ]);
});

test('a signature for another service is refused', async () => {
  await using local = await startFunctions();
  const client = new DynamoDBClient({
    endpoint: `${local.aws.origin}/_aws/lambda/2015-03-31/functions/echo/invocations`,
    region: 'eu-central-1',
    credentials: local.aws.credentials(invoker),
    maxAttempts: 1,
  });

  const refused = client.send(new ListTablesCommand());

  await expect(refused).rejects.toMatchObject({ name: 'IncompleteSignatureException' });
});

test.each([
  ['a function that is not there', { FunctionName: 'absent' }, 'AccessDeniedException'],
  ['a version', { FunctionName: 'echo', Qualifier: '3' }, 'UnknownOperationException'],
  ['an asynchronous invocation', { FunctionName: 'echo', InvocationType: 'Event' }, 'UnknownOperationException'],
  ['a payload that is not JSON', { FunctionName: 'echo', Payload: '{' }, 'InvalidRequestContentException'],
  ['a tenant of a function without any', { FunctionName: 'echo', TenantId: 'ann' }, 'InvalidParameterValueException'],
  ['no tenant of a function with some', { FunctionName: 'describeContext' }, 'InvalidParameterValueException'],
  ['an odd tenant', { FunctionName: 'describeContext', TenantId: 'ann?' }, 'ValidationException'],
  ['a long tenant', { FunctionName: 'describeContext', TenantId: 'a'.repeat(257) }, 'ValidationException'],
  ['a payload over 6 MB', { FunctionName: 'echo', Payload: `"${'x'.repeat(6_291_556)}"` }, 'RequestTooLargeException'],
] as const)('%s is refused', async (_, input, name) => {
  await using local = await startFunctions();

  await expect(local.client.send(new InvokeCommand(input))).rejects.toMatchObject({ name });
});

test('a function with tenants receives the tenant from the caller', async () => {
  await using local = await startFunctions();
  const target = { FunctionName: 'describeContext', TenantId: 'a.b_c:d/e=f+g-h@i j' };

  const { Payload } = await local.client.send(new InvokeCommand(target));
  const refused = local.client.send(new InvokeWithResponseStreamCommand({ FunctionName: 'describeContext' }));

  expect(JSON.parse(Buffer.from(Payload ?? []).toString()).tenantId).toBe(target.TenantId);
  await expect(refused).rejects.toMatchObject({
    name: 'InvalidParameterValueException',
    message: expect.stringContaining('Add a valid tenant ID in your request'),
    $metadata: { httpStatusCode: 400 },
  });
});

test('an invocation beyond the reserved concurrency is refused as throttled, before any stream', async () => {
  await using local = await startFunctions();

  const refused = [
    local.client.send(new InvokeCommand({ FunctionName: 'count' })),
    local.client.send(new InvokeWithResponseStreamCommand({ FunctionName: 'count' })),
  ];

  for (const { status, reason } of (await Promise.allSettled<unknown>(refused)).map(Object)) {
    expect(status).toBe('rejected');
    expect(reason).toBeInstanceOf(TooManyRequestsException);
    expect(reason.$metadata.httpStatusCode).toBe(429);
  }
});

test('a function continues after its caller disconnects', async () => {
  await using local = await startFunctions();
  using temporary = temporaryFolder();
  const release = join(temporary.path, 'release');
  const ended = join(temporary.path, 'ended');
  const events = await stream(local.client, 'lines', { release, ended });
  await events.next();

  local.client.destroy();
  writeFileSync(release, '');

  await eventually(() => existsSync(ended));
});
