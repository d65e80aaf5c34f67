import type { LocalFunction } from '../template/model.ts';
import { Fleet } from './fleet.ts';
import { FunctionError } from './function-error.ts';
import { IdleEnvironments } from './idle-environments.ts';
import { Invocation } from './invocation.ts';
import {
  BURST_SECONDS,
  IDLE_SECONDS,
  MAX_IDLE_ENVIRONMENTS,
  MAX_ZIP_ENVIRONMENTS,
  type RuntimeOptions,
} from './options.ts';
import { encodeEvent, PAYLOAD_LIMIT_BYTES, responseTooLarge } from './payload.ts';
import { ProcessorLoad } from './processor-load.ts';
import { Reaper } from './reaper.ts';
import { RuntimeApiServer } from './runtime-api.ts';
import { StartTime } from './start-time.ts';

export interface LambdaRuntime {
  /** Resolves with what the handler returned as JSON holds it, and rejects with a `FunctionError`. */
  invoke(fn: LocalFunction, event: unknown): Promise<unknown>;
  /** Ends every process, with whatever they started. */
  stop(): Promise<void>;
}

export interface LocalRuntime extends LambdaRuntime {
  /** Resolves when the response begins; an error after that is thrown where the chunks are read. */
  invokeStream(fn: LocalFunction, event: unknown): Promise<{ chunks: AsyncIterable<Buffer> }>;
  /** Ends the environments of a function at once; the next invocation starts another. */
  kill(fn: LocalFunction): void;
}

/** Creates a runtime that starts functions when they are first invoked and keeps the last used ones warm. */
export function createLambdaRuntime(options: RuntimeOptions): LocalRuntime {
  const { idleSeconds = IDLE_SECONDS, maxIdle = MAX_IDLE_ENVIRONMENTS, maxZip = MAX_ZIP_ENVIRONMENTS } = options;
  const { burstSeconds = BURST_SECONDS } = options;
  const fleets = new Map<string, Fleet>();
  const idleZip = new IdleEnvironments({ seconds: idleSeconds, max: maxIdle, burstSeconds });
  const idleImages = new IdleEnvironments({ seconds: idleSeconds });
  const api = new RuntimeApiServer();
  const reaper = new Reaper();
  const startTime = new StartTime();
  const load = options.load ?? new ProcessorLoad();
  /** Invocations that have not ended, by the function's ARN. */
  const running = new Map<string, number>();
  let stopped = false;
  let zipEnvironments = 0;

  const zipCapacity = {
    take() {
      if (zipEnvironments >= maxZip) {
        // Its end makes room.
        idleZip.endOldest();
        return false;
      }
      zipEnvironments += 1;
      return true;
    },
    idle() {
      if (zipEnvironments >= maxZip) for (const fleet of fleets.values()) fleet.scale();
    },
    release() {
      zipEnvironments -= 1;
      for (const fleet of fleets.values()) fleet.scale();
    },
  };
  // An image function is limited by the cores, each for itself.
  const imageCapacity = { take: () => true, idle: () => {}, release: () => {} };

  function fleetOf(fn: LocalFunction): Fleet {
    let fleet = fleets.get(fn.arn);
    if (!fleet) {
      const host = { ...options, api, reaper, startTime, load };
      fleet =
        fn.packaging === 'zip'
          ? new Fleet(fn, host, idleZip, zipCapacity)
          : new Fleet(fn, host, idleImages, imageCapacity);
      fleets.set(fn.arn, fleet);
    }
    return fleet;
  }

  /** Counts an invocation until it has ended; returns false where the function's reserved concurrency is used up. */
  function countUntilEnd(fn: LocalFunction, { ended }: Invocation): boolean {
    const count = (difference: number) => running.set(fn.arn, (running.get(fn.arn) ?? 0) + difference);
    if ((running.get(fn.arn) ?? 0) >= (fn.reservedConcurrency ?? Number.POSITIVE_INFINITY)) return false;
    count(1);
    void ended.then(() => count(-1));
    return true;
  }

  async function invokeStream(fn: LocalFunction, event: unknown): Promise<{ chunks: AsyncIterable<Buffer> }> {
    const invocation = new Invocation(encodeEvent(event));
    if (stopped) throw new FunctionError('Sandbox.Stopped', 'The runtime was stopped');
    if (!countUntilEnd(fn, invocation)) {
      options.onInvoked?.(fn, 'throttled');
      throw new FunctionError('TooManyRequestsException', 'Rate Exceeded.');
    }
    fleetOf(fn).run(invocation);
    try {
      const chunks = await invocation.response;
      options.onInvoked?.(fn, 'succeeded');
      return { chunks };
    } catch (error) {
      options.onInvoked?.(fn, 'failed');
      throw error;
    }
  }

  return {
    invokeStream,
    async invoke(fn, event) {
      const { chunks } = await invokeStream(fn, event);
      return JSON.parse((await collect(chunks)).toString());
    },
    kill(fn) {
      fleets.get(fn.arn)?.kill();
    },
    async stop() {
      stopped = true;
      await Promise.all([...fleets.values()].map((fleet) => fleet.stop()));
      await api.close();
      reaper.close();
    },
  };
}

async function collect(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  const read: Buffer[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > PAYLOAD_LIMIT_BYTES) throw responseTooLarge(PAYLOAD_LIMIT_BYTES);
    read.push(chunk);
  }
  return Buffer.concat(read);
}
