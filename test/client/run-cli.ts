import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { projectRoot } from '../../infra/bundling.ts';

/** What `npx lathe` runs. */
export const executable = join(projectRoot, 'packages/client/bin/lathe.js');

export interface CliResult {
  code: number | null;
  out: string;
  err: string;
}

export interface CliOptions {
  cwd: string;
  env: Record<string, string | undefined>;
  /** Whether it runs in a terminal, by the `script` command of Linux; then all that it writes is in `out`. */
  terminal?: boolean;
  /** Called with the process, to send signals. */
  onStart?: (process: ChildProcess) => void;
}

/** Runs the command line in a process of its own. */
export async function runCli(args: string[], { cwd, env, terminal, onStart }: CliOptions): Promise<CliResult> {
  const words = [process.execPath, executable, ...args];
  const [command = '', ...rest] = terminal ? ['script', '-qec', words.join(' '), '/dev/null'] : words;
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const child = spawn(command, rest, {
    cwd,
    env: { PATH, NODE_COMPILE_CACHE, HOME: cwd, TERM: 'xterm', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onStart?.(child);
  const result = { out: '', err: '' };
  for (const [name, stream] of [['out', child.stdout] as const, ['err', child.stderr] as const])
    stream.setEncoding('utf8').on('data', (text: string) => {
      result[name] += text;
    });
  const [code] = await once(child, 'close');
  return { code, ...result };
}
