import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isAlive } from '../../../../test/support/processes.ts';
import { eventually } from './fixtures/eventually.ts';
import { linesOf, temporaryFolder } from './fixtures/files.ts';
import { fixtureFunction, fixtureRuntime } from './fixtures/functions.ts';

test('a zip function runs concurrent invocations in separate environments', async () => {
  await using runtime = fixtureRuntime();
  using temporary = temporaryFolder();
  const folder = temporary.path;
  const fn = fixtureFunction('hold');

  const held = ['a', 'b', 'c'].map((name) => runtime.invoke(fn, { name, folder }));
  await eventually(() => linesOf(join(folder, 'began')).length === 3);
  for (const name of ['c', 'a', 'b']) writeFileSync(join(folder, `release-${name}`), '');

  const results = await Promise.all(held);
  expect(results).toMatchObject([{ name: 'a' }, { name: 'b' }, { name: 'c' }]);
  expect(new Set(results.map((result) => Object(result).pid)).size).toBe(3);
});

test('short invocations share an environment instead of starting one each', async () => {
  await using runtime = fixtureRuntime();
  const fn = fixtureFunction('count');
  await runtime.invoke(fn, {});

  const results = await Promise.all(Array.from({ length: 20 }, () => runtime.invoke(fn, {})));

  expect(new Set(results.map((result) => Object(result).pid)).size).toBeLessThan(10);
});

test('if no processor is free, invocations that end in turn share an environment, and long ones do not', async () => {
  await using runtime = fixtureRuntime({ load: { isBusy: true } });
  using temporary = temporaryFolder();
  const folder = temporary.path;
  const short = fixtureFunction('count');
  await runtime.invoke(short, {});
  const held = fixtureFunction('hold');

  const results = await Promise.all(Array.from({ length: 1_000 }, () => runtime.invoke(short, {})));
  const holding = ['a', 'b', 'c'].map((name) => runtime.invoke(held, { name, folder }));
  await eventually(() => linesOf(join(folder, 'began')).length === 3);
  for (const name of ['a', 'b', 'c']) writeFileSync(join(folder, `release-${name}`), '');

  // One, or two if this machine stalled; on an idle machine it is a dozen.
  expect(new Set(results.map((result) => Object(result).pid)).size).toBeLessThan(5);
  expect(new Set((await Promise.all(holding)).map((result) => Object(result).pid)).size).toBe(3);
});

test('if no processor is free, many clients share environments that end their invocations in turn', async () => {
  await using runtime = fixtureRuntime({ load: { isBusy: true } });
  const fn = fixtureFunction('count');
  await runtime.invoke(fn, {});

  const clients = Array.from({ length: 1_000 }, (_, index) => `client ${index}`);
  const results = await Promise.all(clients.map((client) => runtime.invoke(fn, {}, { client })));

  expect(new Set(results.map((result) => Object(result).pid)).size).toBeLessThan(5);
});

test('an invocation that times out ends no other', async () => {
  await using runtime = fixtureRuntime();
  using temporary = temporaryFolder();
  const folder = temporary.path;
  const fn = fixtureFunction('hold', { timeoutSeconds: 2 });
  const slow = runtime.invoke(fn, { name: 'slow', folder });
  slow.catch(() => {});
  await eventually(() => linesOf(join(folder, 'began')).includes('slow'));
  const began = Date.now();
  await eventually(() => Date.now() - began > 1_000);
  const late = runtime.invoke(fn, { name: 'late', folder });

  await expect(slow).rejects.toMatchObject({ errorType: 'Sandbox.Timedout' });
  writeFileSync(join(folder, 'release-late'), '');

  expect(await late).toMatchObject({ name: 'late' });
});

test('an idle environment ends and the next invocation starts another', async () => {
  await using runtime = fixtureRuntime({ idleSeconds: 0.05 });
  const fn = fixtureFunction('count');
  const first = Object(await runtime.invoke(fn, {}));
  await eventually(async () => !(await isAlive(first.pid)));

  const second = Object(await runtime.invoke(fn, {}));

  expect(second).toMatchObject({ invocations: 1 });
  expect(second.pid).not.toBe(first.pid);
});

