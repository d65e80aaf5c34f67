import type { LocalFunction } from '../template/model.ts';
import { type Fleet, openFleet } from './fleet.ts';
import { FunctionError } from './function-error.ts';
import { IdleSandboxes } from './idle-sandboxes.ts';
import { IDLE_SECONDS, MAX_IDLE_THREADS, type RuntimeOptions } from './options.ts';
import { encodeEvent } from './payload.ts';

export interface LambdaRuntime {
  /** Resolves with what the handler returned as JSON holds it, and rejects with a `FunctionError`. */
  invoke(fn: LocalFunction, event: unknown): Promise<unknown>;
  /** Ends every thread and process, with whatever they started. */
  stop(): Promise<void>;
}

export interface LocalRuntime extends LambdaRuntime {
  /** Ends the environments of a function at once; the next invocation starts another. */
  kill(fn: LocalFunction): void;
}

/** Creates a runtime that starts functions when they are first invoked and keeps the last used ones warm. */
export function createLambdaRuntime(options: RuntimeOptions): LocalRuntime {
  const fleets = new Map<string, Fleet>();
  const idleThreads = new IdleSandboxes(
    options.idleSeconds ?? IDLE_SECONDS,
    options.maxIdleThreads ?? MAX_IDLE_THREADS,
  );
  let stopped = false;
  return {
    async invoke(fn, event) {
      const payload = encodeEvent(event);
      if (stopped) throw new FunctionError('Sandbox.Stopped', 'The runtime was stopped');
      let fleet = fleets.get(fn.arn);
      if (!fleet) {
        fleet = openFleet(fn, options, idleThreads);
        fleets.set(fn.arn, fleet);
      }
      return await fleet.invoke(payload);
    },
    kill(fn) {
      fleets.get(fn.arn)?.kill();
    },
    async stop() {
      stopped = true;
      await Promise.all([...fleets.values()].map((fleet) => fleet.stop()));
    },
  };
}
