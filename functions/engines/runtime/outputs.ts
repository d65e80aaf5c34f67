import { stat } from 'node:fs/promises';
import { maxFilesPerTask } from '../../../shared/tasks/limits.ts';
import { EngineError, type OutputFile, type Work } from './engine.ts';

/** Throws if there are more files than one task may have. `advice` tells the user how to get fewer. */
export function checkFileCount(count: number, advice: string): void {
  if (count > maxFilesPerTask)
    throw new EngineError(
      `This would produce ${count.toLocaleString('en')} files; the maximum per task is ${maxFilesPerTask}. ${advice}`,
    );
}

/** Collects the outputs of some work and enforces the limits on their number and size as they are made. */
export class Outputs {
  readonly files: OutputFile[] = [];
  readonly #maxBytes: number;
  #bytes = 0;

  constructor({ maxOutputBytes = Number.POSITIVE_INFINITY }: Pick<Work, 'maxOutputBytes'>) {
    this.#maxBytes = maxOutputBytes;
  }

  /** Bytes of disk space left. */
  get bytesLeft(): number {
    return this.#maxBytes - this.#bytes;
  }

  async add(...made: OutputFile[]): Promise<void> {
    this.files.push(...made);
    const sizes = await Promise.all(made.map(async ({ path }) => (await stat(path)).size));
    this.count(this.files.length, sizes);
  }

  /** Enforces the limits on the number of files, and on their total size including these bytes. */
  count(files: number, sizes: number[]): void {
    checkFileCount(files, 'Split the inputs across several tasks.');
    this.#bytes = sizes.reduce((sum, size) => sum + size, this.#bytes);
    if (this.bytesLeft < 0) throw outOfDisk(this.#maxBytes);
  }
}

/** Returns the error for a task that needs more disk space than it has. */
export function outOfDisk(maxBytes: number): EngineError {
  return new EngineError(
    `The outputs exceed the ${Math.floor(maxBytes).toLocaleString('en')} bytes of disk space that one task has. Split the input, or choose a smaller size or quality.`,
  );
}
