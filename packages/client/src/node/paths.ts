import { statSync } from 'node:fs';
import { basename, dirname, extname, join, resolve } from 'node:path';
import { isWebAddress } from '../source.ts';

/** Returns the lowercase extension of a path, without the dot. */
export function extensionOf(path: string): string {
  return extname(path).slice(1).toLowerCase();
}

/** Returns whether a path exists. */
export function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Returns a path without its extension. */
export function stemOf(path: string): string {
  return join(dirname(path), basename(path, extname(path)));
}

/** Numbers an output of several files: out.jpg becomes out-1.jpg, out-2.jpg. */
export function numbered(output: string, count: number): string[] {
  if (count === 1) return [output];
  const extension = extname(output);
  const width = String(count).length;
  return Array.from(
    { length: count },
    (_value, index) => `${stemOf(output)}-${String(index + 1).padStart(width, '0')}${extension}`,
  );
}

/** The input and output paths of a command, which keep an output from overwriting the files of another input. */
export class OutputNames {
  readonly #owners = new Map<string, string>();

  constructor(planned: { input: string; inputs?: string[]; output: string }[] = []) {
    for (const { input, inputs = [input] } of planned)
      for (const path of inputs) if (!isWebAddress(path)) this.#claim(path, input);
    for (const { input, output } of planned) this.#claim(output, input);
  }

  /** Returns output paths for an input, numbered if another input has the path. */
  take(input: string, output: string, count = 1): string[] {
    for (let number = 1; ; number++) {
      const paths = numbered(number === 1 ? output : `${stemOf(output)}-${number}${extname(output)}`, count);
      if (!paths.every((path) => (this.#owners.get(sameFile(path)) ?? input) === input)) continue;
      for (const path of paths) this.#claim(path, input);
      return paths;
    }
  }

  #claim(path: string, input: string): void {
    if (!this.#owners.has(sameFile(path))) this.#owners.set(sameFile(path), input);
  }
}

/** Normalizes a path so that paths compare equal if a case-insensitive file system would treat them as one file. */
export function sameFile(path: string): string {
  return resolve(path).normalize('NFC').toLowerCase();
}

/** Removes path separators and other unsafe characters from a filename of the service. */
export function safeName(name: string): string {
  return name.replace(/[\p{Cc}/\\:]/gu, '_').replace(/^\.+/, '_') || 'file';
}
