import { tmpdir } from 'node:os';
import { type ProgramOptions, type ProgramResult, runProgram } from '../program.ts';

/** Ways to start a program without a network, best first; inside an unprivileged container none may work. */
const ways = [
  ['unshare', '-n', '--'],
  ['unshare', '-r', '-n', '--'],
];

let prefix: Promise<string[]> | undefined;

/** Finds, once for the process, how programs are started without a network here; an empty list where they cannot be. */
export function networkless(): Promise<string[]> {
  prefix ??= probe();
  return prefix;
}

async function probe(): Promise<string[]> {
  for (const way of ways) {
    const [program = '', ...args] = way;
    try {
      await runProgram(program, [...args, 'true'], { cwd: tmpdir(), timeoutMs: 5000 });
      return way;
    } catch {
      // Not permitted here; the next way may be.
    }
  }
  return [];
}

/** Runs a program to its end like `runProgram`, without a network wherever the system allows to take it away. */
export async function runIsolated(program: string, args: string[], options: ProgramOptions): Promise<ProgramResult> {
  const [first = program, ...rest] = [...(await networkless()), program];
  return runProgram(first, [...rest, ...args], options);
}
