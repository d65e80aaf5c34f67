import { stat } from 'node:fs/promises';
import { maxFilesPerTask } from '../../../shared/tasks/limits.ts';
import { EngineError, type OutputFile, type Work } from './engine.ts';

/** Throws unless one task may have so many files. `advice` tells how to get fewer. */
export function checkFileCount(count: number, advice: string): void {
  if (count > maxFilesPerTask)
    throw new EngineError(
      `This would produce ${count.toLocaleString('en')} files; the maximum per task is ${maxFilesPerTask}. ${advice}`,
    );
}

/** The outputs of some work, bounded in number and bytes as they are made, so that nothing is made in vain. */
export class Outputs {
  readonly files: OutputFile[] = [];
  readonly #maxBytes: number;
  #bytes = 0;

  constructor({ maxOutputBytes = Number.POSITIVE_INFINITY }: Pick<Work, 'maxOutputBytes'>) {
    this.#maxBytes = maxOutputBytes;
  }

  /** What may still be made. */
  get bytesLeft(): number {
    return this.#maxBytes - this.#bytes;
  }

  async add(...made: OutputFile[]): Promise<void> {
    this.files.push(...made);
    checkFileCount(this.files.length, 'Split the inputs across several tasks.');
    for (const { path } of made) this.#bytes += (await stat(path)).size;
    if (this.bytesLeft < 0)
      throw new EngineError(
        `The outputs exceed the ${Math.floor(this.#maxBytes).toLocaleString('en')} bytes of disk space that one task has. Split the input, or choose a smaller size or quality.`,
      );
  }
}