test('of too many idle environments, the least recently used one ends after a while', async () => {
  await using runtime = fixtureRuntime({ maxIdle: 2, burstSeconds: 0.05 });
  const [often, once, last] = [fixtureFunction('count'), fixtureFunction('count'), fixtureFunction('count')];
  await runtime.invoke(often, {});
  const { pid } = Object(await runtime.invoke(once, {}));
  await eventually(() => stateOf(pid) === 'T');
  await runtime.invoke(often, {});
  await runtime.invoke(last, {});
  await eventually(async () => !(await isAlive(pid)));

  const counted = [];
  for (const fn of [often, last, once]) counted.push(await runtime.invoke(fn, {}));

  expect(counted).toMatchObject([{ invocations: 3 }, { invocations: 2 }, { invocations: 1 }]);
});

test('environments of a burst are reused by the next one', async () => {
  await using runtime = fixtureRuntime({ maxIdle: 1 });
  using temporary = temporaryFolder();
  const folder = temporary.path;
  const fn = fixtureFunction('hold');
  const burst = async (...names: string[]) => {
    const held = names.map((name) => runtime.invoke(fn, { name, folder }));
    await eventually(() => names.every((name) => linesOf(join(folder, 'began')).includes(name)));
    for (const name of names) writeFileSync(join(folder, `release-${name}`), '');
    return (await Promise.all(held)).map((result) => Object(result).pid).toSorted();
  };

  expect(await burst('c', 'd')).toEqual(await burst('a', 'b'));
});

test('an environment with an invocation is not idle', async () => {
  await using runtime = fixtureRuntime({ idleSeconds: 0.01, maxIdle: 0 });
  using temporary = temporaryFolder();
  const folder = temporary.path;
  const long = runtime.invoke(fixtureFunction('hold'), { name: 'long', folder });
  await eventually(() => linesOf(join(folder, 'began')).length === 1);

  await runtime.invoke(fixtureFunction('count'), {});
  writeFileSync(join(folder, 'release-long'), '');

  expect(await long).toMatchObject({ name: 'long' });
});

test('zip functions share a number of environments, and idle ones make room', async () => {
  await using runtime = fixtureRuntime({ maxZip: 2 });
  using temporary = temporaryFolder();
  const folder = temporary.path;
  const held = ['a', 'b', 'c'].map((name) => runtime.invoke(fixtureFunction('hold'), { name, folder }));
  const began = () => linesOf(join(folder, 'began')).toSorted();
  await eventually(() => began().length === 2);
  const first = began();

  for (const name of ['a', 'b', 'c']) writeFileSync(join(folder, `release-${name}`), '');

  expect(first).toEqual(['a', 'b']);
  expect(await Promise.all(held)).toMatchObject([{ name: 'a' }, { name: 'b' }, { name: 'c' }]);
});

test.each(['zip', 'image'] as const)(
  'a function packaged as %s refuses invocations beyond its reserved concurrency until one has ended, and starts no more environments',
  async (packaging) => {
    const outcomes: string[] = [];
    await using runtime = fixtureRuntime({ cores: 4, onInvoked: (_, outcome) => outcomes.push(outcome) });
    using temporary = temporaryFolder();
    const folder = temporary.path;
    const fn = fixtureFunction('hold', { packaging, reservedConcurrency: 2 });
    const hold = (name: string) => runtime.invoke(fn, { name, folder });

    const first = ['a', 'b'].map(hold);
    await expect(hold('c')).rejects.toMatchObject({ errorType: 'TooManyRequestsException' });
    await eventually(() => linesOf(join(folder, 'began')).length === 2);
    for (const name of ['a', 'b', 'd']) writeFileSync(join(folder, `release-${name}`), '');
    const results = [...(await Promise.all(first)), await hold('d')];

    expect(results).toMatchObject([{ name: 'a' }, { name: 'b' }, { name: 'd' }]);
    expect(new Set(results.map((result) => Object(result).pid)).size).toBe(2);
    expect(outcomes).toEqual(['throttled', 'succeeded', 'succeeded', 'succeeded']);
  },
);

test('a client with many requests does not delay another', async () => {
  await using runtime = fixtureRuntime({ cores: 1, maxZip: 2 });
  using temporary = temporaryFolder();
  const folder = temporary.path;
  const fn = fixtureFunction('hold');
  const hold = (name: string, client: string) => runtime.invoke(fn, { name, folder }, { client });
  const began = () => linesOf(join(folder, 'began'));

  const held = ['a', 'b', 'c', 'd'].map((name) => hold(name, 'ann'));
  await eventually(() => began().length === 2);
  held.push(hold('e', 'bob'));
  writeFileSync(join(folder, 'release-a'), '');
  await eventually(() => began().length === 3);
  const third = began().at(-1);
  for (const name of ['b', 'c', 'd', 'e']) writeFileSync(join(folder, `release-${name}`), '');
  await Promise.all(held);

  expect(third).toBe('e');
});

