import type { LocalFunction } from '../template/model.ts';
import { Capacity } from './capacity.ts';
import type { Environment } from './environment.ts';
import { Fleet } from './fleet.ts';
import { FunctionError } from './function-error.ts';
import { IdleEnvironments } from './idle-environments.ts';
import { Invocation } from './invocation.ts';
import { traceOf } from './lineage.ts';
import {
  defaultBurstSeconds,
  defaultIdleSeconds,
  defaultMaxIdle,
  defaultMaxZip,
  type RuntimeOptions,
} from './options.ts';
import { encodeEvent, payloadLimitBytes, responseTooLarge } from './payload.ts';
import { ProcessorLoad } from './processor-load.ts';
import { Reaper } from './reaper.ts';
import { RuntimeApiServer } from './runtime-api.ts';
import { StartTime } from './start-time.ts';
import { checkTenant } from './tenant.ts';

/** The caller of a function. */
export interface Caller {
  /** Its tenant, if the function isolates tenants. */
  tenantId?: string | undefined;
  /** Trace headers of its causes. */
  traces?: (string | undefined)[];
  /** The client of the request. Clients that wait for environments do not delay each other. */
  client?: string | undefined;
  /** Aborted when the caller has left. An invocation that still waits for an environment is then dropped. */
  signal?: AbortSignal | undefined;
}

export interface LambdaRuntime {
  /** Resolves with the handler's result as JSON, and rejects with a `FunctionError`. */
  invoke(fn: LocalFunction, event: unknown, caller?: Caller): Promise<unknown>;
  /** Ends every process and its descendants. */
  stop(): Promise<void>;
}

export interface LocalRuntime extends LambdaRuntime {
  /** Resolves when the response begins. Later errors are thrown when reading the chunks. */
  invokeStream(fn: LocalFunction, event: unknown, caller?: Caller): Promise<{ chunks: AsyncIterable<Buffer> }>;
  /** Ends the environments of a function immediately. The next invocation starts another. */
  kill(fn: LocalFunction): void;
}

/** Pool of the functions without reserved concurrency. */
const accountPool = 'account';

/** The environments of one function, per tenant if it has tenants. */
interface Fleets {
  idle: IdleEnvironments;
  capacity: Capacity;
  byTenant: Map<string | undefined, Fleet>;
}

/** Creates a runtime that starts functions when they are first invoked and keeps the most recently used ones warm. */
export function createLambdaRuntime(options: RuntimeOptions): LocalRuntime {
  const { idleSeconds = defaultIdleSeconds, maxIdle = defaultMaxIdle, maxZip = defaultMaxZip } = options;
  const { burstSeconds = defaultBurstSeconds } = options;
  /** By the function's ARN. */
  const fleets = new Map<string, Fleets>();
  const idleZip = new IdleEnvironments({ seconds: idleSeconds, max: maxIdle, burstSeconds });
  const zipCapacity = new Capacity(() => maxZip, idleZip);
  const api = new RuntimeApiServer();
  const reaper = new Reaper();
  const startTime = new StartTime();
  const starting = new Set<Environment>();
  const load = options.load ?? new ProcessorLoad();
  /** Invocations in progress, by the ARN of a function with reserved concurrency, or in the account's pool. */
  const running = new Map<string, number>();
  let stopped = false;

  function fleetsOf(fn: LocalFunction): Fleets {
    let found = fleets.get(fn.arn);
    if (!found) {
      // Image functions are limited by the cores, each separately, plus one for an account that has none.
      const idle = fn.packaging === 'zip' ? idleZip : new IdleEnvironments({ seconds: idleSeconds });
      const capacity = fn.packaging === 'zip' ? zipCapacity : new Capacity(() => options.cores + 1, idle);
      found = { idle, capacity, byTenant: new Map() };
      fleets.set(fn.arn, found);
    }
    return found;
  }

  /** Returns the environments of a function for a tenant, if it has tenants. They never serve another. */
  function fleetOf(fn: LocalFunction, tenantId: string | undefined): Fleet {
    const { idle, capacity, byTenant } = fleetsOf(fn);
    const existing = byTenant.get(tenantId);
    if (existing) return existing;
    // There may be many more tenants than active ones.
    for (const [tenant, fleet] of byTenant)
      if (fleet.isEmpty) {
        byTenant.delete(tenant);
        capacity.remove(fleet);
      }
    const fleet = new Fleet(fn, { ...options, api, reaper, startTime, starting, load }, idle, capacity);
    byTenant.set(tenantId, fleet);
    capacity.add(fleet);
    return fleet;
  }

  /**
   * Counts an invocation until it has ended; returns false if the function's reserved concurrency is used up, or the
   * account's, which functions without a reservation share.
   */
  function countUntilEnd(fn: LocalFunction, { ended }: Invocation): boolean {
    const { reservedConcurrency: reserved } = fn;
    const name = reserved === undefined ? accountPool : fn.arn;
    const count = (difference: number) => running.set(name, (running.get(name) ?? 0) + difference);
    if ((running.get(name) ?? 0) >= (reserved ?? options.accountConcurrency ?? Number.POSITIVE_INFINITY)) return false;
    count(1);
    void ended.then(() => count(-1));
    return true;
  }

  async function invokeStream(
    fn: LocalFunction,
    event: unknown,
    { tenantId, traces = [], client, signal }: Caller = {},
  ): Promise<{ chunks: AsyncIterable<Buffer> }> {
    checkTenant(fn, tenantId);
    const invocation = new Invocation(encodeEvent(event), { tenantId, client, trace: traceOf(fn, traces) });
    if (stopped) throw new FunctionError('Sandbox.Stopped', 'The runtime was stopped');
    if (!countUntilEnd(fn, invocation)) {
      options.onInvoked?.(fn, 'throttled');
      throw new FunctionError('TooManyRequestsException', 'Rate Exceeded.');
    }
    fleetOf(fn, tenantId).run(invocation, signal);
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
    async invoke(fn, event, caller) {
      const { chunks } = await invokeStream(fn, event, caller);
      return JSON.parse((await collect(chunks)).toString());
    },
    kill(fn) {
      for (const fleet of fleetsOf(fn).byTenant.values()) fleet.kill();
    },
    async stop() {
      stopped = true;
      const all = [...fleets.values()].flatMap(({ byTenant }) => [...byTenant.values()]);
      await Promise.all(all.map((fleet) => fleet.stop()));
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
    if (size > payloadLimitBytes) throw responseTooLarge(payloadLimitBytes);
    read.push(chunk);
  }
  return Buffer.concat(read);
}
