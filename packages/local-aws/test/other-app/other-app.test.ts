import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '../../../../test/support/until.ts';

const run = promisify(execFile);
const fromHere = (path: string) => fileURLToPath(new URL(path, import.meta.url));
/** Inside the project's node_modules: Lambda's runtime includes the SDK, and here Node has to find it. */
const parent = fromHere('../../../../node_modules/.cache');
let folder: string;

beforeAll(async () => {
  mkdirSync(parent, { recursive: true });
  folder = mkdtempSync(join(parent, 'other-app-'));
  const context = { 'aws:cdk:enable-asset-metadata': true };
  await run(process.execPath, [fromHere('app.ts')], {
    env: { ...process.env, CDK_OUTDIR: join(folder, 'assembly'), CDK_CONTEXT_JSON: JSON.stringify(context) },
  });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs the assembly from the command line, as another project would. */
async function start() {
  const args = [
    fromHere('../../bin/local-aws.js'),
    join(folder, 'assembly'),
    '--port',
    '0',
    '--data',
    join(folder, 'data'),
  ];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [url] = await once(createInterface({ input: child.stdout }), 'line', {
    signal: AbortSignal.timeout(30_000),
  });
  return {
    url: String(url),
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      expect(await once(child, 'exit')).toEqual([0, null]);
    },
  };
}

test('any CDK app runs: its routes, functions, queues and tables, with enforced roles and persistent data', async () => {
  {
    await using app = await start();
    const note = { id: 'first', text: 'Remember the milk.' };
    const sent = await fetch(`${app.url}/notes`, { method: 'POST', body: JSON.stringify(note) });
    expect([sent.status, await sent.text()]).toEqual([202, '/notes']);
    const text = await until('the note is stored', async () => {
      const response = await fetch(`${app.url}/notes/first`);
      return response.status === 200 ? response.text() : undefined;
    });
    expect(text).toBe(note.text);
    expect(await (await fetch(`${app.url}/notes/forbidden`)).text()).toBe('AccessDeniedException');
    expect((await fetch(`${app.url}/elsewhere`)).status).toBe(404);
  }
  await using again = await start();
  expect(await (await fetch(`${again.url}/notes/first`)).text()).toBe('Remember the milk.');
});

test('reports what it expects', async () => {
  const bin = fromHere('../../bin/local-aws.js');
  const wrong = (...args: string[]) =>
    run(process.execPath, [bin, ...args]).catch(({ code, stderr }) => [code, stderr]);
  expect(await wrong()).toEqual([1, expect.stringContaining('Expected one cloud assembly.')]);
  expect(await wrong('nowhere')).toEqual([1, expect.stringContaining('There is no cloud assembly nowhere.')]);
  expect(await wrong(join(folder, 'assembly'), '--stack', 'Other')).toEqual([
    1,
    expect.stringContaining('Expected --stack to name one of Notes.'),
  ]);
  expect(await wrong(join(folder, 'assembly'), '--faults', 'none')).toEqual([
    1,
    expect.stringContaining('Expected all or names'),
  ]);
  expect((await run(process.execPath, [bin, '--help'])).stdout).toContain('local-aws <cloud assembly>');
});
