import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { relative, sep } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { withDeadline } from '../../../../shared/concurrency.ts';
import { SettingsError } from '../../../../shared/settings.ts';
import { type Barriers, unprotected } from '../barriers.ts';
import { TamperedError } from '../checks.ts';
import { EngineError, type RunContext, type Work, type WorkResult } from '../engine.ts';
import { crashOnFile } from '../file-faults.ts';
import { outOfDisk } from '../outputs.ts';
import type { OpenFile } from './folder.ts';
import { freeUser, launch, readablePaths } from './launch.ts';
import { type FromSandbox, MessageReader, type ToSandbox } from './messages.ts';
import { haveOtherChildren, innerPid, killProcess, memoryOf, sandboxProcesses, withDescendants } from './processes.ts';
import { ProcessorTime } from './processor-time.ts';
import { WorkRoot } from './work-root.ts';

/** The process is replaced regularly to bound leaks of native libraries. */
const maxRuns = 100;
const checkMs = 500;
/** Killed processes end within milliseconds. If one does not, the whole sandbox is ended. */
const strayMs = 1000;
/** Closing resources of the last work and preparing one page or process takes tenths of a second. */
const settleMs = 5000;
/** How long the deletion of files may take while the process that wrote them is running. */
const clearSeconds = 2;
/** Limits for forwarded messages of a piece of work, so that they do not fill the function's log or response. */
const progressMs = 200;
const maxLogLines = 100;
/** Disk space for temporary files of programs, such as the cache of a browser, in addition to the outputs. */
const scratchBytes = 512 * 1024 * 1024;
const script = fileURLToPath(new URL('child.ts', import.meta.url));

export interface SandboxOptions {
  /** The engine's run module. */
  module: URL;
  memoryBytes: number;
  /** Whether the engine's programs need the network. */
  network: boolean;
  /** Whether work is refused if the system lacks barriers. Defaults to LATHE_ISOLATION. */
  isolation?: 'available' | 'required';
  /** Whether the process and its warm programs are kept when the tenant changes. Defaults to LATHE_SINGLE_TENANT. */
  singleTenant?: boolean;
}

interface Ready {
  barriers: Barriers;
  /** Processes of the sandbox itself: supervisors and the engine's process. */
  own: Set<number>;
}

interface Child {
  process: ChildProcessWithoutNullStreams;
  /** Resolves when the engine is loaded, and rejects if the process ends before. */
  ready: Promise<Ready>;
  /** The tenant that it has served. */
  tenant: string | undefined;
  /** Set if the system does not assign orphans to the supervisor, to find them by their environment. */
  mark: string | undefined;
  runs: number;
  /** Disk usage before its work, counted at the first two. */
  bytesBefore: number;
  /** Resolved when the engine is ready for its next work, or its process has ended. */
  settled: PromiseWithResolvers<void>;
  /** Receives the messages of the current work. */
  onMessage: (message: FromSandbox) => void;
  /** Called after the process was killed for sending something that an engine would not send. */
  onViolation: (error: TamperedError) => void;
  /** Lines that it printed, for the log. */
  printed: string[];
  readers: MessageReader[];
}

/** A task with its folders in the sandbox. */
export interface PreparedTask {
  /** The folder that the engine may write to. */
  folder: string;
  /** Creates an input and returns its path and descriptor. */
  createInput(name: string): { path: string; descriptor: number };
  /** Opens an output by the path that the engine reports. Throws a `TamperedError` unless it is a file in its folder. */
  openOutput(path: string): OpenFile;
}

/**
 * Runs an engine in a warm child process behind the barriers of the system. The process and all its programs are killed
 * when the work is aborted, and replaced when the tenant changes or the work ends with an unexpected error.
 */
export class Sandbox {
  readonly #options: SandboxOptions;
  readonly #user = freeUser();
  readonly #readable: string[];
  #root: WorkRoot | undefined;
  #child: Child | undefined;
  /** Whether files or processes of an earlier task could not be removed. */
  isUnusable = false;

  constructor(options: SandboxOptions) {
    this.#options = { ...settingsOf(process.env), ...options };
    this.#readable = readablePaths(options.module);
  }

  /** Returns the folder that contains everything that the engine's programs can write to. */
  get folder(): string {
    return this.#workRoot().path;
  }

  /** Starts the process ahead of its first work. */
  warm(): void {
    this.#child ??= this.#start();
  }

