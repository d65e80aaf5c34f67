import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** Runs a program of the test's own and returns what it wrote to standard output. */
export async function program(name: string, ...args: string[]): Promise<Buffer> {
  try {
    const { stdout } = await execute(name, args, { encoding: 'buffer', maxBuffer: 512 * 1024 * 1024, timeout: 60_000 });
    return stdout;
  } catch (error) {
    const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim().split('\n').at(-1) : '';
    throw new Error(`${name} failed: ${said}`, { cause: error });
  }
}

/** Runs a program that writes its result to standard output, into a file. */
export async function programTo(path: string, name: string, ...args: string[]): Promise<void> {
  await writeFile(path, await program(name, ...args));
}
