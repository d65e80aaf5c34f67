import { EngineError } from '../runtime/engine.ts';

/** What an archive may become on disk. Input, contents and output must fit a function's disk together. */
const maxBytes = 3 * 1024 ** 3;
export const maxEntries = 100_000;
/** Below this any ratio is harmless. */
const freeBytes = 256 * 1024 ** 2;
/** Text of logs and dumps reaches 100 and more; only what is built to explode goes far beyond. */
const maxRatio = 250;
const maxPathBytes = 2000;

export { maxPathBytes };

/** Returns how many bytes an archive of this size may hold. */
export function allowance(archiveBytes: number): number {
  return Math.min(maxBytes, Math.max(freeBytes, archiveBytes * maxRatio));
}

/** Makes the failure of an archive that holds too much. */
export function tooLarge(archiveBytes: number): EngineError {
  const most = allowance(archiveBytes);
  return most === maxBytes
    ? new EngineError(`The archive expands to more than ${gigabytes(maxBytes)} GB. Split it into smaller ones.`)
    : new EngineError(
        `The archive expands to more than ${gigabytes(most)} GB, over ${maxRatio} times its size. It looks like a decompression bomb and was not unpacked.`,
      );
}

/** Makes the failure of an archive with too many entries. */
export function tooMany(): EngineError {
  return new EngineError(
    `The archive has more than ${maxEntries.toLocaleString('en')} entries. Split it into smaller ones.`,
  );
}

/** Makes the failure of archives that do not fit a function's disk together with their contents. */
export function tooMuchAtOnce(): EngineError {
  return new EngineError(
    'There is not enough disk space for the archives of this task and their contents. Use several tasks, or split the archives.',
  );
}

function gigabytes(bytes: number): string {
  return (bytes / 1024 ** 3).toFixed(2).replace(/\.?0+$/, '');
}
