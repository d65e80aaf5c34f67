import { existsSync } from 'node:fs';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { asOrdinaryUser } from '../../../../test/support/ordinary-user.ts';
import { eventually } from './fixtures/eventually.ts';
import { temporaryFolder } from './fixtures/files.ts';
import { fixtureFunction, fixtureRuntime } from './fixtures/functions.ts';

const fixture = (name: string) => fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url));

describe.each(['zip', 'image'] as const)('a %s function', (packaging) => {
  test('resolves with what the handler returned', async () => {
    await using runtime = fixtureRuntime();

    const result = await runtime.invoke(fixtureFunction('echo', { packaging }), { a: [1, 'ü', null] });

    expect(result).toEqual({ a: [1, 'ü', null] });
  });

  test('resolves with null when the handler returns nothing', async () => {
    await using runtime = fixtureRuntime();

    const result = await runtime.invoke(fixtureFunction('nothing', { packaging }), {});

    expect(result).toBeNull();
  });

  test('stays warm between invocations', async () => {
    await using runtime = fixtureRuntime();
    const fn = fixtureFunction('count', { packaging });

    const first = await runtime.invoke(fn, {});
    const second = await runtime.invoke(fn, {});

    expect(first).toMatchObject({ invocations: 1 });
    expect(second).toEqual({ ...Object(first), invocations: 2 });
  });

  test('receives the context of Lambda', async () => {
    await using runtime = fixtureRuntime();
    const fn = fixtureFunction('describeContext', { packaging, timeoutSeconds: 7 });

    const context = await runtime.invoke(fn, {});

    expect(context).toMatchObject({
      functionName: fn.name,
      functionVersion: '$LATEST',
      invokedFunctionArn: fn.arn,
      memoryLimitInMB: '256',
      awsRequestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      logGroupName: `/aws/lambda/${fn.name}`,
      logStreamName: expect.stringContaining('[$LATEST]'),
      callbackWaitsForEmptyEventLoop: true,
      remaining: expect.closeTo(7000, -3),
    });
  });

  test('sees its own environment and nothing of the host', async () => {
    await using runtime = fixtureRuntime();
    const fn = fixtureFunction('environment', {
      packaging,
      environment: { TABLE: 'records', AWS_ACCESS_KEY_ID: 'KEY' },
    });
    process.env.HOST_SECRET = 'hidden';

    const environment = await runtime.invoke(fn, {});

    delete process.env.HOST_SECRET;
    expect(environment).toMatchObject({
      TABLE: 'records',
      AWS_ACCESS_KEY_ID: 'KEY',
      AWS_REGION: 'eu-central-1',
      AWS_LAMBDA_FUNCTION_NAME: fn.name,
      AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '256',
      _HANDLER: 'handlers.environment',
    });
    const given =
      /^(AWS_|LAMBDA_|_HANDLER$|_X_AMZN_TRACE_ID$|TABLE$|PATH$|HOME$|LANG$|TMPDIR$|TZ$|NODE_COMPILE_CACHE$)/;
    expect(Object.keys(Object(environment)).filter((name) => !given.test(name))).toEqual([]);
  });

  test('runs at a lower priority than the service if no client waits for it', async () => {
    await using runtime = fixtureRuntime();

    expect(await runtime.invoke(fixtureFunction('priority', { packaging }), {})).toBeGreaterThan(getPriority());
  });

  test('also runs at a lower priority for an ordinary user who starts the service by nice', async () => {
    const printed = await asOrdinaryUser(
      `
      import { fixtureFunction, fixtureRuntime } from '${fixture('functions.ts')}';
      await using runtime = fixtureRuntime();
      console.log(await runtime.invoke(fixtureFunction('priority', { packaging: '${packaging}', timeoutSeconds: 60 }), {}));`,
      ['nice', '-n', '12'],
    );

    expect(Number(printed)).toBe(19);
  });

  test('logs why it cannot be started', async () => {
    await using runtime = fixtureRuntime({ codeOf: () => Promise.reject(new Error('no code')) });

    await expect(runtime.invoke(fixtureFunction('echo', { packaging }), {})).rejects.toThrow('no code');
    expect(runtime.lines).toEqual(['stderr: Could not start: Error: no code']);
  });

  test('writes its output to the log line by line', async () => {
    await using runtime = fixtureRuntime();

    await runtime.invoke(fixtureFunction('speak', { packaging }), {});

    await eventually(() => runtime.lines.length === 3);
    expect(runtime.lines.toSorted()).toEqual(['stderr: three', 'stdout: one', 'stdout: two']);
  });

  test('rejects with the error that the handler threw and stays warm', async () => {
    await using runtime = fixtureRuntime();
    const fn = fixtureFunction('fail', { packaging });

    const failure = runtime.invoke(fn, {});

    await expect(failure).rejects.toMatchObject({
      name: 'FunctionError',
      errorType: 'RangeError',
      message: 'out of range',
    });
  });

  test.each([
    ['exits', 'exit', 'Runtime.ExitError', 'exit status 3'],
    ['leaves a rejection unhandled', 'reject', 'Runtime.UnhandledPromiseRejection', 'nobody listened'],
    ['throws outside the invocation', 'throwLater', 'TypeError', 'too late'],
    ['runs out of memory', 'exhaust', 'Runtime.ExitError', 'Runtime exited with error'],
  ])(
    'that %s fails its invocation and restarts for the next',
    async (_, handler, errorType, message) => {
      await using runtime = fixtureRuntime({ cores: 1 });
      const fn = fixtureFunction(handler, { packaging, memoryMegabytes: 128, timeoutSeconds: 60 });
      const bystander = fixtureFunction('count', { packaging });
      await runtime.invoke(bystander, {});

      const failures = [await settle(runtime.invoke(fn, {})), await settle(runtime.invoke(fn, {}))];

      for (const failure of failures) {
        expect(failure).toMatchObject({ errorType, message: expect.stringContaining(message) });
      }
      expect(await runtime.invoke(bystander, {})).toMatchObject({ invocations: 2 });
    },
    60_000,
  );

  test('that cannot be loaded is refused with the reason', async () => {
    await using runtime = fixtureRuntime();
    const fn = fixtureFunction('handler', { packaging, entry: fixture('broken.ts') });

    const failure = runtime.invoke(fn, {});

    await expect(failure).rejects.toMatchObject({
      errorType: 'Runtime.ImportModuleError',
      message: 'the module does not load',
    });
    await eventually(() => runtime.lines.some((line) => line.includes('the module does not load')));
  });

  test('without the named export is refused', async () => {
    await using runtime = fixtureRuntime();

    const failure = runtime.invoke(fixtureFunction('absent', { packaging }), {});

    await expect(failure).rejects.toMatchObject({ errorType: 'Runtime.HandlerNotFound' });
  });

  test.each(['hang', 'spin'])('that does not end in time (%s) is timed out', async (handler) => {
    await using runtime = fixtureRuntime({ cores: 1 });
    const fn = fixtureFunction(handler, { packaging, timeoutSeconds: 0.5 });

    const failures = [await settle(runtime.invoke(fn, {})), await settle(runtime.invoke(fn, {}))];

    for (const failure of failures) {
      expect(failure).toMatchObject({
        errorType: 'Sandbox.Timedout',
        message: 'Task timed out after 0.50 seconds',
      });
    }
  });

  test('that does not load in time is timed out', async () => {
    await using runtime = fixtureRuntime();
    const fn = fixtureFunction('handler', { packaging, entry: fixture('slow-start.ts'), timeoutSeconds: 1 });

    const failure = await settle(runtime.invoke(fn, {}));

    expect(failure).toMatchObject({ errorType: 'Sandbox.Timedout', message: 'Task timed out after 10.00 seconds' });
  });

  test('accepts events and results of 6 MB and refuses larger ones', async () => {
    await using runtime = fixtureRuntime();
    const limit = 6_291_556 - 2;

    const accepted = await runtime.invoke(fixtureFunction('echo', { packaging }), 'x'.repeat(limit));
    const request = await settle(runtime.invoke(fixtureFunction('echo', { packaging }), 'x'.repeat(limit + 1)));
    const result = await settle(runtime.invoke(fixtureFunction('large', { packaging }), { bytes: limit + 1 }));

    expect(accepted).toHaveLength(limit);
    expect(request).toMatchObject({ errorType: 'RequestTooLargeException' });
    expect(result).toMatchObject({ errorType: 'Function.ResponseSizeTooLarge' });
  });

  test('is ended by stop and not started again', async () => {
    const runtime = fixtureRuntime();
    const fn = fixtureFunction('hold', { packaging });
    using temporary = temporaryFolder();
    const folder = temporary.path;
    const held = settle(runtime.invoke(fn, { name: 'a', folder }));
    await eventually(() => existsSync(join(folder, 'began')));

    await runtime.stop();

    expect(await held).toMatchObject({ errorType: 'Runtime.ExitError' });
    await expect(runtime.invoke(fn, {})).rejects.toMatchObject({ errorType: 'Sandbox.Stopped' });
  });
});

async function settle(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    (value) => ({ value }),
    (error: unknown) => error,
  );
}
