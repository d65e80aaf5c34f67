import { spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { noBarriers, unprotected } from '../../functions/engines/runtime/barriers.ts';
import { EngineError, type Work, type WorkContext } from '../../functions/engines/runtime/engine.ts';
import { killProcess, sandboxProcesses, withDescendants } from '../../functions/engines/runtime/sandbox/processes.ts';
import { Sandbox, type SandboxOptions } from '../../functions/engines/runtime/sandbox/sandbox.ts';
import { descendantsOf } from '../support/processes.ts';
import { quietContext } from '../support/sandboxed.ts';
import { until } from '../support/until.ts';

const memoryBytes = 1_000_000_000;
const programModule = new URL('../../functions/engines/runtime/program.ts', import.meta.url).href;
/** Far longer than any of these tests is to take. */
const forEver = 100_000;

/** Returns the folder that programs of the sandbox's process keep between tasks. */
async function warmFolderOf({ folder }: Sandbox): Promise<string> {
  const [process = ''] = (await readdir(folder)).filter((name) => name.startsWith('process-'));
  return join(folder, process, 'warm');
}

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
    { loading = '', work = '', settling = '' }: { loading?: string; work?: string; settling?: string },
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
       export const engine = {
         async run() { ${work}; return { outputs: [], details: { identity } }; },
         async settle() { ${settling}; },
       };`,
    );
    const sandbox = new Sandbox({ module: pathToFileURL(path), memoryBytes, network: false, ...options });
    sandboxes.push(sandbox);
    return {
      sandbox,
      /** Prepares a folder and runs the work of a tenant. */
      run: async (context = quietContext(), tenant = 'ann') =>
        sandbox.run({ ...nothing, folder: sandbox.prepare(tenant).folder }, context, tenant),
      identity: () =>
        until('the engine noted who it is', async () => {
          const text = await readFile(join(await warmFolderOf(sandbox), 'identity'), 'utf8').catch(() => '');
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

  it('keeps its process for further work, even after the engine refused a file', async () => {
    const { run, identity } = await sandboxOf('kept', {
      work: "if (!globalThis.ran) { globalThis.ran = true; throw new EngineError('No such colour.'); }",
    });
    await expect(run()).rejects.toThrow(new EngineError('No such colour.'));
    const { details } = await run();
    expect(details?.identity).toBe(await identity());
  });

  it('returns a result before the engine has settled, and begins no other work until then', async () => {
    const { run, sandbox } = await sandboxOf('settling', {
      loading: "import { existsSync } from 'node:fs'; let settled = 0;",
      work: 'return { outputs: [], details: { settled } };',
      settling: "while (!existsSync(process.env.LATHE_WARM + '/go-on')) await pause(10); settled += 1",
    });
    expect((await run()).details).toEqual({ settled: 0 });
    await writeFile(join(await warmFolderOf(sandbox), 'go-on'), '');
    expect((await run()).details).toEqual({ settled: 1 });
    await sandbox.settled();
    expect((await run()).details).toEqual({ settled: 2 });
  });

  it('works in a new process after an engine that failed to settle, or does not', { timeout: 60_000 }, async () => {
    const failing = await sandboxOf('failing-to-settle', { settling: "throw new Error('a bug')" });
    const hanging = await sandboxOf('never-settling', { settling: `await pause(${forEver})` });
    for (const { run, sandbox } of [failing, hanging]) {
      const { details: first } = await run();
      await sandbox.settled();
      const { details: second } = await run();
      expect(second?.identity).toBeTypeOf('string');
      expect(second?.identity).not.toBe(first?.identity);
    }
  });

  it('reports that the process ended if the engine cannot be loaded or crashes', async () => {
    const unloadable = await sandboxOf('unloadable', { loading: 'process.exit(3);' });
    await expect(unloadable.run()).rejects.toThrow('before it was ready (code 3)');
    const dying = await sandboxOf('dying', { work: "process.kill(process.pid, 'SIGKILL'); await pause(10_000)" });
    await expect(dying.run()).rejects.toThrow('during the work (SIGKILL)');
  });

  it('replaces its process when the tenant changes, unless there is one tenant only', async () => {
    const shared = await sandboxOf('tenants', {});
    const single = await sandboxOf('single-tenant', {}, { singleTenant: true });
    const identities = async ({ run }: typeof shared, ...tenants: string[]) => {
      const found: unknown[] = [];
      for (const tenant of tenants) found.push((await run(quietContext(), tenant)).details?.identity);
      return new Set(found).size;
    };

    expect(await identities(shared, 'ann', 'ann', 'bob', 'ann')).toBe(3);
    expect(await identities(single, 'ann', 'bob')).toBe(1);
  });

  it('replaces its process after work that broke', async () => {
    const { run, identity } = await sandboxOf('broken', { work: "throw new Error('a bug')" });

    await expect(run()).rejects.toThrow('a bug');
    const first = await identity();
    await expect(run()).rejects.toThrow('a bug');
    expect(await identity()).not.toBe(first);
  });

  it('empties its folders before each task, and keeps those of warm programs for a tenant', async () => {
    const { run, sandbox } = await sandboxOf('emptied', {
      loading: "import { existsSync } from 'node:fs'; const { TMPDIR, LATHE_WARM } = process.env;",
      work: `const found = { tmp: existsSync(TMPDIR + '/mine'), warm: existsSync(LATHE_WARM + '/mine') };
             writeFileSync(TMPDIR + '/mine', ''); writeFileSync(LATHE_WARM + '/mine', '');
             return { outputs: [], details: found }`,
    });
    const found = async (tenant: string) => {
      const { details } = await run(quietContext(), tenant);
      return { ...details, tasks: (await readdir(join(sandbox.folder, 'tasks'))).length };
    };

    expect(await found('ann')).toEqual({ tmp: false, warm: false, tasks: 1 });
    expect(await found('ann')).toEqual({ tmp: false, warm: true, tasks: 1 });
    expect(await found('bob')).toEqual({ tmp: false, warm: false, tasks: 1 });
    const { folder: root } = sandbox;
    sandbox.stop();
    await expect(readdir(root)).rejects.toThrow('ENOENT');
  });

  it('ends what a task leaves running, detached or not, but not what is warm', async () => {
    const sleeper = (name: string) => `'/bin/sh', ['-c', 'sleep 300; : ${name}']`;
    const { run } = await sandboxOf('strays', {
      loading: `import { runProgram } from ${JSON.stringify(programModule)}; import { spawn } from 'node:child_process';
                void runProgram(${sleeper('warm-one')}, { cwd: process.env.LATHE_WARM, warm: true }).catch(() => {});`,
      work: `spawn('/usr/bin/setsid', ['--fork', ${sleeper('detached-one').replace(', [', ', ').replace(']', '')}], { env: {} });
             void runProgram(${sleeper('plain-one')}, { cwd: process.env.LATHE_WARM }).catch(() => {});
             await pause(300)`,
    });

    await run();

    const commands = (await descendantsOf(process.pid)).map(({ command }) => command);
    expect(commands.filter((command) => command.includes('warm-one'))).toHaveLength(1);
    expect(commands.filter((command) => /detached-one|plain-one/.test(command))).toEqual([]);
  });

  it('refuses work that fills the disk, also if its process has worked before', { timeout: 60_000 }, async () => {
    const { sandbox } = await sandboxOf('disk', {
      loading: "import { execFileSync } from 'node:child_process'; let runs = 0;",
      work: `runs += 1;
        if (runs === 3) {
          execFileSync('fallocate', ['--length', '600MiB', process.env.LATHE_WARM + '/large']);
          await pause(${forEver});
        }`,
    });
    const run = () =>
      sandbox.run({ ...nothing, maxOutputBytes: 1000, folder: sandbox.prepare('ann').folder }, quietContext(), 'ann');
    await run();
    await run();
    await expect(run()).rejects.toThrow('The outputs exceed the 1,000 bytes of disk space');
    // The next process begins without that file.
    await run();
  });

  it('lists its processes by their parents as completely as by all of the machine', async () => {
    const child = spawn('sh', ['-c', 'sleep 100 & sleep 100 & wait'], { stdio: 'ignore' });
    try {
      const pids = (rows: { pid: number }[] | undefined) => rows?.map(({ pid }) => pid).sort();
      const listed = await until('its children run', () => {
        const rows = sandboxProcesses(Number(child.pid));
        return rows.length === 3 ? rows : undefined;
      });
      expect(pids(withDescendants([Number(child.pid)]))).toEqual(pids(listed));
    } finally {
      for (const { pid } of sandboxProcesses(Number(child.pid))) killProcess(pid);
    }
  });

  it('counts the memory of processes that left its group', async () => {
    const hog = "my $x = 'x' x 300_000_000; sleep 60";
    const { run } = await sandboxOf(
      'memory',
      {
        work: `const { spawn } = await import('node:child_process'); spawn('/usr/bin/setsid', ['--fork', '/usr/bin/perl', '-e', ${JSON.stringify(hog)}]); await pause(20_000)`,
      },
      { memoryBytes: 350_000_000 },
    );

    await expect(run()).rejects.toThrow(/needs more memory/);
  });

  it('refuses work if required isolation is missing, and tells the operator', async () => {
    const barriers = noBarriers('clone: Operation not permitted');
    expect(unprotected(barriers, { network: false })).toHaveLength(4);
    expect(unprotected(barriers, { network: true })).toHaveLength(3);
    const landlocked = { ...barriers, files: { stands: true }, calls: { stands: true } } as const;
    expect(unprotected(landlocked, { network: false })).toEqual([]);
    const { run } = await sandboxOf('required', {}, { isolation: 'required' });
    const lines: string[] = [];
    const outcome = run({ ...quietContext(), log: (line) => lines.push(line) }).then(
      () => 'it ran',
      (error: Error) => error.message,
    );
    // On a system that has it; planted-program.test.ts has the other side, on a kernel that is masked.
    const expected = process.platform === 'linux' ? 'it ran' : expect.stringContaining('The engine is off');
    expect(await outcome).toEqual(expected);
    expect(lines).toHaveLength(process.platform === 'linux' ? 0 : 1);
  });

  it.each([{ LATHE_ISOLATION: 'yes' }, { LATHE_SINGLE_TENANT: '1' }])('is not made with %j', async (variables) => {
    for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
    try {
      await expect(sandboxOf('mistaken', {})).rejects.toThrow(/expected .* but received/);
    } finally {
      vi.unstubAllEnvs();
    }
  });
});
