import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { EngineError, type Work, type WorkContext, type WorkResult } from '../engine.ts';
import { groupMemory } from './memory.ts';
import type { FromSandbox, ToSandbox } from './messages.ts';

/** The process is replaced regularly to bound leaks of native libraries. */
const maxRuns = 100;
const memoryCheckMs = 500;

export interface SandboxOptions {
  /** The engine's run module. */
  module: URL;
  memoryBytes: number;
}

interface Child {
  process: ChildProcess;
  /** Resolves when the engine is loaded, and rejects if the process ends before. */
  ready: Promise<unknown>;
  runs: number;
}

/** Runs an engine in a warm child process, which is killed with all its children when the work is aborted. */
export class Sandbox {
  readonly #options: SandboxOptions;
  #child: Child | undefined;

  constructor(options: SandboxOptions) {
    this.#options = options;
  }

  /** Starts the process ahead of its first work. */
  warm(): void {
    this.#child ??= this.#start();
  }

  /** Runs one piece of work; rejects with an EngineError for what the user can fix, and with any other error for our faults. */
  async run(work: Work, context: WorkContext): Promise<WorkResult> {
    context.signal.throwIfAborted();
    this.#child ??= this.#start();
    const child = this.#child;
    child.runs += 1;
    try {
      return await this.#converse(child, work, context);
    } catch (error) {
      if (!(error instanceof EngineError)) this.stop();
      throw error;
    } finally {
      if (child.runs >= maxRuns) this.stop();
    }
  }

  /** Kills the process and everything it started. */
  stop(): void {
    const pid = this.#child?.process.pid;
    this.#child = undefined;
    if (pid === undefined) return;
    try {
      process.kill(-pid, 'SIGKILL');
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
    }
  }

  #start(): Child {
    const script = fileURLToPath(new URL('child.ts', import.meta.url));
    const process_ = fork(script, [fileURLToPath(this.#options.module)], {
      detached: true,
      env: cleanEnvironment(),
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      serialization: 'advanced',
    });
    const gone = once(process_, 'exit').then(([code, signal]) => {
      if (this.#child?.process === process_) this.#child = undefined;
      throw new Error(`The engine's process ended before it was ready (${signal ?? `code ${code}`}).`);
    });
    const ready = Promise.race([once(process_, 'message'), gone]);
    // Awaited by the first run; until then a failed start must not count as unhandled.
    ready.catch(() => {});
    gone.catch(() => {});
    return { process: process_, ready, runs: 0 };
  }

  #converse({ process: child, ready }: Child, work: Work, context: WorkContext): Promise<WorkResult> {
    return new Promise((resolve, reject) => {
      const watch = setInterval(() => {
        const used = child.pid === undefined ? 0 : groupMemory(child.pid);
        if (used > this.#options.memoryBytes) {
          finish(() =>
            reject(
              new EngineError('The file needs more memory than the engine has. Reduce its dimensions or size.', {
                detail: `${used} bytes used`,
              }),
            ),
          );
          this.stop();
        }
      }, memoryCheckMs);
      const onMessage = (message: FromSandbox) => {
        if (message.type === 'progress') context.progress(message.percent);
        else if (message.type === 'log') context.log(message.message, message.details);
        else if (message.type === 'done') finish(() => resolve(message.result));
        else if (message.type === 'refused')
          finish(() => reject(new EngineError(message.msg, { detail: message.detail })));
        else if (message.type === 'broken') finish(() => reject(new Error(`The engine failed: ${message.stack}`)));
      };
      const onExit = (code: number | null, signal: string | null) =>
        finish(() => reject(new Error(`The engine's process ended during the work (${signal ?? `code ${code}`}).`)));
      const onAbort = () => {
        finish(() => reject(context.signal.reason));
        this.stop();
      };
      let finished = false;
      const finish = (settle: () => void) => {
        finished = true;
        clearInterval(watch);
        child.off('message', onMessage).off('exit', onExit);
        context.signal.removeEventListener('abort', onAbort);
        settle();
      };
      // From here on, though the engine may still be loading: an abort meanwhile must not be missed.
      context.signal.addEventListener('abort', onAbort, { once: true });
      ready.then(
        () => {
          if (finished) return;
          child.on('message', onMessage).on('exit', onExit);
          const message: ToSandbox = { type: 'run', work };
          child.send(message);
        },
        (error: unknown) => finish(() => reject(error)),
      );
    });
  }
}

/** Environment of engines: what programs need to run, without the function's credentials and settings. */
function cleanEnvironment(): Record<string, string> {
  const kept = [
    'PATH',
    'HOME',
    'LANG',
    'LC_ALL',
    'TZ',
    'TMPDIR',
    'LD_LIBRARY_PATH',
    'FONTCONFIG_PATH',
    'FONTCONFIG_FILE',
    // Paths of programs, missing components, and private hosts that a page may load.
    'LATHE_FFMPEG',
    'LATHE_FFPROBE',
    'LATHE_SOX',
    'LATHE_CHROMIUM',
    'LATHE_LAYERS',
    'LATHE_MISSING',
    'LATHE_ALLOW_HOSTS',
  ];
  const environment = Object.fromEntries(
    kept.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  );
  // With glibc's default of many arenas the memory of threads is never given back.
  return { ...environment, MALLOC_ARENA_MAX: '2' };
}
