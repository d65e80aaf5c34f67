import { chownSync, existsSync, lchownSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, sep } from 'node:path';
import { isAlive } from '../is-alive.ts';

const prefix = 'lathe-sandbox-';
/** Folders in which any user may write. */
const sharedFolders = ['/tmp', '/var/tmp', '/dev/shm'];

/**
 * The folder of a sandbox, the only one that its processes can write to: `tasks` and `tmp`, emptied for each task, and
 * `warm`, the files of programs that stay between tasks, emptied with the process.
 */
export class WorkRoot {
  readonly folder: string;
  /** The user of the sandbox's processes, if it is another than ours. */
  user: number | undefined;
  /** Whether those processes can leave files in the folders in which any user may write. */
  sharesTmp = true;
  readonly #mountPoints: Set<string | undefined>;
  readonly #sharedFolders: string[];

  constructor(user: number | undefined, readable: string[], shared: string[] = sharedFolders) {
    removeAbandoned();
    this.#sharedFolders = shared;
    this.user = user;
    this.folder = mkdtempSync(join(tmpdir(), `${prefix}${process.pid}-`));
    for (const name of ['tasks', 'tmp', 'warm']) mkdirSync(join(this.folder, name), { mode: 0o700 });
    this.own(this.folder);
    this.#mountPoints = new Set([this.folder, ...readable].map((path) => relative('/tmp', path).split(sep)[0]));
  }

  /** Empties the folders of tasks, and unless their programs go on, those of warm programs. */
  empty({ warm }: { warm: boolean }): void {
    for (const name of ['tasks', 'tmp', ...(warm ? ['warm'] : [])]) this.#emptyFolder(name);
    if (this.sharesTmp) for (const folder of this.#sharedFolders) this.#emptyShared(folder);
  }

  /** Makes the folder of a task. */
  makeTaskFolder(): string {
    const folder = mkdtempSync(join(this.folder, 'tasks', 'task-'));
    this.own(folder);
    return folder;
  }

  /** Gives a folder and all that is in it to the user of the sandbox. */
  own(folder: string): void {
    const user = this.user ?? process.getuid?.();
    if (user === undefined || process.getuid?.() !== 0) return;
    chownSync(folder, user, user);
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      lchownSync(join(entry.parentPath, entry.name), user, user);
    }
  }

  /** Returns whether a folder is one that the sandbox's processes can reach. */
  holds(folder: string): boolean {
    return folder.startsWith(`${this.folder}${sep}`);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 3 });
  }

  #emptyFolder(name: string): void {
    const folder = join(this.folder, name);
    for (const entry of readdirSync(folder)) {
      const path = join(folder, entry);
      if (name === 'tmp' && this.#stays(path, entry)) continue;
      rmSync(path, { recursive: true, force: true, maxRetries: 3 });
    }
  }

  /** Deletes what programs left outside, where the system does not keep them in: all that is their user's, or all if the machine is ours alone. */
  #emptyShared(folder: string): void {
    const isOurs = ownsMachine();
    if (this.user === undefined && !isOurs) return;
    if (!existsSync(folder)) return;
    for (const entry of readdirSync(folder)) {
      const path = join(folder, entry);
      const found = lstatSync(path, { throwIfNoEntry: false });
      if (!found || entry.startsWith(prefix) || found.isSocket() || (found.uid !== this.user && !isOurs)) continue;
      rmSync(path, { recursive: true, force: true, maxRetries: 3 });
    }
  }

  /**
   * Sockets hold no data, and LibreOffice keeps its own in /tmp, which this folder is in the sandbox. What else is in reach
   * there, this folder itself among it, is mounted in it, and would be gone with the mount point.
   */
  #stays(path: string, entry: string): boolean {
    if (this.#mountPoints.has(entry)) return true;
    return lstatSync(path, { throwIfNoEntry: false })?.isSocket() ?? false;
  }
}

/**
 * Returns whether nobody else uses the temporary folders of this machine: in an image, whose Dockerfile says so, and on
 * Lambda's own runtime, which alone names its folder. Variables that other programs set as well would not do: on a desk
 * everybody's files are in /tmp.
 */
function ownsMachine(): boolean {
  return process.env.LATHE_OWNS_TMP === 'true' || process.env.LAMBDA_RUNTIME_DIR !== undefined;
}

/** Removes the folders of processes that were killed before they could. Those of another user only root can remove. */
function removeAbandoned(): void {
  const user = process.getuid?.();
  for (const name of readdirSync(tmpdir())) {
    const [, owner] = new RegExp(`^${prefix}(\\d+)-`).exec(name) ?? [];
    if (owner === undefined || isAlive(Number(owner))) continue;
    const path = join(tmpdir(), name);
    if (user !== 0 && lstatSync(path, { throwIfNoEntry: false })?.uid !== user) continue;
    rmSync(path, { recursive: true, force: true });
  }
}
