import { access, constants } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { runProgram } from './program.ts';

/** Returns the path of a program in the folders of PATH. */
export async function findProgram(program: string): Promise<string | undefined> {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const path = join(folder, program);
    if (await isExecutable(path)) return path;
  }
  return undefined;
}

/** Returns whether a file exists and is executable. */
export async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** Returns the programs that are not in PATH, as an engine's check reports them. */
export async function missingPrograms(programs: readonly string[]): Promise<Record<string, string>> {
  const found = await Promise.all(programs.map(findProgram));
  return Object.fromEntries(programs.filter((_, index) => found[index] === undefined).map((program) => [program, '']));
}

/** Loads a native package, and reports it as missing with the reason if it fails to load. */
export async function missingPackage(name: string): Promise<Record<string, string>> {
  try {
    await import(name);
    return {};
  } catch (error) {
    return { [name]: firstLine(error) };
  }
}

/** Starts programs with harmless arguments, and reports those that do not start or fail. */
export async function brokenPrograms(
  programs: Record<string, { path: string; args: string[]; successCodes?: number[] }>,
): Promise<Record<string, string>> {
  const tried = Object.entries(programs).map(async ([name, { path, args, successCodes = [0] }]) => {
    try {
      await runProgram(path, args, { cwd: tmpdir(), timeoutMs: 20_000, successCodes });
      return [];
    } catch (error) {
      return [[name, whyNotStarted(error)]];
    }
  });
  return Object.fromEntries((await Promise.all(tried)).flat());
}

/** Returns why a program did not start: an empty string if it is not installed, otherwise the first line of the error. */
export function whyNotStarted(error: unknown): string {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT' ? '' : firstLine(error);
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '';
}
