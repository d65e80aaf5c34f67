import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { delimiter, join } from 'node:path';
import { projectRoot } from '../../infra/bundling.ts';

/** The command line of a checkout. */
export const executable = join(projectRoot, 'packages/client/bin/lathe.js');

export interface CliResult {
  code: number | null;
  out: string;
  err: string;
  /** The standard output as it is. */
  content: Buffer;
}

export interface CliOptions {
  cwd: string;
  env: Record<string, string | undefined>;
  /** Whether it runs in a terminal, by the `script` command of Linux; then all that it writes is in `out`. */
  terminal?: boolean;
  /** Standard input; empty by default. */
  input?: string | Buffer;
  /** Another Node than that of the test, and another package than the checkout. */
  node?: string;
  bin?: string;
  /** Called with the process, to send signals. */
  onStart?: (process: ChildProcess) => void;
}

/** The system's Node, if it is one that the README promises and that runs no TypeScript. */
export const olderNode: string | undefined = (process.env.PATH ?? '')
  .split(delimiter)
  .map((folder) => join(folder, 'node'))
  .find((node) => /^v(?:20|22\.[0-9]\.|22\.1[0-7]\.)/.test(spawnSync(node, ['--version']).stdout?.toString() ?? ''));

/** Runs the command line in a process of its own. */
export async function runCli(args: string[], options: CliOptions): Promise<CliResult> {
  const { cwd, env, terminal, input = '', node = process.execPath, bin = executable, onStart } = options;
  const words = [node, bin, ...args];
  const [command = '', ...rest] = terminal ? ['script', '-qec', words.join(' '), '/dev/null'] : words;
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const child = spawn(command, rest, {
    cwd,
    env: { PATH, NODE_COMPILE_CACHE, HOME: cwd, TERM: 'xterm', ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  onStart?.(child);
  // A command that does not read its input may end before it is written.
  child.stdin.on('error', () => {}).end(input);
  const [out, err]: [Buffer[], Buffer[]] = [[], []];
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
  const [code] = await once(child, 'close');
  const content = Buffer.concat(out);
  return { code, out: content.toString(), err: Buffer.concat(err).toString(), content };
}
