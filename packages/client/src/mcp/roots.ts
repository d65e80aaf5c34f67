import { realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { LatheError } from '../errors.ts';

/** The folders that an agent may access. Links are resolved first, so that none leads outside. */
export class Roots {
  readonly #folders: string[];

  private constructor(folders: string[]) {
    this.#folders = folders;
  }

  /** Creates roots from existing folders. */
  static async of(folders: string[]): Promise<Roots> {
    return new Roots(await Promise.all(folders.map((folder) => realpath(folder))));
  }

  /** The base of relative paths. */
  get first(): string {
    return this.#folders[0] ?? process.cwd();
  }

  /** Returns the real path of a file to read. */
  async readable(path: string): Promise<string> {
    const wanted = resolve(this.first, path);
    // A path outside is rejected whether or not it exists, so that an agent cannot find out.
    const real = await realpath(wanted).catch(() => undefined);
    if (real === undefined && this.#contains(wanted))
      throw new LatheError('no_such_file', `The file ${path} does not exist.`);
    if (real === undefined || !this.#contains(real)) throw this.#refusal(path);
    return real;
  }

  /** Returns the real path of a file to write. Its folder may not exist yet. */
  async writable(path: string): Promise<string> {
    const wanted = resolve(this.first, path);
    const folder = await realFolder(dirname(wanted));
    if (!this.#contains(folder)) throw this.#refusal(path);
    return join(folder, basename(wanted));
  }

  #contains(path: string): boolean {
    return this.#folders.some((folder) => {
      const inner = relative(folder, path);
      return !isAbsolute(inner) && inner !== '..' && !inner.startsWith('../') && !inner.startsWith('..\\');
    });
  }

  #refusal(path: string): LatheError {
    return new LatheError('forbidden_path', `${path} is outside the allowed folders: ${this.#folders.join(', ')}.`);
  }
}

/** Resolves the links in the existing part of a path. */
async function realFolder(path: string): Promise<string> {
  const real = await realpath(path).catch(() => undefined);
  if (real !== undefined || dirname(path) === path) return real ?? path;
  return join(await realFolder(dirname(path)), basename(path));
}
