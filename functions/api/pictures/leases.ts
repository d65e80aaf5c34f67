import { setTimeout as pause } from 'node:timers/promises';
import { newToken } from '../../../shared/aws/objects.ts';
import { get, type Item, type Key, removeIf, update, updateOrRead } from '../../../shared/aws/table.ts';
import { partitions } from '../../../shared/aws/table-schema.ts';

/** Longer than a request may take: after that, the request that makes it has died. */
const leaseMs = 30_000;
/** How long a result is there for the requests that waited for it. */
const sharedMs = 60_000;
/** A failure may be temporary. */
const failedMs = 2_000;
/** Delays between reads grow, because DynamoDB allows 3,000 reads of an item per second and many may wait. */
const firstPollMs = 100;
const pollGrowth = 1.3;
const maxPollMs = 1_000;

/** How work ended, as others read it. */
export type Outcome<Stored> = { made: Stored } | { failed: Failure };

export interface Failure {
  status: number;
  errorCode: string;
  msg: string;
  headers: Record<string, string>;
}

/** Work whose result several requests may want at once. */
export interface SharedWork<Result, Stored> {
  make(): Promise<Result>;
  /** Keeps a result for others. Only called if there are others. */
  store(result: Result): Promise<Stored>;
  describe(error: unknown): Failure;
}

/**
 * Does work once, however many requests ask for it at the same time and in how many environments. The first makes it, and the
 * others poll for its outcome. Returns undefined if there is none by the deadline. Alone, a request costs two write units.
 */
export async function makeOnce<Result, Stored>(
  name: string,
  deadline: number,
  work: SharedWork<Result, Stored>,
): Promise<{ own: Result } | { shared: Outcome<Stored> } | undefined> {
  const key = { pk: `${partitions.derivative}${name}`, sk: 'lease' };
  while (Date.now() < deadline) {
    const holder = newToken();
    const now = Date.now();
    const { updated, item } = await updateOrRead(
      key,
      'SET holder = :holder, leaseEnd = :end, #ttl = :ttl REMOVE waiters, outcome',
      {
        condition: 'attribute_not_exists(pk) OR leaseEnd <= :now',
        names: { '#ttl': 'ttl' },
        values: { ':holder': holder, ':now': now, ':end': now + leaseMs, ':ttl': ttlOf(now + leaseMs) },
      },
    );
    if (updated) return { own: await make(key, holder, work) };
    const shared = item && (await join<Stored>(key, item, deadline));
    if (shared) return { shared };
  }
  return undefined;
}

async function make<Result, Stored>(key: Key, holder: string, work: SharedWork<Result, Stored>): Promise<Result> {
  let result: Result;
  try {
    result = await work.make();
  } catch (error) {
    await finish(key, holder, failedMs, async () => ({ failed: work.describe(error) }));
    throw error;
  }
  await finish(key, holder, sharedMs, async () => ({ made: await work.store(result) }));
  return result;
}

/** Ends a lease. The outcome is only kept if somebody waits for it. */
async function finish(
  key: Key,
  holder: string,
  milliseconds: number,
  outcomeOf: () => Promise<Outcome<unknown>>,
): Promise<void> {
  const isMine = 'holder = :holder';
  if (await removeIf(key, `${isMine} AND attribute_not_exists(waiters)`, { ':holder': holder })) return;
  const outcome = await outcomeOf();
  const end = Date.now() + milliseconds;
  await update(key, 'SET outcome = :outcome, leaseEnd = :end, #ttl = :ttl', {
    condition: isMine,
    names: { '#ttl': 'ttl' },
    values: { ':holder': holder, ':outcome': outcome, ':end': end, ':ttl': ttlOf(end) },
  });
}

/** Waits for the outcome of a lease; undefined if it ends without one. */
async function join<Stored>(key: Key, lease: Item, deadline: number): Promise<Outcome<Stored> | undefined> {
  let current: Item | undefined = lease;
  if (!lease.outcome)
    current = await update(key, 'ADD waiters :one', {
      condition: 'holder = :holder',
      values: { ':one': 1, ':holder': lease.holder },
      returns: 'ALL_NEW',
    });
  let pollMs = firstPollMs;
  while (current && current.holder === lease.holder) {
    if (current.outcome) return current.outcome as Outcome<Stored>;
    if (Date.now() >= Math.min(deadline, Number(current.leaseEnd))) return undefined;
    await pause(pollMs * (1 - Math.random() / 4));
    pollMs = Math.min(maxPollMs, pollMs * pollGrowth);
    current = await get(key, { consistent: false });
    // A copy may be older than the lease.
    if (current?.holder !== lease.holder) current = await get(key);
  }
  return undefined;
}

function ttlOf(time: number): number {
  return Math.ceil(time / 1000);
}