  /** Returns the barriers between the engine's programs and the rest of the machine. */
  async barriers(): Promise<Barriers> {
    this.#child ??= this.#start();
    return (await this.#child.ready).barriers;
  }

  /**
   * Deletes the files of earlier tasks and creates the folders of the next, the only ones that engines can reach. Replaces the
   * process if it has served another tenant, so that the new one starts while the inputs are being fetched.
   */
  prepare(tenant: string): PreparedTask {
    this.#admit(tenant);
    if (this.#root?.isIntact === false) this.stop();
    const root = this.#workRoot();
    const { outputs } = this.#clear((seconds) => root.startTask(seconds));
    this.#child ??= this.#start();
    return {
      folder: outputs.path,
      createInput: (name) => root.createInput(name),
      openOutput: (path) => outputs.openFile(relative(outputs.path, path).split(sep)),
    };
  }

  /** Deletes the files of the task. If that fails, the sandbox is unusable. */
  endTask(): void {
    try {
      this.#clear((seconds) => this.#root?.endTask(seconds));
    } catch {
      // Reported by `isUnusable`, because a response has to be sent first.
    }
  }

  /** Deletes files of tasks. If a process fills their folders meanwhile, kills it and deletes without a time limit. */
  #clear<T>(clear: (seconds?: number) => T): T {
    try {
      return clear(clearSeconds);
    } catch {
      this.#kill();
    }
    this.isUnusable = true;
    const cleared = clear();
    this.isUnusable = false;
    return cleared;
  }

  /**
   * Runs one piece of work in the folder from `prepare`. Rejects with an EngineError for problems that the user can fix, and
   * with other errors for faults of the service.
   */
  async run(work: Work, context: RunContext, tenant: string): Promise<WorkResult> {
    context.signal.throwIfAborted();
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

  /** Waits until the engine has settled after its last work. Kills the process if it does not. */
  async settled(): Promise<void> {
    const settled = this.#child?.settled.promise.then(() => true);
    if (settled && !(await withDeadline(settled, settleMs))) this.#kill();
  }

  /** Kills the process and everything it started. The next work gets a new process. */
  endProcess(): void {
    this.#kill();
  }

  /** Kills the process and everything it started, and deletes all folders. */
  stop(): void {
    this.#kill();
    this.#root?.remove();
    this.#root = undefined;
  }

  #workRoot(): WorkRoot {
    this.#root ??= new WorkRoot(this.#user, this.#readable);
    return this.#root;
  }

  /** Ends the process if it has served another tenant. */
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
    // The supervisor last: until then it collects orphaned descendants.
    const signaled = new Set([supervisor]);
    const deadline = Date.now() + strayMs;
    while (Date.now() < deadline) {
      const others = sandboxProcesses(supervisor, child.mark).filter(({ pid }) => !signaled.has(pid));
      if (others.length === 0) break;
      for (const { pid } of others) {
        signaled.add(pid);
        killProcess(pid);
      }
    }
    if (Date.now() >= deadline) this.isUnusable = true;
    killProcess(supervisor);
  }

