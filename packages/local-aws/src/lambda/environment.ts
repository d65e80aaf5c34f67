import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { basename, dirname, extname, join, relative } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { FunctionCode, LocalFunction } from '../template/model.ts';
import { freeze, thaw } from './freezing.ts';
import { FunctionError } from './function-error.ts';
import type { Invocation } from './invocation.ts';
import { readLines } from './lines.ts';
import type { RuntimeOptions } from './options.ts';
import { lowerPriority } from './priority.ts';
import type { Reaper } from './reaper.ts';
import type { RuntimeApiServer } from './runtime-api.ts';
import { RuntimeSession } from './session.ts';
import type { StartTime } from './start-time.ts';
import { variablesFor } from './variables.ts';

/** Node runs its source in a checkout; a published package has a build. */
const clientSource = fileURLToPath(new URL('../../../runtime-client/src/main.ts', import.meta.url));
const clientPath = existsSync(clientSource)
  ? clientSource
  : fileURLToPath(import.meta.resolve('@lathe-convert/runtime-client'));

/** Lambda's limit for loading the module. If exceeded, loading starts again with the time of an invocation. */
const initSeconds = 10;
/** Time for a process to exit after it reported a failure. */
const exitMilliseconds = 1_000;

/**
 * V8 lets the young generation grow to 96 MB, little of which is used here. With a process per function that would be
 * most of the memory. A few megabytes do not cause notably more collections.
 */
const semiSpace = '--max-semi-space-size';

export interface EnvironmentEvents {
  ready(environment: Environment): void;
  failed(environment: Environment, error: FunctionError): void;
}

export interface Host extends RuntimeOptions {
  api: RuntimeApiServer;
  reaper: Reaper;
  startTime: StartTime;
  /** The environments of all functions that are starting. */
  starting: Set<Environment>;
  load: NonNullable<RuntimeOptions['load']>;
}

let started = 0;

/**
 * An execution environment: a process, leader of its own group, that runs one invocation at a time and is frozen in
 * between.
 */
export class Environment {
  /** Settles when no process of it is left. */
  readonly ended: Promise<void>;
  readonly #fn: LocalFunction;
  readonly #host: Host;
  /** Whether its clients already have environments. */
  readonly #isFurther: boolean;
  readonly #events: EnvironmentEvents;
  readonly #session: RuntimeSession;
  readonly #sockets = new Set<Socket>();
  readonly #began = performance.now();
  #process: ChildProcess | undefined;
  #folder = '';
  #timer: NodeJS.Timeout | undefined;
  #frozen: number[] | undefined;
  #usable = true;
  #expiresAt = Number.POSITIVE_INFINITY;
  #accessKeyId: string | undefined;
  #killTimer: NodeJS.Timeout | undefined;
  #failure: FunctionError | undefined;

  constructor(fn: LocalFunction, host: Host, events: EnvironmentEvents, isFurther = false) {
    this.#fn = fn;
    this.#isFurther = isFurther;
    this.#host = host;
    this.#events = events;
    this.#session = new RuntimeSession(fn.arn, {
      ready: () => this.#ready(),
      failed: (error) => this.#failed(error),
      responded: () => {
        clearTimeout(this.#timer);
        clearTimeout(this.#killTimer);
      },
    });
    this.ended = this.#live();
  }

  /** Milliseconds since its start. */
  get age(): number {
    return performance.now() - this.#began;
  }

  /** Whether it accepts invocations. Its credentials must outlive each of them. */
  get usable(): boolean {
    return this.#usable && Date.now() + this.#fn.timeoutSeconds * 1000 < this.#expiresAt;
  }

  /** Runs an invocation. It must be waiting for one. */
  run(invocation: Invocation): void {
    const { timeoutSeconds } = this.#fn;
    this.#thaw();
    this.#startTimer(timeoutSeconds, invocation.requestId);
    const killAfterMs = this.#host.faults?.killAfterMs(this.#fn);
    if (killAfterMs !== undefined) this.#killTimer = setTimeout(() => this.kill(), killAfterMs);
    this.#session.start(invocation, Date.now() + timeoutSeconds * 1000);
  }

