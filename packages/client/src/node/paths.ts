import { statSync } from 'node:fs';
import { basename, dirname, extname, join, resolve } from 'node:path';
import { isWebAddress } from '../source.ts';

/** Returns the extension of a name, in lower case and without a dot. */
export function extensionOf(path: string): string {
  return extname(path).slice(1).toLowerCase();
}

/** Tells whether something is at a path. */
export function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Returns a path without its extension. */
export function stemOf(path: string): string {
  return join(dirname(path), basename(path, extname(path)));
}

/** Returns the paths of several files of one output: out.jpg becomes out-1.jpg, out-2.jpg. */
export function numbered(output: string, count: number): string[] {
  if (count === 1) return [output];
  const extension = extname(output);
  const width = String(count).length;
  return Array.from(
    { length: count },
    (_value, index) => `${stemOf(output)}-${String(index + 1).padStart(width, '0')}${extension}`,
  );
}

/** The paths that the inputs and outputs of a command have, so that no output replaces what is of another input. */
export class OutputNames {
  readonly #owners = new Map<string, string>();

  constructor(planned: { input: string; inputs?: string[]; output: string }[] = []) {
    for (const { input, inputs = [input] } of planned)
      for (const path of inputs) if (!isWebAddress(path)) this.#claim(path, input);
    for (const { input, output } of planned) this.#claim(output, input);
  }

  /** Returns paths for the files of an input, with another number if a path is that of another input. */
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

/** Returns what two paths have in common that are one file on a system that ignores case or the form of Unicode. */
export function sameFile(path: string): string {
  return resolve(path).normalize('NFC').toLowerCase();
}
