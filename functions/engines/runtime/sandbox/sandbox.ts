import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { SettingsError } from '../../../../shared/settings.ts';
import { EngineError, type Work, type WorkContext, type WorkResult } from '../engine.ts';
import { type Barriers, unprotected } from './barriers.ts';
import { freeUser, launch, readablePaths } from './launch.ts';
import type { FromSandbox, ToSandbox } from './messages.ts';
import { haveOtherChildren, innerPid, killProcess, sandboxMemory, sandboxProcesses } from './processes.ts';
import { WorkRoot } from './work-root.ts';

/** The process is replaced regularly to bound leaks of native libraries. */
const maxRuns = 100;
const memoryCheckMs = 500;
/** Killed processes end within milliseconds; one that does not is ended with the whole sandbox. */
const strayMs = 1000;
/** An engine closes what the last work used and makes one page or process ready: tenths of a second. */
const settleMs = 5000;
const script = fileURLToPath(new URL('child.ts', import.meta.url));

export interface SandboxOptions {
  /** The engine's run module. */
  module: URL;
  memoryBytes: number;
  /** Whether the engine's programs need the network. */
  network: boolean;
  /** Whether work is refused where the system lacks barriers. Defaults to LATHE_ISOLATION. */
  isolation?: 'available' | 'required';
  /** Whether the process and its warm programs go on when the tenant changes. Defaults to LATHE_SINGLE_TENANT. */
  singleTenant?: boolean;
}

interface Ready {
  barriers: Barriers;
  /** Processes that are the sandbox itself: supervisors and the engine's process. */
  own: Set<number>;
}

interface Child {
  process: ChildProcess;
  /** Resolves when the engine is loaded, and rejects if the process ends before. */
  ready: Promise<Ready>;
  /** The tenant whose files it has seen. */
  tenant: string | undefined;
  /** Set if orphans are not handed to the supervisor, to find them by their environment. */
  mark: string | undefined;
  runs: number;
  /** Resolved when the engine is ready for its next work, or its process has ended. */
  settled: Promise<void>;
}

/**
 * Runs an engine in a warm child process behind the barriers of the system. The process and all its programs are killed
 * when the work is aborted, and replaced when the tenant changes or the work ends in anything but a result or a refusal.
 */
export class Sandbox {
  readonly #options: SandboxOptions;
  readonly #user = freeUser();
  readonly #readable: string[];
  #root: WorkRoot | undefined;
  #child: Child | undefined;

  constructor(options: SandboxOptions) {
    this.#options = { ...settingsOf(process.env), ...options };
    this.#readable = readablePaths(options.module);
  }

  /** Returns the only folder that the engine's programs can write to, in which `prepare` makes the folders of tasks. */
  get folder(): string {
    return this.#workRoot().folder;
  }

  /** Starts the process ahead of its first work. */
  warm(): void {
    this.#child ??= this.#start();
  }

  /** Returns the barriers that stand between the engine's programs and the rest of the machine. */
  async barriers(): Promise<Barriers> {
    this.#child ??= this.#start();
    return (await this.#child.ready).barriers;
  }

  /**
   * Empties the work folder and makes the folder of the next task in it: engines can reach no other. The process is
   * replaced here if it has served another tenant, so that the new one starts while the inputs are being fetched.
   */
  prepare(tenant: string): string {
    this.#admit(tenant);
    const root = this.#workRoot();
    root.empty({ warm: this.#child === undefined });
    this.#child ??= this.#start();
    return root.makeTaskFolder();
  }

  /**
   * Runs one piece of work, whose folder `prepare` made; rejects with an EngineError for what the user can fix, and with
   * any other error for our faults.
   */
  async run(work: Work, context: WorkContext, tenant: string): Promise<WorkResult> {
    context.signal.throwIfAborted();
    const root = this.#workRoot();
    if (!root.holds(work.folder)) throw new Error(`${work.folder} is not a folder that the sandbox has prepared.`);
    this.#admit(tenant);
    await this.settled();
    context.signal.throwIfAborted();
    this.#child ??= this.#start();
    const child = this.#child;
    child.tenant = tenant;
    child.runs += 1;
    try {
      return await this.#converse(child, work, context);
    } catch (error) {
      if (!(error instanceof EngineError)) this.#kill();
      throw error;
    } finally {
      if (child.runs >= maxRuns) this.#kill();
    }
  }

  /** Waits until the engine has settled after its last work; a process in which it does not is killed. */
  async settled(): Promise<void> {
    const child = this.#child;
    if (!child) return;
    const late = new AbortController();
    const timeout = wait(settleMs, undefined, { signal: late.signal }).then(
      () => this.#kill(),
      () => {},
    );
    await Promise.race([child.settled, timeout]);
    late.abort();
  }

  /** Kills the process and everything it started, and deletes the work folder. */
  stop(): void {
    this.#kill();
    this.#root?.remove();
    this.#root = undefined;
  }

  #workRoot(): WorkRoot {
    this.#root ??= new WorkRoot(this.#user, this.#readable);
    return this.#root;
  }

  /** Ends the process if it has seen files of another tenant. */
  #admit(tenant: string): void {
    const { singleTenant } = this.#options;
    const served = this.#child?.tenant;
    if (served !== undefined && served !== tenant && !singleTenant) this.#kill();
  }

  #kill(): void {
    const child = this.#child;
    this.#child = undefined;
    const supervisor = child?.process.pid;
    if (supervisor === undefined || child?.process.exitCode !== null || child.process.signalCode !== null) return;
    // The supervisor last: until then it collects what its descendants leave behind.
    const signaled = new Set([supervisor]);
    for (;;) {
      const others = sandboxProcesses(supervisor, child.mark).filter(({ pid }) => !signaled.has(pid));
      if (others.length === 0) break;
      for (const { pid } of others) {
        signaled.add(pid);
        killProcess(pid);
      }
    }
    killProcess(supervisor);
  }

