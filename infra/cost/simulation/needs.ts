import { maxHoldMs } from '../../../functions/api/http/token-leases.ts';
import type { EngineResources } from '../../../shared/catalogue/catalogue.ts';
import { sizeRanges } from '../../../shared/catalogue/sizes.ts';
import { numberSettings } from '../../../shared/settings.ts';
import { maxWaitConcurrency, workersOf } from '../../sizes.ts';
import type { Inventory } from '../inventory.ts';
import { measurements } from '../measurements.ts';
import { waitsFor } from '../model.ts';
import type { JobKind, Scenario } from './simulate.ts';

/** A resource that a load requires, and how to get more than the default. */
export interface Need {
  name: string;
  needed: number;
  available: number;
  how: string;
}

export interface SimulatedLoad {
  scenarios: Scenario[];
  /** Peak of concurrent engines over all scenarios. */
  peakRunning: number;
  /** Of a deployment with the defaults. */
  inventory: Pick<Inventory, 'throttleRate' | 'waitConcurrency'>;
  catalogues: { engine: string; resources: Pick<EngineResources, 'maxConcurrency'> }[];
}

/** AWS defaults for a new table and for an account in us-east-1 without quota increases, in the units of the needs. */
const aws = {
  table: { writes: 4_000, reads: 12_000 },
  concurrency: 1_000,
  gatewayRequests: 10_000,
  connections: 500,
  prefixWrites: 3_500,
  busRequests: 10_000,
};

/** Computes the needs of scenarios. All have the load of the first; a burst adds creations. */
export function needsOf({ scenarios, peakRunning, inventory, catalogues }: SimulatedLoad): Need[] {
  const [day] = scenarios;
  if (!day) throw new Error('Expected at least one scenario but received none.');
  const { jobsPerSecond, kinds, accounts } = day;
  const { calls, requests } = measurements;
  /** Sums over the jobs of a second. */
  const eachSecond = (of: (kind: JobKind) => number) =>
    jobsPerSecond * kinds.reduce((sum, kind) => sum + kind.share * of(kind), 0);
  const burstPerMinute = Math.max(0, ...scenarios.map(({ burst }) => burst?.jobs ?? 0));
  const usualRequests = eachSecond(({ engineSeconds }) => requests.count + waitsFor(engineSeconds).requests);
  const peakRequests = usualRequests + burstPerMinute / 60;
  const held = eachSecond(({ engineSeconds }) => engineSeconds);
  const short = ((requests.count * requests.milliseconds + calls.milliseconds) / 1000) * jobsPerSecond;
  const ofAccount = (perSecond: number) => (perSecond * 60) / accounts + burstPerMinute;
  const { ratePerMinute, creationsPerMinute, waitsPerMinute } = numberSettings;
  const warm = 'aws dynamodb update-table --warm-throughput, before the load comes';
  const contextValue = 'the context value';
  const reads = eachSecond(({ engineSeconds }) => calls.dynamodbReads + waitsFor(engineSeconds).reads);
  return [
    need('table and indexes, write units a second', calls.dynamodbWrites * jobsPerSecond, aws.table.writes, warm),
    need('table and indexes, read units a second', reads, aws.table.reads, warm),
    need('throttleRate, requests a second', peakRequests, inventory.throttleRate, contextValue),
    need('ratePerMinute of the busiest account', ofAccount(usualRequests), ratePerMinute.defaultValue, contextValue),
    need(
      'creationsPerMinute of the busiest account',
      ofAccount(jobsPerSecond),
      creationsPerMinute.defaultValue,
      contextValue,
    ),
    need(
      'waitConcurrency, waits that are held at once',
      held,
      inventory.waitConcurrency,
      held > maxWaitConcurrency ? `at most ${maxWaitConcurrency}: the others need webhooks` : contextValue,
    ),
    need(
      'waitsPerMinute of an account, of 25 s each',
      (held * 60) / (maxHoldMs / 1000) / accounts,
      waitsPerMinute.defaultValue,
      contextValue,
    ),
    ...catalogues.flatMap((catalogue) => engineNeed(catalogue, kinds)),
    // A worker waits for each engine.
    need('Lambda, concurrent executions', 2 * peakRunning + held + short, aws.concurrency, 'quota L-B99A9384'),
    need('API Gateway, requests a second', peakRequests, aws.gatewayRequests, 'quota L-8A5B8E43'),
    need(
      'new WebSockets a second, if each job has one',
      jobsPerSecond,
      aws.connections,
      'quota L-9ED1E49A, and throttleRate',
    ),
    need(
      'S3, writes a second to a new bucket',
      calls.s3Writes * jobsPerSecond,
      aws.prefixWrites,
      'S3 splits prefixes within an hour of such load; AWS Support does so before',
    ),
    need('EventBridge, PutEvents a second', calls.busEvents * jobsPerSecond, aws.busRequests, 'a quota of the region'),
  ];
}

function need(name: string, needed: number, available: number, how: string): Need {
  return { name, needed: Math.ceil(needed - 1e-6), available, how };
}

/** Returns the lowest maximum with which an engine has enough workers, including its reserve. */
function engineNeed({ engine, resources }: SimulatedLoad['catalogues'][number], kinds: JobKind[]): Need[] {
  const workers = kinds
    .filter((kind) => kind.engine === engine)
    .reduce((sum, { maxConcurrency }) => sum + maxConcurrency, 0);
  if (workers === 0) return [];
  const { max } = sizeRanges.maxConcurrency;
  let needed = Math.min(workers, max);
  while (needed > 1 && workersOf(needed - 1).slots >= workers) needed--;
  const isTooMany = workersOf(needed).slots < workers;
  const how = isTooMany ? `at most ${max}: one queue has no more workers` : 'the context value';
  const name = `${engine}.maxConcurrency, for ${workers} workers`;
  return [need(name, isTooMany ? workers : needed, resources.maxConcurrency, how)];
}
