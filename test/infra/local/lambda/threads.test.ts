import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { eventually } from './fixtures/eventually.ts';
import { linesOf, temporaryFolder } from './fixtures/files.ts';
import { fixtureFunction, fixtureRuntime } from './fixtures/functions.ts';

test('a zip function serves many invocations at once in one thread', async () => {
  await using runtime = fixtureRuntime();
  using temporary = temporaryFolder();
  const folder = temporary.path;
  const fn = fixtureFunction('hold');

  const held = ['a', 'b', 'c'].map((name) => runtime.invoke(fn, { name, folder }));
  await eventually(() => linesOf(join(folder, 'began')).length === 3);
  for (const name of ['c', 'a', 'b']) writeFileSync(join(folder, `release-${name}`), '');

  const results = await Promise.all(held);
  expect(results).toMatchObject([{ name: 'a' }, { name: 'b' }, { name: 'c' }]);
});

test('an invocation that times out does not take the others of its thread with it', async () => {
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

test('a crash fails every invocation of its thread and no other function', async () => {
  await using runtime = fixtureRuntime();
  using temporary = temporaryFolder();
  const folder = temporary.path;
  const other = runtime.invoke(fixtureFunction('hold'), { name: 'other', folder });
  const fn = fixtureFunction('exit');

  const crashes = await Promise.allSettled([runtime.invoke(fn, {}), runtime.invoke(fn, {})]);

  writeFileSync(join(folder, 'release-other'), '');
  expect(crashes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await other).toMatchObject({ name: 'other' });
});

test('an idle thread ends and the next invocation starts another', async () => {
  await using runtime = fixtureRuntime({ idleSeconds: 0.05 });
  const fn = fixtureFunction('count');
  const started = once(process, 'worker');
  const first = Object(await runtime.invoke(fn, {}));
  const [thread] = await started;
  await eventually(() => thread.threadId === -1);

  const second = Object(await runtime.invoke(fn, {}));

  expect(second).toMatchObject({ invocations: 1 });
  expect(second.threadId).not.toBe(first.threadId);
});

test('of too many idle threads the one unused for longest ends', async () => {
  await using runtime = fixtureRuntime({ maxIdleThreads: 2 });
  const [often, once, last] = [fixtureFunction('count'), fixtureFunction('count'), fixtureFunction('count')];
  for (const fn of [often, once, often, last]) await runtime.invoke(fn, {});

  const counted = [];
  for (const fn of [often, last, once]) counted.push(await runtime.invoke(fn, {}));

  expect(counted).toMatchObject([{ invocations: 3 }, { invocations: 2 }, { invocations: 1 }]);
});

test('a thread with an invocation left is not idle', async () => {
  await using runtime = fixtureRuntime({ idleSeconds: 0.01, maxIdleThreads: 0 });
  using temporary = temporaryFolder();
  const folder = temporary.path;
  const fn = fixtureFunction('hold');
  const long = runtime.invoke(fn, { name: 'long', folder });
  const short = runtime.invoke(fn, { name: 'short', folder });
  await eventually(() => linesOf(join(folder, 'began')).length === 2);

  writeFileSync(join(folder, 'release-short'), '');
  await short;
  await runtime.invoke(fixtureFunction('count'), {});
  writeFileSync(join(folder, 'release-long'), '');

  expect(await long).toMatchObject({ name: 'long' });
});

test.each([
  [{}, 12],
  [{ NODE_OPTIONS: '--max-semi-space-size=2' }, 6],
])('the young generation of a thread is bounded (environment %o: %i MB)', async (environment, megabytes) => {
  await using runtime = fixtureRuntime();

  const limits = await runtime.invoke(fixtureFunction('limits', { environment }), {});

  expect(limits).toMatchObject({ maxYoungGenerationSizeMb: megabytes });
});
