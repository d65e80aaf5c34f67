import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { isAlive } from '../../../../test/support/processes.ts';
import { eventually } from './fixtures/eventually.ts';
import { linesOf, temporaryFolder } from './fixtures/files.ts';
import { fixtureFunction, fixtureRuntime } from './fixtures/functions.ts';

const image = (handler: string, changes = {}) => fixtureFunction(handler, { packaging: 'image', ...changes });

function stateOf(pid: string): string | undefined {
  return /\) (\S) /.exec(readFileSync(`/proc/${pid}/stat`, 'latin1'))?.[1];
}

async function noneAlive(pids: number[]): Promise<boolean> {
  return (await Promise.all(pids.map(isAlive))).every((alive) => !alive);
}

test('an image function runs one invocation per process, at most one more than cores, and the rest in order', async () => {
  await using runtime = fixtureRuntime({ cores: 1 });
  using temporary = temporaryFolder();
  const folder = temporary.path;
  const fn = image('hold');
  const names = ['a', 'b', 'c', 'd', 'e'];

  const held = names.map((name) => runtime.invoke(fn, { name, folder }));
  const began = () => linesOf(join(folder, 'began'));
  await eventually(() => began().length === 2);
  const first = began().toSorted();
  for (const [index, name] of names.entries()) {
    writeFileSync(join(folder, `release-${name}`), '');
    // Two that enter together write their names in any order, so they enter one at a time.
    await eventually(() => began().length === Math.min(names.length, index + 3));
  }
  const results = await Promise.all(held);

  expect(first).toEqual(['a', 'b']);
  expect(began().slice(2)).toEqual(['c', 'd', 'e']);
  expect(new Set(results.map((result) => Object(result).pid)).size).toBe(2);
});

test.each([
  ['a timeout', 'hang', 'Sandbox.Timedout', 2],
  ['a crash', 'die', 'Runtime.ExitError', 60],
])('%s ends all descendants of the process, in its group or not', async (_, end, errorType, timeoutSeconds) => {
  await using runtime = fixtureRuntime();
  using temporary = temporaryFolder();
  const pids = join(temporary.path, 'pids');

  const failure = runtime.invoke(image('breed', { timeoutSeconds }), { pids, end });

  await expect(failure).rejects.toMatchObject({ errorType });
  const started = linesOf(pids).map(Number);
  expect(started).toHaveLength(3);
  await eventually(() => noneAlive(started));
});

test('a killed host leaves no process, busy, waiting or frozen, and no folder', async () => {
  using temporary = temporaryFolder();
  const pids = join(temporary.path, 'pids');
  const script = fileURLToPath(new URL('./fixtures/parent.ts', import.meta.url));
  const parent = spawn(process.execPath, [script, pids], {
    stdio: 'inherit',
    env: { ...process.env, TMPDIR: temporary.path },
  });
  const folders = () => readdirSync(temporary.path).filter((name) => name.startsWith('local-aws-'));
  const started = () => ['busy', 'bred', 'frozen'].flatMap((name) => linesOf(`${pids}-${name}`)).map(Number);
  await eventually(() => started().length === 7);
  await eventually(() => linesOf(`${pids}-frozen`).every((pid) => stateOf(pid) === 'T'));
  const before = await noneAlive(started());
  expect(folders()).toHaveLength(1);

  parent.kill('SIGKILL');

  expect(before).toBe(false);
  await eventually(() => noneAlive(started()));
  await eventually(() => folders().length === 0);
});

test('stop leaves no process and no folder', async () => {
  const runtime = fixtureRuntime();
  using temporary = temporaryFolder();
  const pids = join(temporary.path, 'pids');
  const disk = Object(await runtime.invoke(image('useDisk'), {}));
  runtime.invoke(image('breed'), { pids, end: 'hang' }).catch(() => {});
  await eventually(() => linesOf(pids).length === 3);

  await runtime.stop();

  await eventually(() => noneAlive(linesOf(pids).map(Number)));
  expect(existsSync(disk.folder)).toBe(false);
});

test('each process has an empty folder of its own, removed at its end', async () => {
  await using runtime = fixtureRuntime({ idleSeconds: 0.05 });

  const first = Object(await runtime.invoke(image('useDisk'), {}));
  await eventually(() => !existsSync(first.folder));
  const second = Object(await runtime.invoke(image('useDisk'), {}));

  expect(first.found).toEqual([]);
  expect(second.found).toEqual([]);
  expect(second.folder).not.toBe(first.folder);
});

test('an idle process ends and the next invocation starts another', async () => {
  await using runtime = fixtureRuntime({ idleSeconds: 0.05 });
  const fn = image('count');
  const first = Object(await runtime.invoke(fn, {}));
  await eventually(async () => !(await isAlive(first.pid)));

  const second = Object(await runtime.invoke(fn, {}));

  expect(second).toMatchObject({ invocations: 1 });
  expect(second.pid).not.toBe(first.pid);
});

test('a process killed from outside fails its invocation only', async () => {
  await using runtime = fixtureRuntime();

  const failure = runtime.invoke(image('killSelf'), {});

  await expect(failure).rejects.toMatchObject({
    errorType: 'Runtime.ExitError',
    message: 'Runtime exited with error: signal: SIGKILL',
  });
});
