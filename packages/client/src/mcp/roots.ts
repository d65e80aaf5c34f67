import { realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { LatheError } from '../errors.ts';

/** The folders that an agent may use. Links are resolved first, so that none leads out of them. */
export class Roots {
  readonly #folders: string[];

  private constructor(folders: string[]) {
    this.#folders = folders;
  }

  /** Takes folders that exist as roots. */
  static async of(folders: string[]): Promise<Roots> {
    return new Roots(await Promise.all(folders.map((folder) => realpath(folder))));
  }

  /** The folder that relative paths start from. */
  get first(): string {
    return this.#folders[0] ?? process.cwd();
  }

  /** Returns the real path of a file to read. */
  async readable(path: string): Promise<string> {
    const wanted = resolve(this.first, path);
    // A path outside is refused whether or not something is there: an agent must not find that out.
    const real = await realpath(wanted).catch(() => undefined);
    if (real === undefined && this.#contains(wanted)) throw new LatheError('no_such_file', `There is no file ${path}.`);
    if (real === undefined || !this.#contains(real)) throw this.#refusal(path);
    return real;
  }

  /** Returns the real path of a file to write, whose folder may not exist yet. */
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
    return new LatheError(
      'forbidden_path',
      `${path} is outside of the folders that may be used: ${this.#folders.join(', ')}.`,
    );
  }
}

/** Resolves the links in a path, of which the last parts may not exist. */
async function realFolder(path: string): Promise<string> {
  const real = await realpath(path).catch(() => undefined);
  if (real !== undefined || dirname(path) === path) return real ?? path;
  return join(await realFolder(dirname(path)), basename(path));
}