  #start(): Child {
    const { module, network } = this.#options;
    const root = this.#workRoot();
    const onExit = ([code, signal]: unknown[]) => {
      if (this.#child === child) this.#child = undefined;
      child.settled.resolve();
      const why = [signal ?? `code ${code}`, ...child.printed].join('\n').slice(0, 2_000);
      throw new Error(`The engine's process ended before it was ready (${why}).`);
    };
    const { process: process_, barriers } = launch(script, [fileURLToPath(module)], {
      root,
      readable: this.#readable,
      user: this.#user,
      network,
    });
    const first = Promise.withResolvers<FromSandbox>();
    const settled = Promise.withResolvers<void>();
    settled.resolve();
    const child: Child = {
      process: process_,
      ready: Promise.race([barriers.then(listen), once(process_, 'exit').then(onExit)]),
      tenant: undefined,
      mark: root.path,
      runs: 0,
      bytesBefore: 0,
      settled,
      onMessage: first.resolve,
      onViolation: first.reject,
      printed: [],
      readers: [],
    };
    const events = {
      text: (line: string) => {
        if (child.printed.length < maxLogLines) child.printed.push(line);
      },
      violation: (error: TamperedError) => {
        if (this.#child === child) this.#kill();
        child.onViolation(error);
      },
    };
    child.readers.push(new MessageReader(process_.stderr, events));
    // Fails if the process has ended, which is noticed by its exit.
    process_.stdin.on('error', () => {});
    // Awaited by the first run. Until then a failed start must not count as unhandled.
    for (const failing of [child.ready, first.promise]) failing.catch(() => {});
    return child;

    /** Listens to the engine from the launcher's report until it is loaded. */
    async function listen(standing: Barriers): Promise<Ready> {
      if (standing.orphans.stands || standing.processes.stands) child.mark = undefined;
      const message = (received: FromSandbox) => {
        if (received.type === 'settled') child.settled.resolve();
        else child.onMessage(received);
      };
      child.readers.push(new MessageReader(process_.stdout, { ...events, message }));
      return readyOf(process_.pid, await first.promise, standing);
    }
  }

  #converse(child: Child, work: Work, context: RunContext): Promise<WorkResult> {
    const { process: process_, ready } = child;
    return new Promise((resolve, reject) => {
      const rows = () => (process_.pid === undefined ? [] : sandboxProcesses(process_.pid, child.mark));
      const disk = this.#diskCheck(child, work);
      let processorTime: ProcessorTime | undefined;
      const watch = setInterval(() => {
        const found = rows();
        const refusal = this.#overMemory(memoryOf(found)) ?? processorTime?.check(found) ?? disk();
        if (refusal) end(refusal);
      }, checkMs);
      let logged = 0;
      let percent: number | undefined;
      const progress = setInterval(() => {
        if (percent !== undefined) context.progress(percent);
        percent = undefined;
      }, progressMs);
      const onMessage = (message: FromSandbox) => {
        if (message.type === 'progress') percent = message.percent;
        else if (message.type === 'limit') processorTime?.limit(message.processorSeconds);
        else if (message.type === 'timestamp') timestamp(message.digest);
        else if (message.type === 'announced') {
          if (context.announce) context.announce(message.path, message.frontBytes);
          else end(new TamperedError('The engine announced an output that is stored when the work is done.'));
        } else if (message.type === 'log') {
          logged += 1;
          if (logged <= maxLogLines) context.log(message.message, message.details);
        } else if (message.type !== 'ready' && message.type !== 'settled') {
          const settle = () => {
            if (message.type === 'done') resolve(message.result);
            else if (message.type === 'refused')
              reject(new EngineError(message.msg, { detail: message.detail, needsTime: message.needsTime }));
            else reject(new Error(`The engine failed: ${message.stack}`));
          };
          // Later messages do not belong to this work.
          child.onMessage = () => {};
          this.#endStrays(child, message.warmPrograms).then(
            () => finish(settle),
            (error: unknown) => finish(() => reject(error)),
          );
        }
      };
      const send = (message: ToSandbox) => {
        if (!finished) process_.stdin.write(`${JSON.stringify(message)}\n`);
      };
      const timestamp = (digest: string) => {
        if (!context.timestamp) return end(new TamperedError('The engine asked for a time stamp that is not wanted.'));
        context.timestamp(Buffer.from(digest, 'hex')).then(
          (response) => send({ type: 'timestamp', response: Buffer.from(response).toString('base64') }),
          (error: unknown) =>
            error instanceof EngineError ? send({ type: 'timestamp', msg: error.message }) : end(error),
        );
      };
      const onExit = (code: number | null, signal: string | null) =>
        finish(() =>
          reject(
            crashOnFile(signal) ??
              new Error(`The engine's process ended during the work (${signal ?? `code ${code}`}).`),
          ),
        );
      const onAbort = () => end(context.signal.reason);
      /** Ends the work and its process. */
      const end = (reason: unknown) => {
        finish(() => reject(reason));
        this.#kill();
      };
      let finished = false;
      const finish = (settle: () => void) => {
        if (finished) return;
        finished = true;
        clearInterval(watch);
        clearInterval(progress);
        child.onMessage = () => {};
        child.onViolation = () => {};
        process_.off('exit', onExit);
        context.signal.removeEventListener('abort', onAbort);
        if (child.printed.length > 0) context.log('the engine printed', { lines: child.printed.splice(0) });
        settle();
      };
      // Already while the engine is loading, so that no abort is missed.
      context.signal.addEventListener('abort', onAbort, { once: true });
      ready.then(
        ({ barriers, own }) => {
          if (finished) return;
          this.#handOver(barriers);
          const refusal = this.#refusal(barriers, context);
          if (refusal) return finish(() => reject(refusal));
          child.onMessage = onMessage;
          child.onViolation = end;
          child.settled = Promise.withResolvers();
          for (const reader of child.readers) reader.restart();
          process_.on('exit', onExit);
          // Listing all is slow on a machine with hundreds of processes, and most work takes milliseconds. If one is missed, its
          // earlier time counts too.
          const atStart = (child.mark === undefined ? withDescendants(own) : undefined) ?? rows();
          processorTime = new ProcessorTime(work.maxProcessorSeconds ?? Number.POSITIVE_INFINITY, atStart);
          const { arrival, announce, timestamp: stamp } = context;
          const may = { canTimestamp: stamp !== undefined, canAnnounce: announce !== undefined };
          send({ type: 'run', work, ...may, isArriving: arrival !== undefined });
          for (const index of arrival ? work.inputs.keys() : [])
            arrival?.(index).then(
              () => send({ type: 'arrived', index }),
              (error: unknown) => finished || end(error),
            );
        },
        (error: unknown) => finish(() => reject(error)),
      );
    });
  }

  #overMemory(used: number): EngineError | undefined {
    if (used <= this.#options.memoryBytes) return undefined;
    return new EngineError('The file needs more memory than the engine has. Reduce its dimensions or size.', {
      detail: `${used} bytes used`,
    });
  }

  /** Returns a check for the disk usage of the processes. */
  #diskCheck(child: Child, { maxOutputBytes = Number.POSITIVE_INFINITY }: Work): () => EngineError | undefined {
    const root = this.#workRoot();
    // Warm programs have hundreds of files, and are complete at the second work. Later additions count as the work's.
    if (child.runs <= 2) child.bytesBefore = root.bytes(Number.MAX_SAFE_INTEGER);
    // A tree that is too deep to count exceeds any limit.
    const limit = (Number.isFinite(child.bytesBefore) ? child.bytesBefore : 0) + maxOutputBytes + scratchBytes;
    let next = 0;
    return () => {
      const began = performance.now();
      if (began < next) return undefined;
      const bytes = root.bytes(limit);
      // Counting a large tree is slow, so it must not run all the time.
      next = performance.now() + 20 * (performance.now() - began);
      return bytes > limit ? outOfDisk(maxOutputBytes) : undefined;
    };
  }

  /** Gives the folders of the task to the user of the engine's process. */
  #handOver({ user, mounts }: Barriers): void {
    const root = this.#workRoot();
    root.sharesTmp = !mounts.stands;
    root.handOver(user.stands ? this.#user : undefined);
  }

  /** Returns the error for all work if the deployment demands isolation that this system does not have. */
  #refusal(barriers: Barriers, context: RunContext): EngineError | undefined {
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

  /** Kills processes that the work left running, detached or not, except warm programs. */
  async #endStrays(child: Child, warmPrograms: number[]): Promise<void> {
    const { own } = await child.ready;
    const supervisor = child.process.pid;
    if (supervisor === undefined) return;
    const warm = new Set(warmPrograms);
    // Orphans become children of the supervisor, so strays are descendants of `own`.
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

