import { defined } from '../../defined.ts';
import { type Charge, chargesOf, type UsageEntry, usageOf } from '../../tasks/charges.ts';
import type { Task } from '../../tasks/task.ts';
import { get, type Item, type Key, query, type TransactionWrite, transact, update, updateOrRead } from '../table.ts';
import { partitions } from '../table-schema.ts';

/** Shards of an account's usage. The transaction at the end of a task blocks its shard for some milliseconds. */
const usageShards = 16;
/** The shard of instant conversions. It also holds those that are running, so that one write ends and counts one. */
const instantShard = usageShards;
/** The current month and the twelve before it. */
const keptSeconds = 400 * 86_400;

/** Returns the writes that charge a change of a task to its account. */
export function chargeWrites(before: Task, after: Task): TransactionWrite[] {
  const usage = usageOf(before, after);
  return [...chargesOf(before, after).map(chargeWrite), ...(usage ? [usageWrite(usage)] : [])];
}

/** Charges a change of a task to its account. Returns false if that exceeds an allowance. */
export async function charge(before: Task, after: Task): Promise<boolean> {
  const writes = chargesOf(before, after).map(chargeWrite);
  return writes.length === 0 || (await transact(writes)).length === 0;
}

/** One of the places that an account has for instant conversions. */
export interface InstantPlace {
  key: Key;
  /** When it is free again if nobody frees it, and an id. */
  name: string;
}

/** Takes a place for an instant conversion until a time; undefined if all places of the account are taken. */
export async function takeInstantPlace(
  user: string,
  id: string,
  { max, now, until }: { max: number; now: number; until: number },
): Promise<InstantPlace | undefined> {
  const day = new Date(now).toISOString().slice(0, 10);
  const place = { key: { pk: usagePartition(user, instantShard), sk: day }, name: `${until} ${id}` };
  const take = () =>
    updateOrRead(place.key, 'ADD running :place SET #ttl = if_not_exists(#ttl, :ttl)', {
      condition: 'attribute_not_exists(running) OR size(running) < :max',
      names: { '#ttl': 'ttl' },
      values: { ':place': new Set([place.name]), ':max': max, ':ttl': ttlFrom(day) },
    });
  const { updated, item } = await take();
  if (updated) return place;
  const expired = [...Object(item?.running)].filter((name) => Number.parseInt(name, 10) <= now);
  if (expired.length === 0) return undefined;
  await update(place.key, 'DELETE running :expired', { values: { ':expired': new Set(expired) } });
  return (await take()).updated ? place : undefined;
}

/** Frees the place of an instant conversion, and counts the engine time that it used, if any. */
export async function endInstant({ key, name }: InstantPlace, usage: UsageEntry | undefined): Promise<void> {
  const values = { ':place': new Set([name]) };
  if (!usage) await update(key, 'DELETE running :place', { values });
  else {
    const { expression, ...write } = usageUpdate(usage);
    await update(key, `${expression} DELETE running :place`, { ...write, values: { ...write.values, ...values } });
  }
}

/** Returns how many milliseconds of an account's or key's allowance were used in a month. */
export async function takenIn(user: string, month: string, key?: string): Promise<number> {
  const { ms } = (await get(ledgerKey(defined({ user, month, key })))) ?? {};
  return Number(ms ?? 0);
}

/** What an account used on a day. */
export interface DayOfUsage {
  day: string;
  ms: number;
  tasks: number;
  operations: Record<string, number>;
  formats: Record<string, { ms: number; tasks: number }>;
  keys: Record<string, number>;
}

/** Returns an account's usage per day of a period, both ends included, without days that have none. */
export async function usageBetween(user: string, from: string, to: string): Promise<DayOfUsage[]> {
  if (from > to) return [];
  const shards = await Promise.all(
    Array.from({ length: usageShards + 1 }, (_, shard) =>
      query({
        keys: 'pk = :pk AND sk BETWEEN :from AND :to',
        values: { ':pk': usagePartition(user, shard), ':from': from, ':to': to },
      }),
    ),
  );
  const days = new Map<string, DayOfUsage>();
  for (const item of shards.flat()) {
    const day = String(item.sk);
    const sum = days.get(day) ?? { day, ms: 0, tasks: 0, operations: {}, formats: {}, keys: {} };
    days.set(day, sum);
    addTo(sum, item);
  }
  return [...days.values()].sort((one, other) => one.day.localeCompare(other.day));
}

function addTo(sum: DayOfUsage, item: Item): void {
  sum.ms += Number(item.ms ?? 0);
  sum.tasks += Number(item.tasks ?? 0);
  for (const [attribute, value] of Object.entries(item)) {
    const [kind, ...rest] = attribute.split(' ');
    const name = rest.join(' ');
    const amount = Number(value);
    if (kind === 'operation') sum.operations[name] = (sum.operations[name] ?? 0) + amount;
    if (kind === 'key') sum.keys[name] = (sum.keys[name] ?? 0) + amount;
    if (kind !== 'formats' && kind !== 'count') continue;
    const { ms, tasks } = sum.formats[name] ?? { ms: 0, tasks: 0 };
    sum.formats[name] = kind === 'count' ? { ms, tasks: tasks + amount } : { ms: ms + amount, tasks };
  }
}

function chargeWrite({ ms, max, ...ledger }: Charge): TransactionWrite {
  const values = { ':ms': ms, ':ttl': ttlFrom(`${ledger.month}-28`) };
  const write = {
    key: ledgerKey(ledger),
    expression: 'ADD ms :ms SET #ttl = if_not_exists(#ttl, :ttl)',
    names: { '#ttl': 'ttl' },
  };
  // Refunds always fit. The remaining allowance may be negative after it was lowered.
  if (ms <= 0) return { ...write, values };
  const condition = max >= ms ? 'attribute_not_exists(ms) OR ms <= :room' : 'ms <= :room';
  return { ...write, condition, values: { ...values, ':room': max - ms } };
}

function usageWrite(usage: UsageEntry): TransactionWrite {
  return { key: { pk: usagePartition(usage.user, shardOf(usage.task)), sk: usage.day }, ...usageUpdate(usage) };
}

function usageUpdate({ day, ms, operation, formats, key }: UsageEntry) {
  const attributes = {
    ms,
    tasks: 1,
    [`operation ${operation}`]: ms,
    ...(formats === undefined ? {} : { [`formats ${formats}`]: ms, [`count ${formats}`]: 1 }),
    ...(key === undefined ? {} : { [`key ${key}`]: ms }),
  };
  const entries = Object.entries(attributes);
  return {
    expression: `ADD ${entries.map((_, index) => `#a${index} :a${index}`).join(', ')} SET #ttl = if_not_exists(#ttl, :ttl)`,
    names: { ...Object.fromEntries(entries.map(([name], index) => [`#a${index}`, name])), '#ttl': 'ttl' },
    values: { ...Object.fromEntries(entries.map(([, value], index) => [`:a${index}`, value])), ':ttl': ttlFrom(day) },
  };
}

function ledgerKey({ user, month, key }: Pick<Charge, 'user' | 'month' | 'key'>): Key {
  return { pk: `${partitions.minutes}${user}`, sk: key === undefined ? month : `${month} ${key}` };
}

function usagePartition(user: string, shard: number): string {
  return `${partitions.usage}${user}#${shard}`;
}

/** Returns the shard of a task, from the counter at the end of its id. */
function shardOf(task: string): number {
  return Number.parseInt(task.slice(-4), 16) % usageShards;
}

function ttlFrom(day: string): number {
  return Math.ceil(Date.parse(day) / 1000) + keptSeconds;
}
