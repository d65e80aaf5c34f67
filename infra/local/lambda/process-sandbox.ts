import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { LocalFunction } from '../template/model.ts';
import { describeFunction, environmentFor } from './environment.ts';
import { readLines } from './lines.ts';
import type { RuntimeOptions } from './options.ts';
import { isReport } from './protocol.ts';
import { Sandbox } from './sandbox.ts';
import { killSandboxProcesses } from './sandbox-processes.ts';

const BOOTSTRAP = fileURLToPath(new URL('./process.ts', import.meta.url));

/** Starts a process, leader of its own group, that holds the handler of an image function. */
export function startProcess(fn: LocalFunction, { environmentOf, log }: RuntimeOptions): Sandbox {
  const description = describeFunction(fn);
  const folder = mkdtempSync(join(tmpdir(), 'lathe-'));
  const child = fork(BOOTSTRAP, [JSON.stringify(description)], {
    cwd: folder,
    detached: true,
    env: { ...environmentFor(fn, description, environmentOf(fn)), TMPDIR: folder },
    execArgv: [`--max-old-space-size=${fn.memoryMegabytes}`],
    serialization: 'advanced',
    // The fifth is the lifeline: it closes when this process ends, however it ends.
    stdio: ['ignore', 'pipe', 'pipe', 'ipc', 'pipe'],
  });
  const killGroup = () => {
    if (child.pid !== undefined) killSandboxProcesses(child.pid, folder);
  };
  const sandbox = new Sandbox(
    fn.timeoutSeconds,
    {
      // A process that has ended reports that by its exit.
      send: (invocation) => child.send({ ...invocation }, () => {}),
      kill: () => {
        if (child.exitCode === null && child.signalCode === null) killGroup();
      },
    },
    (line) => log(fn, 'stderr', line),
  );
  if (child.stdout) readLines(child.stdout, (line) => log(fn, 'stdout', line));
  if (child.stderr) readLines(child.stderr, (line) => log(fn, 'stderr', line));
  child.on('message', (message) => {
    if (isReport(message)) sandbox.receive(message);
  });
  void watchExit();
  return sandbox;

  async function watchExit(): Promise<void> {
    // The channel closes after its last message was read, which may be after the exit.
    const channelClosed = once(child, 'disconnect');
    let reason: string;
    try {
      const [code, signal] = await once(child, 'exit');
      reason = describeExit(code, signal);
      killGroup();
      await channelClosed;
    } catch (error) {
      reason = `with error: ${error instanceof Error ? error.message : String(error)}`;
    }
    await rm(folder, { recursive: true, force: true, maxRetries: 3 }).catch((error: unknown) => {
      log(fn, 'stderr', `Could not remove ${folder}: ${String(error)}`);
    });
    sandbox.exited(reason);
  }
}

function describeExit(code: number | null, signal: string | null): string {
  if (signal !== null) return `with error: signal: ${signal}`;
  return code === 0 ? 'without providing a reason' : `with error: exit status ${code}`;
}
