import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { EngineError, type Work, type WorkContext } from '../../functions/engines/runtime/engine.ts';
import { Sandbox, type SandboxOptions } from '../../functions/engines/runtime/sandbox/sandbox.ts';
import { descendantsOf } from '../support/processes.ts';
import { quietContext } from '../support/sandboxed.ts';
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

  const sandboxes: Sandbox[] = [];
  afterEach(() => {
    for (const sandbox of sandboxes.splice(0)) sandbox.stop();
  });

  /** A sandbox around an engine that notes who it is and then runs the given code at its loading or for its work. */
  async function sandboxOf(
    name: string,
    { loading = '', work = '' }: { loading?: string; work?: string },
    options: Partial<SandboxOptions> = {},
  ) {
    const path = join(folder, `${name}.mjs`);
    await writeFile(
      path,
      `import { writeFileSync } from 'node:fs';
       import { setTimeout as pause } from 'node:timers/promises';
       import { EngineError } from ${JSON.stringify(new URL('../../functions/engines/runtime/engine.ts', import.meta.url).href)};
       const identity = crypto.randomUUID();
       writeFileSync(process.env.LATHE_WARM + '/identity', identity);
       ${loading}
       export const engine = { async run() { ${work}; return { outputs: [], details: { identity } }; } };`,
    );
    const sandbox = new Sandbox({ module: pathToFileURL(path), memoryBytes, network: false, ...options });
    sandboxes.push(sandbox);
    return {
      sandbox,
      /** Prepares a folder and runs the work of a tenant. */
      run: async (context = quietContext(), tenant = 'ann') =>
        sandbox.run({ ...nothing, folder: await sandbox.prepare(tenant) }, context, tenant),
      identity: () =>
        until('the engine noted who it is', async () => {
          const text = await readFile(join(sandbox.folder, 'warm', 'identity'), 'utf8').catch(() => '');
          return text === '' ? undefined : text;
        }),
      processes: async () => (await descendantsOf(process.pid)).filter(({ command }) => command.includes(path)),
    };
  }

  const nothing: Work = { operation: 'convert', inputs: [], outputFormat: 'png', options: {}, folder: '' };
  const contextOf = (signal: AbortSignal): WorkContext => ({ ...quietContext(), signal });

  it.each([
    ['while the engine is loading', { loading: `await pause(${forEver});` }],
    ['while the engine works', { work: `await pause(${forEver})` }],
    ['while the engine holds its event loop', { work: 'for (;;);' }],
  ])('ends at once when it is aborted %s', async (when, code) => {
    const { run, identity, processes } = await sandboxOf(when.replaceAll(' ', '-'), code);
    const controller = new AbortController();
    const reason = new Error('canceled');
    const running = run(contextOf(controller.signal));
    const outcome = expect(running).rejects.toBe(reason);
    await identity();
    expect(await processes()).not.toEqual([]);
    controller.abort(reason);
    await outcome;
    await until('its processes are gone', async () => (await processes()).length === 0 || undefined, { seconds: 10 });
  });

  it('starts nothing for work that was aborted before', async () => {
    const { sandbox, processes } = await sandboxOf('aborted-before', {});
    const reason = new Error('canceled');
    await expect(sandbox.run(nothing, contextOf(AbortSignal.abort(reason)), 'ann')).rejects.toBe(reason);
    expect(await processes()).toEqual([]);
  });

  it('works again in a new process after work was aborted while the engine was loading', async () => {
    const { run, identity } = await sandboxOf('again', { loading: 'await pause(300);' });
    const controller = new AbortController();
    const running = run(contextOf(controller.signal));
    running.catch(() => {});
    const first = await identity();
    controller.abort(new Error('canceled'));
    await expect(running).rejects.toThrow('canceled');
    const { details } = await run();
    expect(details?.identity).toBeTypeOf('string');
    expect(details?.identity).not.toBe(first);
  });

  it('keeps its process for further work, also where the engine refused a file', async () => {
    const { run, identity } = await sandboxOf('kept', {
      work: "if (!globalThis.ran) { globalThis.ran = true; throw new EngineError('No such colour.'); }",
    });
    await expect(run()).rejects.toThrow(new EngineError('No such colour.'));
    const { details } = await run();
    expect(details?.identity).toBe(await identity());
  });

  it('says that the process ended where the engine cannot be loaded or dies', async () => {
    const unloadable = await sandboxOf('unloadable', { loading: 'process.exit(3);' });
    await expect(unloadable.run()).rejects.toThrow('before it was ready (code 3)');
    const dying = await sandboxOf('dying', { work: "process.kill(process.pid, 'SIGKILL'); await pause(10_000)" });
    await expect(dying.run()).rejects.toThrow('during the work (SIGKILL)');
  });
});
