import {
  type BigIntStats,
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  opendirSync,
  openSync,
  renameSync,
  rmdirSync,
  unlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { TamperedError } from '../checks.ts';

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;
/** Opens an entry of the file tree without access to its content. Node has no constant for it. */
const openPath = 0o10000000;
const isLinux = process.platform === 'linux';
/** How deep a deletion descends, with a descriptor per level, before it moves deeper entries to the top. */
const maxDepth = 32;
/** More than the deepest tree takes. */
const maxPasses = 10_000;
/** Deeper than trees of archives. Each level takes a descriptor. */
const maxCountedDepth = 200;
/** The unit in which systems count disk usage. */
const blockBytes = 512;
/** Names are random so that nobody can guess them. Collisions are handled separately. */
const randomName = () => crypto.randomUUID();

/** An entry that is about to be deleted. */
export interface Entry {
  isSocket: boolean;
  /** Its owner. */
  user: number;
}

type Keep = (name: string, entry: Entry) => boolean;

export interface OpenFile {
  descriptor: number;
  /** Leads to the open file even after it was renamed or deleted. */
  path: string;
  size: number;
}

/**
 * A folder by its descriptor. A process that a file has taken over may rename any folder that it can write to and replace it
 * with a link. So nothing here is reached by a path: a name is a single component below an open folder, and links are never
 * followed. Node has no openat; on Linux a path below /proc/self/fd does the same. Other systems lack this isolation and use
 * the path.
 */
export class Folder {
  /** Its path when it was created, to pass to processes. */
  readonly path: string;
  readonly #descriptor: number;

  private constructor(path: string, descriptor: number) {
    this.path = path;
    this.#descriptor = descriptor;
  }

  /** Opens a folder by a path that no other user can change. */
  static open(path: string): Folder {
    return new Folder(path, openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  }

  /** Creates a folder in this one. */
  make(name: string, mode: number): Folder {
    mkdirSync(this.#at(name), { mode });
    const made = this.#folder(name);
    // The mode above is subject to the umask.
    made.setMode(mode);
    return made;
  }

  /** Returns the identity of the folder, which does not depend on its path. */
  get identity(): Pick<BigIntStats, 'dev' | 'ino'> {
    return fstatSync(this.#descriptor, { bigint: true });
  }

  /** Returns whether its path still leads to it. */
  get isAtItsPath(): boolean {
    const found = lstatSync(this.path, { bigint: true, throwIfNoEntry: false });
    const { dev, ino } = this.identity;
    return found?.dev === dev && found.ino === ino;
  }

  setMode(mode: number): void {
    fchmodSync(this.#descriptor, mode);
  }

  setOwner(user: number, group: number): void {
    fchownSync(this.#descriptor, user, group);
  }

  /** Creates a file and returns its descriptor. */
  create(name: string, { mode, group }: { mode: number; group?: number | undefined }): number {
    const descriptor = openSync(this.#at(name), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
    if (group !== undefined) fchownSync(descriptor, process.getuid?.() ?? 0, group);
    return descriptor;
  }

  /** Opens a regular file below this folder. Throws a `TamperedError` for anything else, and for a file with other names. */
  openFile(names: string[]): OpenFile {
    const [name, ...rest] = names;
    if (name === undefined || !names.every(isName)) throw new TamperedError('The path of the file is not valid.');
    if (rest.length > 0) {
      const folder = untampered(() => this.#folder(name));
      try {
        return folder.openFile(rest);
      } finally {
        folder.close();
      }
    }
    // A pipe that nobody writes to would otherwise block the open.
    const descriptor = untampered(() => openSync(this.#at(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
    const stats = fstatSync(descriptor, { bigint: true });
    if (stats.isFile() && stats.nlink === 1n && stats.dev === this.identity.dev)
      return {
        descriptor,
        path: isLinux ? `/proc/self/fd/${descriptor}` : join(this.path, name),
        size: Number(stats.size),
      };
    closeSync(descriptor);
    throw new TamperedError('The file is not a regular file with a single name.');
  }

  /**
   * Deletes the contents of the folder, except for the names to keep. A running process may fill it faster than it is emptied,
   * so there is a time limit in seconds. Defaults to none.
   */
  empty({ keep, seconds }: { keep?: Keep; seconds?: number } = {}): void {
    const deletion = deletionIn(this, seconds);
    while (this.#emptyOnce(deletion, 0, keep)) deletion.count();
  }

  /** Deletes an entry with its contents. */
  remove(name: string): void {
    const deletion = deletionIn(this);
    while (this.#removeEntry(Buffer.from(name), deletion, 0)) deletion.count();
  }

  /** Returns the disk usage of the files below in bytes. Stops above a limit, and counts a tree that is too deep as above it. */
  bytes(limit: number, depth = 0): number {
    if (depth > maxCountedDepth) return Number.POSITIVE_INFINITY;
    let sum = 0;
    for (const name of this.#names()) {
      if (sum > limit) break;
      const stats = lstatSync(this.#at(name), { throwIfNoEntry: false });
      sum += (stats?.blocks ?? 0) * blockBytes;
      const folder = stats?.isDirectory() ? this.#tryFolder(name) : undefined;
      sum += folder?.bytes(limit - sum, depth + 1) ?? 0;
      folder?.close();
    }
    return sum;
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  #at(name: string | Buffer): Buffer {
    const base = isLinux ? `/proc/self/fd/${this.#descriptor}` : this.path;
    return Buffer.concat([Buffer.from(`${base}/`), Buffer.from(name)]);
  }

  #folder(name: string | Buffer): Folder {
    return new Folder(join(this.path, String(name)), openSync(this.#at(name), O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  }

  /** Opens a folder in this one, even without permission to read it. Returns undefined if it is gone or not a folder. */
  #tryFolder(name: Buffer): Folder | undefined {
    try {
      return this.#folder(name);
    } catch (error) {
      if (!isLinux || codeOf(error) !== 'EACCES') return undefined;
    }
    const place = openSync(this.#at(name), openPath | O_DIRECTORY | O_NOFOLLOW);
    try {
      // By its descriptor: chmod by path follows links.
      chmodSync(`/proc/self/fd/${place}`, 0o700);
    } finally {
      closeSync(place);
    }
    return this.#folder(name);
  }

  /** Yields the names in the folder as bytes, because they may not be valid text. */
  *#names(): Generator<Buffer> {
    const directory = opendirSync(isLinux ? `/proc/self/fd/${this.#descriptor}` : this.path, {
      // @types/node does not list this encoding.
      encoding: 'buffer' as BufferEncoding,
    });
    try {
      for (let entry = directory.readSync(); entry !== null; entry = directory.readSync())
        yield Buffer.from(entry.name);
    } finally {
      directory.closeSync();
    }
  }

  /** Deletes the entries that it finds. Returns whether there may be more. */
  #emptyOnce(deletion: Deletion, depth: number, keep: Keep = () => false): boolean {
    let rest = false;
    for (const name of this.#names()) {
      deletion.check();
      const stats = lstatSync(this.#at(name), { throwIfNoEntry: false });
      if (!stats || keep(String(name), { isSocket: stats.isSocket(), user: stats.uid })) continue;
      rest = true;
      this.#removeEntry(name, deletion, depth);
    }
    return rest;
  }

  /** Deletes an entry as far as possible. Returns whether something is left. */
  #removeEntry(name: Buffer, deletion: Deletion, depth: number): boolean {
    try {
      unlinkSync(this.#at(name));
      return false;
    } catch (error) {
      const code = codeOf(error);
      if (code === 'ENOENT') return false;
      // The codes of POSIX and Linux for a folder.
      if (code !== 'EISDIR' && code !== 'EPERM') throw error;
    }
    if (depth >= maxDepth) {
      renameSync(this.#at(name), deletion.top.#at(randomName()));
      return true;
    }
    const folder = this.#tryFolder(name);
    if (!folder) return true;
    try {
      folder.#emptyOnce(deletion, depth + 1);
    } finally {
      folder.close();
    }
    try {
      rmdirSync(this.#at(name));
      return false;
    } catch (error) {
      const code = codeOf(error);
      if (code !== 'ENOTEMPTY' && code !== 'ENOENT' && code !== 'ENOTDIR') throw error;
      return code !== 'ENOENT';
    }
  }
}

/** The state of a deletion. */
interface Deletion {
  /** Receives entries that are too deep. */
  top: Folder;
  /** Throws after the time limit. */
  check(): void;
  /** Counts a pass over the remaining entries. Throws after too many. */
  count(): void;
}

function deletionIn(top: Folder, seconds = Number.POSITIVE_INFINITY): Deletion {
  const deadline = performance.now() + seconds * 1000;
  let passes = 0;
  const giveUpIf = (isEnough: boolean) => {
    if (isEnough) throw new TamperedError('The folder is filled faster than it can be emptied.');
  };
  return {
    top,
    check: () => giveUpIf(performance.now() > deadline),
    count: () => giveUpIf(++passes > maxPasses),
  };
}

function isName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !/[/\0]/.test(name);
}

/** Reports a file that is missing, a link or otherwise inaccessible as tampered with. */
function untampered<T>(open: () => T): T {
  try {
    return open();
  } catch (error) {
    throw new TamperedError(`The file cannot be opened (${codeOf(error)}).`, { cause: error });
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}
