import { setTimeout as wait } from 'node:timers/promises';
import { findProgram } from '../runtime/find-program.ts';
import { type ProgramOptions, type ProgramResult, runProgram } from '../runtime/program.ts';
import { allowance, tooLarge } from './limits.ts';
import { bytesWithin } from './tree.ts';

let limiter: Promise<string | undefined> | undefined;

/**
 * Runs a program with a limit for what it writes into a folder: the maximum contents of an archive of a size. The kernel ends it
 * if a single file grows too large. Without prlimit, as on macOS, the folder is watched for that as well.
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
    // Inspecting many files is slow, and should take less time than the work itself.
    pause = Math.max(250, (performance.now() - start) * 5);
  }
}
