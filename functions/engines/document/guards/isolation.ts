import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { type ProgramOptions, type ProgramResult, runProgram } from '../../runtime/program.ts';

/** Commands that start a program without a network, best first; in an unprivileged container none may work. */
const commands = [
  ['unshare', '-n', '--'],
  ['unshare', '-r', '-n', '--'],
];

const confine = ['/usr/bin/python3', '-ISB', fileURLToPath(new URL('confine.py', import.meta.url))];

/** Isolation that the system supports. */
export interface Isolation {
  /** Command prefix that starts a program without a network; empty if not supported. */
  networkless: string[];
  /** Whether the kernel can confine a program to given files. */
  confines: boolean;
}

let found: Promise<Isolation> | undefined;

/** Finds, once for the process, how programs can be isolated here. */
export function findIsolation(): Promise<Isolation> {
  found ??= probe();
  return found;
}

async function probe(): Promise<Isolation> {
  // Both are features of Linux; on macOS, trying would offer to install Python.
  if (process.platform !== 'linux') return { networkless: [], confines: false };
  let networkless: string[] = [];
  for (const command of commands) {
    if (networkless.length === 0 && (await works([...command, 'true']))) networkless = command;
  }
  return { networkless, confines: await works(confine) };
}

async function works([program = '', ...args]: string[]): Promise<boolean> {
  return runProgram(program, args, { cwd: tmpdir(), timeoutMs: 5000 }).then(
    () => true,
    () => false,
  );
}

/**
 * Runs a program to its end like `runProgram`, without a network and with access only to the system's files and those
 * of a folder, as far as the system supports it.
 */
export async function runIsolated(
  program: string,
  args: string[],
  options: ProgramOptions & { folder: string },
): Promise<ProgramResult> {
  const { folder, ...rest } = options;
  const { networkless, confines } = await findIsolation();
  const [first = program, ...others] = [...networkless, ...(confines ? [...confine, folder] : []), program];
  return runProgram(first, [...others, ...args], { ...rest, env: { TMPDIR: folder, ...rest.env } });
}
