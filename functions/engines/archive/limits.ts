import { EngineError } from '../runtime/engine.ts';

/** Maximum size of an unpacked archive. Input, contents and output must fit a function's disk together. */
const maxBytes = 3 * 1024 ** 3;
export const maxEntries = 100_000;
/** Below this any ratio is harmless. */
const freeBytes = 256 * 1024 ** 2;
/** Logs and dumps reach a ratio of 100 and more. Only decompression bombs go far beyond. */
const maxRatio = 250;
export const maxPathBytes = 2000;

/** Returns how many bytes an archive of this size may contain. */
export function allowance(archiveBytes: number): number {
  return Math.min(maxBytes, Math.max(freeBytes, archiveBytes * maxRatio));
}

/** Returns the error for an archive that expands too much. */
export function tooLarge(archiveBytes: number): EngineError {
  const allowed = allowance(archiveBytes);
  return allowed === maxBytes
    ? new EngineError(`The archive expands to more than ${gigabytes(maxBytes)} GB. Split it into smaller ones.`)
    : new EngineError(
        `The archive expands to more than ${gigabytes(allowed)} GB, over ${maxRatio} times its size. It looks like a decompression bomb and was not unpacked.`,
      );
}

/** Returns the error for an archive with too many entries. */
export function tooMany(): EngineError {
  return new EngineError(
    `The archive has more than ${maxEntries.toLocaleString('en')} entries. Split it into smaller ones.`,
  );
}

/** Returns the error for archives that do not fit on the disk together with their contents. */
export function tooMuchAtOnce(): EngineError {
  return new EngineError(
    'There is not enough disk space for the archives of this task and their contents. Use several tasks, or split the archives.',
  );
}

function gigabytes(bytes: number): string {
  return (bytes / 1024 ** 3).toFixed(2).replace(/\.?0+$/, '');
}
