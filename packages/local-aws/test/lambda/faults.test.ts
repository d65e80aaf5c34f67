import { expect, test } from 'vitest';
import type { EnvironmentFaults } from '../../src/lambda/faults.ts';
import { eventually } from './fixtures/eventually.ts';
import { fixtureFunction, fixtureRuntime } from './fixtures/functions.ts';

const none: EnvironmentFaults = {
  credentialsExpireAt: () => Number.POSITIVE_INFINITY,
  isRecycled: () => false,
  isDisconnected: () => false,
  killAfterMs: () => undefined,
};

test('an environment that is recycled between invocations is replaced by another', async () => {
  const choices = [true, true, false];
  await using runtime = fixtureRuntime({ faults: { ...none, isRecycled: () => choices.shift() ?? false } });
  const fn = fixtureFunction('count');

  const first = await runtime.invoke(fn, {});
  const second = await runtime.invoke(fn, {});
  const third = await runtime.invoke(fn, {});
  const fourth = await runtime.invoke(fn, {});

  expect([first, second, third, fourth].map((result) => Object(result).invocations)).toEqual([1, 1, 1, 2]);
});

test('an environment is replaced before its credentials could expire during an invocation', async () => {
  const timeoutSeconds = 10;
  const lifetimes = [timeoutSeconds * 1000 + 3_000, 3_600_000];
  const issued: (number | undefined)[] = [];
  await using runtime = fixtureRuntime({
    faults: { ...none, credentialsExpireAt: () => Date.now() + (lifetimes.shift() ?? 0) },
    environmentOf: (_fn, expiresAt) => {
      issued.push(expiresAt);
      return {};
    },
  });
  const fn = fixtureFunction('count', { timeoutSeconds });

  await runtime.invoke(fn, {});
  // The first credentials then expire before an invocation could time out.
  await eventually(() => Date.now() + timeoutSeconds * 1000 > (issued[0] ?? 0));
  const second = await runtime.invoke(fn, {});
  const third = await runtime.invoke(fn, {});

  expect([second, third].map((result) => Object(result).invocations)).toEqual([1, 2]);
  expect(issued).toHaveLength(2);
});

test('an invocation whose environment is killed fails, and the next has another environment', async () => {
  const delays: (number | undefined)[] = [20];
  await using runtime = fixtureRuntime({ faults: { ...none, killAfterMs: () => delays.shift() } });
  const fn = fixtureFunction('hang');

  await expect(runtime.invoke(fn, {})).rejects.toMatchObject({
    errorType: 'Runtime.ExitError',
    message: 'Runtime exited with error: signal: SIGKILL',
  });
  const echo = fixtureFunction('echo');
  expect(await runtime.invoke(echo, 1)).toBe(1);
});

test('an invocation that has ended in time is not killed, nor the next in the same environment', async () => {
  const delays: (number | undefined)[] = [2_000];
  await using runtime = fixtureRuntime({ faults: { ...none, killAfterMs: () => delays.shift() } });
  const fn = fixtureFunction('tick');
  const event = { file: '/dev/null', milliseconds: 0 };

  const first = await runtime.invoke(fn, event);
  const second = await runtime.invoke(fn, { ...event, milliseconds: 2_500 });

  expect(second).toEqual(first);
});

test('the connections of a frozen environment are closed by its access key', async () => {
  const closed: string[] = [];
  await using runtime = fixtureRuntime({
    faults: { ...none, isDisconnected: () => true },
    environmentOf: () => ({ AWS_ACCESS_KEY_ID: 'ASIAKEY' }),
    disconnect: (accessKeyId) => closed.push(accessKeyId),
  });

  await runtime.invoke(fixtureFunction('echo'), 1);
  await expect.poll(() => closed).toEqual(['ASIAKEY']);
});
