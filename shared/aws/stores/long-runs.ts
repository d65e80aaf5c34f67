import type { LongRuns } from '../../tasks/long-runs.ts';
import { type Item, type Key, update } from '../table.ts';
import { partitions } from '../table-schema.ts';

/** Each run is an attribute with this prefix, so that one write adds it without a read. */
const prefix = 'run#';
/** How long the item is kept after its last run has ended. */
const keptMs = 3_600_000;

/** Returns the key of the long runs of an account on an engine. */
export function longRunsKey(user: string, engine: string): Key {
  return { pk: `${partitions.longRuns}${user}`, sk: engine };
}

/** Records that a run is active, and returns all runs as of that write. */
export async function keepRun(key: Key, name: string, until: number): Promise<LongRuns> {
  const item = await update(key, 'SET #run = :until, #ttl = :ttl', {
    names: { '#run': `${prefix}${name}`, '#ttl': 'ttl' },
    values: { ':until': until, ':ttl': ttlAfter(until) },
    returns: 'ALL_NEW',
  });
  return toLongRuns(item);
}

/** Removes runs that have ended. */
export async function removeRuns(key: Key, names: string[], now: number): Promise<void> {
  const placeholders = names.map((name, index) => [`#run${index}`, `${prefix}${name}`] as const);
  // Set the expiry too: updating an expired item would otherwise create one that never expires.
  await update(key, `SET #ttl = :ttl REMOVE ${placeholders.map(([placeholder]) => placeholder).join(', ')}`, {
    names: { ...Object.fromEntries(placeholders), '#ttl': 'ttl' },
    values: { ':ttl': ttlAfter(now) },
  });
}

/** Returns the long runs that an item holds. */
export function toLongRuns(item: Item = {}): LongRuns {
  return Object.fromEntries(
    Object.entries(item).flatMap(([name, until]) =>
      name.startsWith(prefix) && typeof until === 'number' ? [[name.slice(prefix.length), until]] : [],
    ),
  );
}

function ttlAfter(time: number): number {
  return Math.ceil((time + keptMs) / 1000);
}
