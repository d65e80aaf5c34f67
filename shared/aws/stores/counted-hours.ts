import type { CountedHour, CountedSlot } from '../../lists/counts.ts';
import { hourOfSlot, mayBeCounted, slotMs, slotOfId, slotsPerHour } from '../../lists/slots.ts';
import { RecentValues } from '../../recent-values.ts';
import { type Item, type Key, query, update } from '../table.ts';
import { partitions } from '../table-schema.ts';

/** How long an announcement covers further deletions of this process. Far less than the lag of counts. */
const announcedMs = 10_000;
const hourSeconds = (slotMs * slotsPerHour) / 1000;
/** How long the item of an hour with nothing but announced deletions is kept, in seconds. */
const announcementSeconds = 86_400;

/** Slots for which this process has recently announced deletions. */
const announced = new RecentValues<true>({ milliseconds: announcedMs, max: 1_000 });

const keyOf = (user: string, hour: number): Key => ({ pk: `${partitions.counts}${user}`, sk: sortKeyOf(hour) });
// Sorts as text for some thousand years.
const sortKeyOf = (hour: number) => `hour#${String(hour).padStart(8, '0')}`;
const changeAttribute = (slot: number) => `changed${slot % slotsPerHour}`;

/** Reads the counts of a user's records in a range of hours, both ends included. */
export async function countedHours(user: string, oldest: number, newest: number): Promise<CountedHour[]> {
  const items = await query({
    keys: 'pk = :pk AND sk BETWEEN :oldest AND :newest',
    values: {
      ':pk': keyOf(user, oldest).pk,
      ':oldest': sortKeyOf(oldest),
      ':newest': sortKeyOf(newest),
    },
  });
  return items.map(toHour);
}

/** Stores the counts of an hour unless it changed since it was read; returns whether they were stored. */
export async function saveCountedHour(user: string, { hour, version, slots }: CountedHour): Promise<boolean> {
  const lastExpiry = Math.max(...[...slots.values()].map((counts) => counts.lastExpiry));
  const written = await update(keyOf(user, hour), 'SET slots = :slots, #ttl = :ttl ADD version :one', {
    condition: version === 0 ? 'attribute_not_exists(version)' : 'version = :version',
    names: { '#ttl': 'ttl' },
    values: {
      ':one': 1,
      ':version': version === 0 ? undefined : version,
      ':ttl': Math.max(Math.ceil(lastExpiry / 1000), (hour + 1) * hourSeconds + announcementSeconds),
      // Stored as one text: DynamoDB numbers in nested maps are three times as long and slow to read.
      ':slots': JSON.stringify([...slots]),
    },
  });
  return written !== undefined;
}

/**
 * Announces the deletion of a group or one of its tasks, so that lists do not rely on earlier counts of it. A crash
 * between the announcement and the deletion only causes a recount.
 */
export async function announceDeletion(user: string, id: string): Promise<void> {
  const now = Date.now();
  const slot = slotOfId(id);
  const name = `${user} ${slot}`;
  if (!mayBeCounted(slot, now) || announced.get(name)) return;
  await update(
    keyOf(user, hourOfSlot(slot)),
    'SET #changed = :now, #ttl = if_not_exists(#ttl, :ttl) ADD version :one',
    {
      names: { '#changed': changeAttribute(slot), '#ttl': 'ttl' },
      values: { ':one': 1, ':now': now, ':ttl': Math.ceil(now / 1000) + announcementSeconds },
    },
  );
  announced.set(name, true);
}

function toHour(item: Item): CountedHour {
  const hour = Number(String(item.sk).slice(sortKeyOf(0).indexOf('#') + 1));
  const slots: [number, CountedSlot][] = JSON.parse(String(item.slots ?? '[]'));
  const first = hour * slotsPerHour;
  const changes = Array.from({ length: slotsPerHour }, (_, index) => first + index).flatMap((slot) => {
    const changedAt = item[changeAttribute(slot)];
    return changedAt === undefined ? [] : [[slot, Number(changedAt)] as const];
  });
  return { hour, version: Number(item.version), slots: new Map(slots), changedAt: new Map(changes) };
}
