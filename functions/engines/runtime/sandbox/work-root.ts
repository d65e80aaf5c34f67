import { lstatSync, mkdtempSync, readdirSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative, sep } from 'node:path';
import { isAlive } from '../is-alive.ts';
import { type Entry, Folder } from './folder.ts';

const prefix = 'lathe-sandbox-';
/** Folders in which any user may write. */
const sharedFolders = ['/tmp', '/var/tmp', '/dev/shm'];

/** Folders that a sandbox's process may write to; another process gets others. */
export interface ProcessFolders {
  /** Emptied before each task. It is /tmp for the process if the system lets us choose. */
  tmp: Folder;
  /** For programs that stay between tasks. */
  warm: Folder;
}

export interface TaskFolders {
  /** Filled by the trusted side. The process may read it. */
  inputs: Folder;
  /** The process may write to it. */
  outputs: Folder;
}

/**
 * The folders that a sandbox's processes can reach. Those that they may write to are theirs; the others belong to us, with
 * the sandbox's user as their group. If both sides have the same user, the processes could replace any of them, so
 * each is used by the descriptor that was opened when it was made.
 */
export class WorkRoot {
  /** Holds the folders of tasks. It is made before any process is started, so that it can be mounted for all of them. */
  readonly tasks: Folder;
  /** An empty folder in which a process may build the file tree that it sees. */
  readonly view: string;
  /** The user of the sandbox's processes, if it is another than ours. */
  user: number | undefined;
  /** Whether those processes can leave files in the folders in which any user may write. */
  sharesTmp = true;
  readonly #root: Folder;
  readonly #mountPoints: Set<string | undefined>;
  readonly #sharedFolders: string[];
  #process: (ProcessFolders & { name: string }) | undefined;
  #task: TaskFolders | undefined;
  #made = 0;

  constructor(user: number | undefined, readable: string[], shared: string[] = sharedFolders) {
    removeAbandoned();
    this.#sharedFolders = shared;
    this.user = user;
    this.#root = this.#owned(Folder.open(mkdtempSync(join(tmpdir(), `${prefix}${process.pid}-`))), 0o710);
    this.tasks = this.#make(this.#root, 'tasks');
    const view = this.#make(this.#root, 'view');
    this.view = view.path;
    view.close();
    this.#mountPoints = new Set([this.path, ...readable].map((path) => relative('/tmp', path).split(sep)[0]));
  }

  get path(): string {
    return this.#root.path;
  }

  /** Returns whether paths still lead to the folders: processes of our own user can move them away, and then no other can be started. */
  get isIntact(): boolean {
    return [this.#root, this.tasks].every((folder) => folder.isAtItsPath);
  }

  /** Makes the folders of a new process and deletes those of the one before, which has ended. */
  startProcess(): ProcessFolders {
    this.#endProcess();
    const name = `process-${++this.#made}`;
    const folder = this.#make(this.#root, name);
    this.#process = { name, tmp: this.#makeTheirs(folder, 'tmp'), warm: this.#makeTheirs(folder, 'warm') };
    folder.close();
    return this.#process;
  }

  /** Deletes the files of the tasks before, and makes the folders of the next. Takes no longer than so many seconds for each folder. */
  startTask(seconds?: number): TaskFolders {
    this.endTask(seconds);
    // Sockets hold no data, and LibreOffice keeps its own in /tmp. Mount points of the sandbox would be gone with their mounts.
    this.#process?.tmp.empty({
      keep: (name, { isSocket }) => isSocket || this.#mountPoints.has(name),
      ...within(seconds),
    });
    if (this.sharesTmp) for (const folder of this.#sharedFolders) this.#emptyShared(folder, seconds);
    const folder = this.#make(this.tasks, `task-${++this.#made}`);
    this.#task = { inputs: this.#make(folder, 'in', 0o750), outputs: this.#makeTheirs(folder, 'out') };
    folder.close();
    return this.#task;
  }

  /** Creates an input of the task and returns its path and descriptor. */
  createInput(name: string): { path: string; descriptor: number } {
    if (!this.#task) throw new Error('No task was started.');
    const { inputs } = this.#task;
    const group = process.getuid?.() === 0 ? this.user : undefined;
    return { path: join(inputs.path, name), descriptor: inputs.create(name, { mode: 0o640, group }) };
  }

  /** Gives the task to the user that the process turned out to have. */
  handOver(user: number | undefined): void {
    this.user = user;
    if (process.getuid?.() === 0) this.#task?.outputs.setOwner(user ?? 0, user ?? 0);
  }

  /** Deletes the files of all tasks. */
  endTask(seconds?: number): void {
    this.#task?.inputs.close();
    this.#task?.outputs.close();
    this.#task = undefined;
    this.tasks.empty(within(seconds));
  }

  /** Returns how many bytes the processes have written on disk. Stops to count above a limit. */
  bytes(limit: number): number {
    const { tmp, warm } = this.#process ?? {};
    return [this.#task?.outputs, tmp, warm].reduce((sum, folder) => sum + (folder?.bytes(limit - sum) ?? 0), 0);
  }

  /** Deletes everything. */
  remove(): void {
    this.endTask();
    this.#endProcess();
    this.tasks.close();
    this.#root.empty();
    this.#root.close();
    removeFromTmp([basename(this.path)]);
  }

  #endProcess(): void {
    if (!this.#process) return;
    this.#process.tmp.close();
    this.#process.warm.close();
    this.#root.remove(this.#process.name);
    this.#process = undefined;
  }

  /** Makes a folder of ours that the sandbox's user can enter. */
  #make(parent: Folder, name: string, mode = 0o710): Folder {
    return this.#owned(parent.make(name, 0o700), mode);
  }

  #owned(folder: Folder, mode: number): Folder {
    const own = process.getuid?.();
    if (own === 0 && this.user !== undefined) folder.setOwner(own, this.user);
    folder.setMode(mode);
    return folder;
  }

  /** Makes a folder that belongs to the sandbox's user. */
  #makeTheirs(parent: Folder, name: string): Folder {
    const folder = parent.make(name, 0o700);
    if (process.getuid?.() === 0 && this.user !== undefined) folder.setOwner(this.user, this.user);
    return folder;
  }

  /** Deletes what programs left outside, if the system does not confine them: all that is their user's, or all if the machine is ours alone. */
  #emptyShared(path: string, seconds?: number): void {
    const isOurs = ownsMachine();
    if (this.user === undefined && !isOurs) return;
    if (!lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
    const folder = Folder.open(path);
    const keep = (name: string, { isSocket, user }: Entry) =>
      name.startsWith(prefix) || isSocket || (user !== this.user && !isOurs);
    folder.empty({ keep, ...within(seconds) });
    folder.close();
  }
}

function within(seconds: number | undefined): { seconds?: number } {
  return seconds === undefined ? {} : { seconds };
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
  const names = readdirSync(tmpdir()).filter((name) => {
    const [, owner] = new RegExp(`^${prefix}(\\d+)-`).exec(name) ?? [];
    if (owner === undefined || isAlive(Number(owner))) return false;
    return user === 0 || lstatSync(join(tmpdir(), name), { throwIfNoEntry: false })?.uid === user;
  });
  if (names.length > 0) removeFromTmp(names);
}

function removeFromTmp(names: string[]): void {
  const folder = Folder.open(realpathSync(tmpdir()));
  for (const name of names) folder.remove(name);
  folder.close();
}
