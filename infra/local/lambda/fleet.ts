import type { LocalFunction } from '../template/model.ts';
import { FunctionError } from './function-error.ts';
import { IdleSandboxes } from './idle-sandboxes.ts';
import { IDLE_SECONDS, type RuntimeOptions } from './options.ts';
import { startProcess } from './process-sandbox.ts';
import type { Sandbox } from './sandbox.ts';
import { Slots } from './slots.ts';
import { startThread } from './thread-sandbox.ts';

/** The environments of one function. */
export interface Fleet {
  invoke(event: string): Promise<unknown>;
  kill(): void;
  stop(): Promise<void>;
}

/** Opens the fleet that a function's packaging asks for; no environment starts before the first invocation. */
export function openFleet(fn: LocalFunction, options: RuntimeOptions, idleThreads: IdleSandboxes): Fleet {
  return fn.packaging === 'zip' ? openThread(fn, options, idleThreads) : openProcesses(fn, options);
}

function openThread(fn: LocalFunction, options: RuntimeOptions, idle: IdleSandboxes): Fleet {
  const live = new LiveSandboxes();
  const slots = new Slots(fn.reservedConcurrency ?? Number.POSITIVE_INFINITY);
  let current: Sandbox | undefined;

  function start(): Sandbox {
    const sandbox = live.add(() => startThread(fn, options));
    void sandbox.ended.then(() => idle.remove(sandbox));
    return sandbox;
  }

  return {
    async invoke(event) {
      await slots.take();
      let sandbox = current;
      try {
        if (!sandbox?.usable) sandbox = current = start();
        idle.remove(sandbox);
        return await sandbox.invoke(event);
      } finally {
        if (sandbox?.usable && !sandbox.busy) idle.add(sandbox);
        slots.release();
      }
    },
    kill: () => live.kill(),
    stop: () => live.stop(),
  };
}

function openProcesses(fn: LocalFunction, options: RuntimeOptions): Fleet {
  const live = new LiveSandboxes();
  const slots = new Slots(Math.min(options.cores, fn.reservedConcurrency ?? options.cores));
  const idle = new IdleSandboxes(options.idleSeconds ?? IDLE_SECONDS);

  function putBack(sandbox: Sandbox): void {
    if (!sandbox.usable) {
      // Its successor waits until the memory and the core are free.
      void sandbox.ended.then(() => slots.release());
      return;
    }
    idle.add(sandbox);
    slots.release();
  }

  return {
    async invoke(event) {
      await slots.take();
      let sandbox: Sandbox;
      try {
        sandbox = idle.take() ?? live.add(() => startProcess(fn, options));
      } catch (error) {
        slots.release();
        throw error;
      }
      try {
        return await sandbox.invoke(event);
      } finally {
        putBack(sandbox);
      }
    },
    kill: () => live.kill(),
    stop: () => live.stop(),
  };
}

class LiveSandboxes {
  readonly #sandboxes = new Set<Sandbox>();
  #stopped = false;

  add(start: () => Sandbox): Sandbox {
    if (this.#stopped) throw new FunctionError('Sandbox.Stopped', 'The runtime was stopped');
    let sandbox: Sandbox;
    try {
      sandbox = start();
    } catch (error) {
      throw new FunctionError('Sandbox.Failure', `Could not start the function: ${String(error)}`, { cause: error });
    }
    this.#sandboxes.add(sandbox);
    void sandbox.ended.then(() => this.#sandboxes.delete(sandbox));
    return sandbox;
  }

  kill(): void {
    for (const sandbox of this.#sandboxes) sandbox.kill();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    const ended = [...this.#sandboxes].map((sandbox) => sandbox.ended);
    this.kill();
    await Promise.all(ended);
  }
}