  /** Stops all its processes until the next invocation. */
  freeze(): void {
    if (this.#process?.pid !== undefined) this.#frozen = freeze(this.#process.pid);
    if (this.#accessKeyId !== undefined && this.#host.faults?.isDisconnected())
      this.#host.disconnect?.(this.#accessKeyId);
  }

  /** Ends it and fails its invocation. */
  kill(): void {
    this.#usable = false;
    clearTimeout(this.#timer);
    clearTimeout(this.#killTimer);
    const { pid, exitCode, signalCode } = this.#process ?? {};
    // If it has exited, the reaper handles it, and its id may be reused by now.
    if (pid !== undefined && exitCode === null && signalCode === null) void this.#host.reaper.end(pid, this.#folder);
  }

  async #live(): Promise<void> {
    let reason: string;
    try {
      reason = await this.#runProcess();
    } catch (error) {
      reason = `with error: ${error instanceof Error ? error.message : String(error)}`;
      // Logged because the caller only sees an internal error.
      this.#log(`Could not start: ${String(error)}`);
    }
    this.#usable = false;
    clearTimeout(this.#timer);
    clearTimeout(this.#killTimer);
    const { starting, busy } = this.#session;
    if (busy) this.#log(`Runtime exited ${reason}`);
    const error = new FunctionError('Runtime.ExitError', `Runtime exited ${reason}`);
    this.#session.lose(error);
    if (starting) this.#failed(error);
  }

  async #runProcess(): Promise<string> {
    const { api, reaper, environmentOf, log } = this.#host;
    const fn = this.#fn;
    const { address, close } = await api.open((call, req, res) => {
      this.#track(req.socket);
      this.#session.handle(call, req, res);
    });
    started += 1;
    this.#folder = join(reaper.folder, String(started));
    try {
      const found = (await this.#host.codeOf?.(fn)) ?? fn.code ?? sourceOf(fn);
      if (!this.#usable) return 'before it was started';
      mkdirSync(this.#folder);
      const expiresAt = this.#host.faults?.credentialsExpireAt(fn);
      const given = environmentOf(fn, expiresAt);
      this.#expiresAt = expiresAt ?? Number.POSITIVE_INFINITY;
      this.#accessKeyId = given.AWS_ACCESS_KEY_ID;
      const env = variablesFor(fn, {
        code: found,
        given,
        runtimeApi: address,
        folder: this.#folder,
      });
      // The last argument identifies the function in process lists.
      const child = this.#host.startImage?.(fn, env) ?? startHere(fn, env, this.#folder);
      this.#process = child;
      if (child.pid !== undefined) lowerPriority(child.pid, this.#host.isAwaited?.(fn) ?? false, this.#isFurther);
      this.#startTimer(Math.max(initSeconds, fn.timeoutSeconds));
      if (child.stdout) readLines(child.stdout, (line) => log(fn, 'stdout', line));
      if (child.stderr) readLines(child.stderr, (line) => log(fn, 'stderr', line));
      const [code, signal] = await once(child, 'exit');
      if (child.pid !== undefined) await reaper.end(child.pid, this.#folder);
      // Data it sent before its end may still be in transit.
      await Promise.race([this.#disconnected(), wait(exitMilliseconds, undefined, { ref: false })]);
      return describeExit(code, signal);
    } finally {
      close();
      await rm(this.#folder, { recursive: true, force: true, maxRetries: 3 }).catch((error: unknown) => {
        this.#log(`Could not remove ${this.#folder}: ${String(error)}`);
      });
    }
  }

  #ready(): void {
    clearTimeout(this.#timer);
    if (this.#usable) this.#events.ready(this);
  }

  #failed(error: FunctionError): void {
    if (this.#failure) return;
    this.#failure = error;
    this.#usable = false;
    this.#events.failed(this, error);
    setTimeout(() => this.kill(), exitMilliseconds).unref();
  }

  #startTimer(seconds: number, requestId = ''): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      const message = `Task timed out after ${seconds.toFixed(2)} seconds`;
      const error = new FunctionError('Sandbox.Timedout', message);
      this.#log(`${requestId} ${message}`.trim());
      this.#session.lose(error);
      if (this.#session.starting) this.#failed(error);
      this.kill();
    }, seconds * 1000);
  }

  #thaw(): void {
    if (this.#frozen && this.#process?.pid !== undefined) thaw(this.#process.pid, this.#frozen);
    this.#frozen = undefined;
  }

  #track(socket: Socket): void {
    if (this.#sockets.has(socket)) return;
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
  }

  async #disconnected(): Promise<void> {
    // The socket of a process killed during a request reports an error first.
    await Promise.all([...this.#sockets].map((socket) => new Promise((resolve) => socket.once('close', resolve))));
  }

  #log(line: string): void {
    this.#host.log(this.#fn, 'stderr', line);
  }
}

function startHere(fn: LocalFunction, env: Record<string, string>, cwd: string): ChildProcess {
  return spawn(process.execPath, [...nodeOptions(fn), clientPath, relative(process.cwd(), fn.entry)], {
    cwd,
    detached: true,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

function sourceOf({ entry, handler }: LocalFunction): FunctionCode {
  return { root: dirname(entry), handler: `${basename(entry, extname(entry))}.${handler}` };
}

function nodeOptions({ memoryMegabytes, packaging, environment }: LocalFunction): string[] {
  // An option given here would override the function's own.
  const ownSemiSpace = environment.NODE_OPTIONS?.includes(semiSpace) ?? false;
  return [
    `--max-old-space-size=${memoryMegabytes}`,
    ...(packaging === 'zip' && !ownSemiSpace ? [`${semiSpace}=4`] : []),
  ];
}

function describeExit(code: unknown, signal: unknown): string {
  if (signal !== null) return `with error: signal: ${signal}`;
  return code === 0 ? 'without providing a reason' : `with error: exit status ${code}`;
}
