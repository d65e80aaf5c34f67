import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EngineError, type Work, type WorkContext } from '../../functions/engines/runtime/engine.ts';
import { Sandbox } from '../../functions/engines/runtime/sandbox/sandbox.ts';
import { isAlive } from '../support/processes.ts';
import { until } from '../support/until.ts';

const memoryBytes = 1_000_000_000;
/** Far longer than any of these tests is to take. */
const forEver = 100_000;

describe('The sandbox of an engine', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'lathe-test-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  /** A sandbox around an engine that notes its process and then runs the given code at its loading or for its work. */
  async function sandboxOf(name: string, { loading = '', work = '' }: { loading?: string; work?: string }) {
    const note = join(folder, `${name}.pid`);
    const path = join(folder, `${name}.mjs`);
    await writeFile(
      path,
      `import { writeFileSync } from 'node:fs';
       import { setTimeout as pause } from 'node:timers/promises';
       import { EngineError } from ${JSON.stringify(new URL('../../functions/engines/runtime/engine.ts', import.meta.url).href)};
       writeFileSync(${JSON.stringify(note)}, String(process.pid));
       ${loading}
       export const engine = { async run() { ${work}; return { outputs: [], details: { pid: process.pid } }; } };`,
    );
    return {
      sandbox: new Sandbox({ module: pathToFileURL(path), memoryBytes }),
      pid: () =>
        until('the engine noted its process', async () => {
          const text = await readFile(note, 'utf8').catch(() => '');
          return text === '' ? undefined : Number(text);
        }),
    };
  }

  const nothing: Work = { operation: 'convert', inputs: [], outputFormat: 'png', options: {}, folder: '' };
  const contextOf = (signal: AbortSignal): WorkContext => ({ signal, progress: () => {}, log: () => {} });
  const unaborted = () => contextOf(new AbortController().signal);

  it.each([
    ['while the engine is loading', { loading: `await pause(${forEver});` }],
    ['while the engine works', { work: `await pause(${forEver})` }],
    ['while the engine holds its event loop', { work: 'for (;;);' }],
  ])('ends at once when it is aborted %s', async (when, code) => {
    const { sandbox, pid } = await sandboxOf(when.replaceAll(' ', '-'), code);
    const controller = new AbortController();
    const reason = new Error('canceled');
    const running = sandbox.run(nothing, contextOf(controller.signal));
    const outcome = expect(running).rejects.toBe(reason);
    const process_ = await pid();
    controller.abort(reason);
    await outcome;
    await until('its process is gone', async () => ((await isAlive(process_)) ? undefined : true), { seconds: 10 });
  });

  it('starts nothing for work that was aborted before', async () => {
    const { sandbox } = await sandboxOf('aborted-before', {});
    const reason = new Error('canceled');
    await expect(sandbox.run(nothing, contextOf(AbortSignal.abort(reason)))).rejects.toBe(reason);
    await expect(readFile(join(folder, 'aborted-before.pid'))).rejects.toThrow('ENOENT');
  });

  it('works again in a new process after work was aborted while the engine was loading', async () => {
    const { sandbox, pid } = await sandboxOf('again', { loading: 'await pause(300);' });
    const controller = new AbortController();
    const running = sandbox.run(nothing, contextOf(controller.signal));
    running.catch(() => {});
    const first = await pid();
    controller.abort(new Error('canceled'));
    await expect(running).rejects.toThrow('canceled');
    const { details } = await sandbox.run(nothing, unaborted());
    expect(details?.pid).toBeTypeOf('number');
    expect(details?.pid).not.toBe(first);
    sandbox.stop();
  });

  it('keeps its process for further work, also where the engine refused a file', async () => {
    const { sandbox, pid } = await sandboxOf('kept', {
      work: "if (!globalThis.ran) { globalThis.ran = true; throw new EngineError('No such colour.'); }",
    });
    await expect(sandbox.run(nothing, unaborted())).rejects.toThrow(new EngineError('No such colour.'));
    const { details } = await sandbox.run(nothing, unaborted());
    expect(details?.pid).toBe(await pid());
    sandbox.stop();
  });

  it('says that the process ended where the engine cannot be loaded or dies', async () => {
    const unloadable = await sandboxOf('unloadable', { loading: 'process.exit(3);' });
    await expect(unloadable.sandbox.run(nothing, unaborted())).rejects.toThrow('before it was ready (code 3)');
    const dying = await sandboxOf('dying', { work: "process.kill(process.pid, 'SIGKILL'); await pause(10_000)" });
    await expect(dying.sandbox.run(nothing, unaborted())).rejects.toThrow('during the work (SIGKILL)');
  });
});