/** Reads the settings of the deployment. Throws on a mistake, which must not silently turn isolation off. */
function settingsOf({ LATHE_ISOLATION, LATHE_SINGLE_TENANT }: NodeJS.ProcessEnv): Partial<SandboxOptions> {
  const isolation = LATHE_ISOLATION || 'available';
  if (isolation !== 'available' && isolation !== 'required')
    throw new SettingsError(`LATHE_ISOLATION: expected "available" or "required" but received "${isolation}"`);
  const singleTenant = LATHE_SINGLE_TENANT || 'false';
  if (singleTenant !== 'true' && singleTenant !== 'false')
    throw new SettingsError(`LATHE_SINGLE_TENANT: expected "true" or "false" but received "${singleTenant}"`);
  return { isolation, singleTenant: singleTenant === 'true' };
}

function readyOf(supervisor: number | undefined, message: FromSandbox, barriers: Barriers): Ready {
  if (message.type !== 'ready' || supervisor === undefined)
    throw new TamperedError('The engine sent a message before it was ready.');
  const rows = sandboxProcesses(supervisor);
  const engine = rows.find(({ pid }) => (pid === supervisor ? false : innerPid(pid) === message.pid));
  // The first process of a namespace may be between the two.
  const own = new Set([supervisor, ...(engine ? [engine.pid, engine.parent] : [])]);
  return { barriers, own };
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