  #start(): Child {
    const { module, network } = this.#options;
    const { folder } = this.#workRoot();
    const path = fileURLToPath(module);
    const process_ = launch(script, [path], { folder, readable: this.#readable, user: this.#user, network });
    const gone = once(process_, 'exit').then(([code, signal]) => {
      if (this.#child?.process === process_) this.#child = undefined;
      throw new Error(`The engine's process ended before it was ready (${signal ?? `code ${code}`}).`);
    });
    const message = Promise.race([once(process_, 'message'), gone]);
    const child: Child = {
      process: process_,
      ready: message.then(([first]: FromSandbox[]) => readyOf(child, first)),
      tenant: undefined,
      mark: folder,
      runs: 0,
      settled: Promise.resolve(),
    };
    // Awaited by the first run; until then a failed start must not count as unhandled.
    child.ready.catch(() => {});
    gone.catch(() => {});
    return child;
  }

  #converse(child: Child, work: Work, context: WorkContext): Promise<WorkResult> {
    const { process: process_, ready } = child;
    return new Promise((resolve, reject) => {
      const watch = setInterval(() => {
        const used = process_.pid === undefined ? 0 : sandboxMemory(process_.pid);
        if (used > this.#options.memoryBytes) {
          finish(() =>
            reject(
              new EngineError('The file needs more memory than the engine has. Reduce its dimensions or size.', {
                detail: `${used} bytes used`,
              }),
            ),
          );
          this.#kill();
        }
      }, memoryCheckMs);
      const onMessage = (message: FromSandbox) => {
        if (message.type === 'progress') context.progress(message.percent);
        else if (message.type === 'log') context.log(message.message, message.details);
        else if (message.type !== 'ready' && message.type !== 'settled') {
          const settle = () => {
            if (message.type === 'done') resolve(message.result);
            else if (message.type === 'refused') reject(new EngineError(message.msg, { detail: message.detail }));
            else reject(new Error(`The engine failed: ${message.stack}`));
          };
          this.#endStrays(child, message.warmPrograms).then(
            () => finish(settle),
            (error: unknown) => finish(() => reject(error)),
          );
        }
      };
      const onExit = (code: number | null, signal: string | null) =>
        finish(() => reject(new Error(`The engine's process ended during the work (${signal ?? `code ${code}`}).`)));
      const onAbort = () => {
        finish(() => reject(context.signal.reason));
        this.#kill();
      };
      let finished = false;
      const finish = (settle: () => void) => {
        finished = true;
        clearInterval(watch);
        process_.off('message', onMessage).off('exit', onExit);
        context.signal.removeEventListener('abort', onAbort);
        settle();
      };
      // From here on, though the engine may still be loading: an abort meanwhile must not be missed.
      context.signal.addEventListener('abort', onAbort, { once: true });
      ready.then(
        ({ barriers }) => {
          if (finished) return;
          this.#own(work.folder, barriers);
          const refusal = this.#refusal(barriers, context);
          if (refusal) return finish(() => reject(refusal));
          process_.on('message', onMessage).on('exit', onExit);
          child.settled = settling(process_);
          const message: ToSandbox = { type: 'run', work };
          process_.send(message);
        },
        (error: unknown) => finish(() => reject(error)),
      );
    });
  }

