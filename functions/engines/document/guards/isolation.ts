import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { type ProgramOptions, type ProgramResult, runProgram } from '../../runtime/program.ts';

/** Ways to start a program without a network, best first; inside an unprivileged container none may work. */
const ways = [
  ['unshare', '-n', '--'],
  ['unshare', '-r', '-n', '--'],
];

const confine = ['/usr/bin/python3', '-ISB', fileURLToPath(new URL('confine.py', import.meta.url))];

/** What the system lets a process give up. */
export interface Isolation {
  /** What a program is started by to have no network; nothing where it cannot be taken away. */
  networkless: string[];
  /** Whether the kernel can keep a program to files that are named. */
  confines: boolean;
}

let found: Promise<Isolation> | undefined;

/** Finds, once for the process, how programs can be isolated here. */
export function findIsolation(): Promise<Isolation> {
  found ??= probe();
  return found;
}

async function probe(): Promise<Isolation> {
  // Both are the Linux kernel's; elsewhere there is nothing to try, and macOS would offer to install a Python.
  if (process.platform !== 'linux') return { networkless: [], confines: false };
  let networkless: string[] = [];
  for (const way of ways) {
    if (networkless.length === 0 && (await works([...way, 'true']))) networkless = way;
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
 * Runs a program to its end like `runProgram`, without a network and with no files in reach but the system's and those
 * of a folder, as far as the system allows.
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
