import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EngineError, type Work } from '../../functions/engines/runtime/engine.ts';
import { Sandbox } from '../../functions/engines/runtime/sandbox/sandbox.ts';
import { measureProcesses } from '../support/processor-time.ts';
import { runSandboxed } from '../support/sandboxed.ts';

const programModule = new URL('../../functions/engines/runtime/program.ts', import.meta.url).href;
const busy = 'for (;;);';

describe('processor time in a sandbox', () => {
  let folder: string;
  const sandboxes: Sandbox[] = [];
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'lathe-test-'));
  });
  afterAll(async () => {
    for (const sandbox of sandboxes) sandbox.stop();
    await rm(folder, { recursive: true, force: true });
  });

  /** Runs an engine whose work is the given code, and returns its outcome with the processor time it took. */
  async function outcomeOf(
    name: string,
    code: string,
    baseSeconds = 1,
  ): Promise<{ outcome: unknown; seconds: number }> {
    const path = join(folder, `${name}.mjs`);
    await writeFile(
      path,
      `import { spawn } from 'node:child_process';
       import { setTimeout as pause } from 'node:timers/promises';
       import { runProgram } from ${JSON.stringify(programModule)};
       export const engine = { async run(work, context) { ${code}; return { outputs: [] }; } };`,
    );
    const sandbox = new Sandbox({
      module: pathToFileURL(path),
      memoryBytes: 1_000_000_000,
      network: false,
    });
    sandboxes.push(sandbox);
    await sandbox.barriers();
    const work: Omit<Work, 'folder'> = {
      operation: 'convert',
      inputs: [],
      outputFormat: 'png',
      options: {},
      maxProcessorSeconds: baseSeconds,
    };
    let outcome: unknown;
    const seconds = await measureProcesses(async () => {
      outcome = await runSandboxed(sandbox, work).catch((error: unknown) => error);
    });
    return { outcome, seconds };
  }

  it.each([
    ['by an engine that never sets a limit', busy],
    ['by an engine that sets one above the ceiling', `context.limitProcessorTime(1e9); await pause(1200); ${busy}`],
    [
      'by a program that it started',
      `await runProgram(process.execPath, ['-e', ${JSON.stringify(busy)}], { cwd: '/' })`,
    ],
    [
      'by a program that left its group and lost its parent',
      `spawn('/usr/bin/setsid', ['--fork', process.execPath, '-e', ${JSON.stringify(busy)}], { env: {} }); await pause(60_000)`,
    ],
    [
      'by programs that have ended',
      `const burn = 'const end = Date.now() + 300; while (Date.now() < end);';
       for (;;) await runProgram(process.execPath, ['-e', burn], { cwd: '/' })`,
    ],
  ])('is refused over the ceiling when it is used %s', async (name, code) => {
    const { outcome, seconds } = await outcomeOf(name.replaceAll(' ', '-'), code);

    expect(outcome).toBeInstanceOf(EngineError);
    expect(outcome).toHaveProperty('message', expect.stringMatching(/more processor time .* over 1 second/));
    expect(seconds).toBeLessThan(4);
  });

  it('is refused over a limit of the engine, and only from that on', async () => {
    const burn = (ms: number) =>
      `for (const { user } = process.cpuUsage(); process.cpuUsage().user < user + ${ms} * 1000; )
         for (let count = 0; count < 1e7; count++);`;
    const lower = await outcomeOf('lower', `context.limitProcessorTime(1); await pause(600); ${busy}`, 60);
    const passed = await outcomeOf(
      'passed',
      `context.limitProcessorTime(1); await pause(600); ${burn(300)}
       context.limitProcessorTime(); await pause(600); ${burn(2000)}`,
      60,
    );

    expect(lower.outcome).toHaveProperty('message', expect.stringMatching(/over 1 seconds/));
    expect(passed.outcome).toEqual({ outputs: [] });
  });

  it('does not matter to a file on which the engine crashes, which is refused as well', async () => {
    const { outcome } = await outcomeOf('crash', "process.kill(process.pid, 'SIGSEGV'); await pause(10_000)");

    expect(outcome).toBeInstanceOf(EngineError);
    expect(outcome).toHaveProperty('message', expect.stringMatching(/failed on this file/));
  });
});