  /** Gives a task's folder, with the inputs that were fetched into it, to the user of the engine's process. */
  #own(folder: string, { user, mounts }: Barriers): void {
    const root = this.#workRoot();
    root.user = user.stands ? this.#user : undefined;
    root.sharesTmp = !mounts.stands;
    root.own(folder);
  }

  /** Returns why work is refused if the deployment demands isolation that this system does not have. */
  #refusal(barriers: Barriers, context: WorkContext): EngineError | undefined {
    const { isolation, network } = this.#options;
    if (isolation !== 'required') return undefined;
    const open = unprotected(barriers, { network });
    if (open.length === 0) return undefined;
    context.log(
      'the engine refuses all work: LATHE_ISOLATION is "required", and this system does not protect some of what it must',
      { unprotected: open },
    );
    return new EngineError('The engine is off: this instance requires isolation that its system does not have.', {
      detail: open.join('\n'),
    });
  }

  /** Kills what the work left running, detached or not, except warm programs. */
  async #endStrays(child: Child, warmPrograms: number[]): Promise<void> {
    const { own } = await child.ready;
    const supervisor = child.process.pid;
    if (supervisor === undefined) return;
    const warm = new Set(warmPrograms);
    // What has lost its parent is a child of the supervisor's, so strays are found among the children of `own` or below.
    if (child.mark === undefined && !haveOtherChildren(own, warm)) return;
    for (const deadline = Date.now() + strayMs; ; ) {
      const strays = straysOf(supervisor, child.mark, own, warm);
      if (strays.length === 0) return;
      if (Date.now() > deadline) return this.#kill();
      for (const pid of strays) killProcess(pid);
      await wait(2);
    }
  }
}

/** Reads the settings of the deployment; a mistake must not pass for a lack of isolation that was chosen. */
function settingsOf({ LATHE_ISOLATION, LATHE_SINGLE_TENANT }: NodeJS.ProcessEnv): Partial<SandboxOptions> {
  const isolation = LATHE_ISOLATION || 'available';
  if (isolation !== 'available' && isolation !== 'required')
    throw new SettingsError(`LATHE_ISOLATION: expected "available" or "required" but received "${isolation}"`);
  const singleTenant = LATHE_SINGLE_TENANT || 'false';
  if (singleTenant !== 'true' && singleTenant !== 'false')
    throw new SettingsError(`LATHE_SINGLE_TENANT: expected "true" or "false" but received "${singleTenant}"`);
  return { isolation, singleTenant: singleTenant === 'true' };
}

function readyOf(child: Child, message: FromSandbox | undefined): Ready {
  const supervisor = child.process.pid;
  if (message?.type !== 'ready' || supervisor === undefined)
    throw new Error('The engine sent a message before it was ready.');
  if (message.barriers.orphans.stands || message.barriers.processes.stands) child.mark = undefined;
  const rows = sandboxProcesses(supervisor);
  const engine = rows.find(({ pid }) => (pid === supervisor ? false : innerPid(pid) === message.pid));
  // Between the two may be the first process of a namespace.
  const own = new Set([supervisor, ...(engine ? [engine.pid, engine.parent] : [])]);
  return { barriers: message.barriers, own };
}

/** Resolves when the engine has settled after the work that it is about to be given, or has ended. */
function settling(process_: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    const onMessage = ({ type }: FromSandbox) => {
      if (type === 'settled') end();
    };
    const end = () => {
      process_.off('message', onMessage).off('exit', end);
      resolve();
    };
    process_.on('message', onMessage).on('exit', end);
  });
}

function straysOf(supervisor: number, mark: string | undefined, own: Set<number>, warm: Set<number>): number[] {
  const rows = sandboxProcesses(supervisor, mark).filter(({ pid }) => !own.has(pid));
  const spared = new Set(warm.size === 0 ? [] : rows.map(({ pid }) => pid).filter((pid) => warm.has(innerPid(pid))));
  for (let size = -1; size !== spared.size; ) {
    size = spared.size;
    for (const { pid, parent } of rows) if (spared.has(parent)) spared.add(pid);
  }
  return rows.map(({ pid }) => pid).filter((pid) => !spared.has(pid));
}