test('all functions without reserved concurrency share that of the account', async () => {
  await using runtime = fixtureRuntime({ accountConcurrency: 2 });
  using temporary = temporaryFolder();
  const folder = temporary.path;
  const hold = (name: string) => runtime.invoke(fixtureFunction('hold'), { name, folder });
  const another = fixtureFunction('count');

  const held = ['a', 'b'].map(hold);
  await expect(runtime.invoke(another, {})).rejects.toMatchObject({ errorType: 'TooManyRequestsException' });
  expect(await runtime.invoke({ ...another, reservedConcurrency: 1 }, {})).toMatchObject({ invocations: 1 });
  for (const name of ['a', 'b']) writeFileSync(join(folder, `release-${name}`), '');
  await Promise.all(held);

  expect(await runtime.invoke(another, {})).toMatchObject({ invocations: 2 });
});

test('a function that failed, exited or timed out releases its reserved concurrency', async () => {
  await using runtime = fixtureRuntime();
  for (const handler of ['fail', 'exit', 'hang']) {
    const fn = fixtureFunction(handler, { reservedConcurrency: 1, timeoutSeconds: 1 });
    for (const _ of [1, 2])
      await expect(runtime.invoke(fn, {}), handler).rejects.not.toMatchObject({
        errorType: 'TooManyRequestsException',
      });
  }
});

test('a function with a reserved concurrency of 0 refuses every invocation, and each outcome is counted', async () => {
  const outcomes: string[] = [];
  await using runtime = fixtureRuntime({ onInvoked: (_, outcome) => outcomes.push(outcome) });
  const fn = fixtureFunction('count', { reservedConcurrency: 0 });

  await expect(runtime.invoke(fn, {})).rejects.toMatchObject({ errorType: 'TooManyRequestsException' });
  fn.reservedConcurrency = undefined;
  await runtime.invoke(fn, {});

  expect(outcomes).toEqual(['throttled', 'succeeded']);
});

test.each(['zip', 'image'] as const)('a %s function is frozen between invocations', async (packaging) => {
  await using runtime = fixtureRuntime();
  using temporary = temporaryFolder();
  const file = join(temporary.path, 'ticks');
  const fn = fixtureFunction('tick', { packaging });
  await runtime.invoke(fn, { file });
  const { pid } = Object(await runtime.invoke(fn, { file }));
  await eventually(() => stateOf(pid) === 'T');
  const before = linesOf(file);
  const began = Date.now();
  await eventually(() => Date.now() - began > 300);
  const frozen = linesOf(file);

  await runtime.invoke(fn, { file, milliseconds: 100 });

  expect(frozen).toEqual(before);
  expect(linesOf(file).length).toBeGreaterThan(before.length);
});

test('descendants of a function are frozen with it, in its group or not', async () => {
  await using runtime = fixtureRuntime();
  const fn = fixtureFunction('keepChildren', { packaging: 'image' });

  const { pids } = Object(await runtime.invoke(fn, {}));

  await eventually(() => pids.every((pid: number) => stateOf(pid) === 'T'));
  const states = Object(await runtime.invoke(fn, {})).states;
  expect(states).toHaveLength(2);
  expect(states).not.toContain('T');
});

test.each([
  [{}, 4],
  [{ NODE_OPTIONS: '--max-semi-space-size=2' }, 2],
])('the young generation of a zip function is bounded (environment %o: %i MB)', async (environment, megabytes) => {
  await using runtime = fixtureRuntime();

  const limits = await runtime.invoke(fixtureFunction('limits', { environment, memoryMegabytes: 256 }), {});

  // V8's limit is the old generation and three times the maximum of a semi-space.
  expect(limits).toEqual({ heapMegabytes: 256 + 3 * megabytes });
});

function stateOf(pid: number): string | undefined {
  return /\) (\S) /.exec(readFileSync(`/proc/${pid}/stat`, 'latin1'))?.[1];
}
