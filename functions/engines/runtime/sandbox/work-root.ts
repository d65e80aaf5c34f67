import { lstatSync, mkdtempSync, readdirSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative, sep } from 'node:path';
import { defined } from '../../../../shared/defined.ts';
import { isAlive } from '../is-alive.ts';
import { type Entry, Folder } from './folder.ts';

const prefix = 'lathe-sandbox-';
/** World-writable folders. */
const sharedFolders = ['/tmp', '/var/tmp', '/dev/shm'];

/** Folders that a sandbox's process may write to; another process gets others. */
export interface ProcessFolders {
  /** Emptied before each task. Mounted as /tmp for the process if the system allows it. */
  tmp: Folder;
  /** For programs that stay running between tasks. */
  warm: Folder;
}

export interface TaskFolders {
  /** Filled by the trusted side. The process may read it. */
  inputs: Folder;
  /** The process may write to it. */
  outputs: Folder;
}

/**
 * The folders that a sandbox's processes can reach. They own the folders that they may write to. The others belong to the
 * trusted side, with the sandbox's user as their group. If both sides have the same user, the processes could replace any of
 * them, so each is used by the descriptor that was opened when it was created.
 */
export class WorkRoot {
  /** Holds the folders of tasks. Created before any process is started, so that it can be mounted for all of them. */
  readonly tasks: Folder;
  /** An empty folder in which a process may build the file tree that it sees. */
  readonly view: string;
  /** The user of the sandbox's processes, if different from ours. */
  user: number | undefined;
  /** Whether those processes can leave files in world-writable folders. */
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

  /** Returns whether paths still lead to the folders. Processes of our own user can move them, and then none can be started. */
  get isIntact(): boolean {
    return [this.#root, this.tasks].every((folder) => folder.isAtItsPath);
  }

  /** Creates the folders of a new process and deletes those of the previous one, which has ended. */
  startProcess(): ProcessFolders {
    this.#endProcess();
    const name = `process-${++this.#made}`;
    const folder = this.#make(this.#root, name);
    this.#process = { name, tmp: this.#makeTheirs(folder, 'tmp'), warm: this.#makeTheirs(folder, 'warm') };
    folder.close();
    return this.#process;
  }

  /** Deletes the files of earlier tasks and creates the folders of the next. The time limit in seconds is per folder. */
  startTask(seconds?: number): TaskFolders {
    this.endTask(seconds);
    // Sockets hold no data, and LibreOffice keeps its sockets in /tmp. Mount points of the sandbox must stay.
    this.#process?.tmp.empty({
      keep: (name, { isSocket }) => isSocket || this.#mountPoints.has(name),
      ...defined({ seconds }),
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

  /** Makes the user of the process the owner of the task's folders. */
  handOver(user: number | undefined): void {
    this.user = user;
    if (process.getuid?.() === 0) this.#task?.outputs.setOwner(user ?? 0, user ?? 0);
  }

  /** Deletes the files of all tasks. */
  endTask(seconds?: number): void {
    this.#task?.inputs.close();
    this.#task?.outputs.close();
    this.#task = undefined;
    this.tasks.empty(defined({ seconds }));
  }

  /** Returns the disk usage of the processes in bytes. Stops counting above a limit. */
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

  /** Creates a folder of the trusted side that the sandbox's user can enter. */
  #make(parent: Folder, name: string, mode = 0o710): Folder {
    return this.#owned(parent.make(name, 0o700), mode);
  }

  #owned(folder: Folder, mode: number): Folder {
    const own = process.getuid?.();
    if (own === 0 && this.user !== undefined) folder.setOwner(own, this.user);
    folder.setMode(mode);
    return folder;
  }

  /** Creates a folder that belongs to the sandbox's user. */
  #makeTheirs(parent: Folder, name: string): Folder {
    const folder = parent.make(name, 0o700);
    if (process.getuid?.() === 0 && this.user !== undefined) folder.setOwner(this.user, this.user);
    return folder;
  }

  /** Deletes files that unconfined programs left outside: those of their user, or all if nobody else uses the machine. */
  #emptyShared(path: string, seconds?: number): void {
    const isOurs = ownsMachine();
    if (this.user === undefined && !isOurs) return;
    if (!lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
    const folder = Folder.open(path);
    const keep = (name: string, { isSocket, user }: Entry) =>
      name.startsWith(prefix) || isSocket || (user !== this.user && !isOurs);
    folder.empty(defined({ keep, seconds }));
    folder.close();
  }
}

/**
 * Returns whether nobody else uses the temporary folders of this machine: in an image, by a variable of its Dockerfile, and on
 * Lambda's own runtime, by a variable that only Lambda sets. On other machines, /tmp has files of other programs.
 */
function ownsMachine(): boolean {
  return process.env.LATHE_OWNS_TMP === 'true' || process.env.LAMBDA_RUNTIME_DIR !== undefined;
}

/** Removes the folders of processes that were killed before they could do so. Only root can remove those of other users. */
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
