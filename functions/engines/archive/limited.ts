import { setTimeout as wait } from 'node:timers/promises';
import { findProgram } from '../runtime/find-program.ts';
import { type ProgramOptions, type ProgramResult, runProgram } from '../runtime/program.ts';
import { allowance, tooLarge } from './limits.ts';
import { bytesWithin } from './tree.ts';

let limiter: Promise<string | undefined> | undefined;

/**
 * Runs a program that may not write more into a folder than an archive of some size may contain. The kernel ends it
 * where a single file grows too large; where there is no prlimit, as on macOS, the folder is watched for that as well.
 */
export async function runLimited(
  program: string,
  args: string[],
  { archiveBytes, folder, watched = false }: { archiveBytes: number; folder: string; watched?: boolean },
  options: ProgramOptions,
): Promise<ProgramResult> {
  limiter ??= findProgram('prlimit');
  const prlimit = await limiter;
  const limit = allowance(archiveBytes);
  const stop = new AbortController();
  const watch = watched || prlimit === undefined ? watchGrowth(folder, limit, stop) : undefined;
  const [first, rest] = prlimit === undefined ? [program, args] : [prlimit, [`--fsize=${limit}`, program, ...args]];
  try {
    const signal = AbortSignal.any([stop.signal, ...(options.signal ? [options.signal] : [])]);
    return await runProgram(first, rest, { ...options, signal });
  } catch (error) {
    options.signal?.throwIfAborted();
    if (stop.signal.aborted) throw tooLarge(archiveBytes);
    throw error;
  } finally {
    stop.abort();
    await watch;
  }
}

/** Stops unpacking once more is on disk than the headers declared. */
async function watchGrowth(root: string, limit: number, stop: AbortController): Promise<void> {
  let pause = 250;
  while (!stop.signal.aborted) {
    await wait(pause, undefined, { signal: stop.signal }).catch(() => {});
    if (stop.signal.aborted) return;
    const start = performance.now();
    if ((await bytesWithin(root)) > limit) stop.abort();
    // Inspecting many files takes time itself; it should stay the smaller part of the work.
    pause = Math.max(250, (performance.now() - start) * 5);
  }
}
