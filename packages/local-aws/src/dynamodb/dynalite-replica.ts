import { Readable } from 'node:stream';
import type { Database, Item, PrefixedDatabase, RangeOptions, Store, Write } from 'dynalite/db/index.js';
import type { LaggingCopy } from './lagging-copy.ts';

/** What eventually consistent reads see instead of the latest values. */
export interface Replica {
  /** The entries of indexes. */
  indexes?: LaggingCopy<Item> | undefined;
  /** The items of tables; undefined for a read served by an up-to-date copy. */
  items(): LaggingCopy<Item> | undefined;
  /** Called with each write of an item. */
  written(owner: string, change: { before: Item | undefined; after: Item | undefined }): void;
}

/** Returns the store as eventually consistent reads see it. */
export function replicaOf(store: Store, replica: Replica): Store {
  return {
    ...store,
    getIndexDb(type, table, index) {
      const entries = store.getIndexDb(type, table, index);
      const prefix = `index-${type.toLowerCase()}~${table}~${index}~`;
      return replica.indexes ? overlay(store.db, entries, prefix, replica.indexes) : entries;
    },
    getItemDb(table) {
      const items = store.getItemDb(table);
      const copy = replica.items();
      return copy ? overlay(store.db, items, `item-${table}~`, copy) : items;
    },
  };
}

/** Records a write before it takes place. */
export function recordWrite(
  db: Database,
  replica: Replica,
  item: { key: string; before: Item | undefined; after: Item | undefined },
  indexWrites: Write[],
): void {
  replica.written(item.key, { before: item.before, after: item.after });
  const changes = indexWrites.map((write) => ({
    key: write.key,
    before: db.getSync(write.key),
    after: write.type === 'put' ? asStored(write.value) : undefined,
  }));
  if (changes.length > 0) replica.indexes?.change(item.key, changes);
}

/** Returns an entry without its undefined attributes, which are not stored. */
function asStored(entry: Item): Item {
  return Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== undefined));
}

function overlay(db: Database, database: PrefixedDatabase, prefix: string, copy: LaggingCopy<Item>): PrefixedDatabase {
  return {
    ...database,
    get(key, done) {
      const shown = copy.get(prefix + key);
      if (shown) queueMicrotask(() => done(null, shown.value));
      else database.get(key, done);
    },
    createValueStream(options) {
      const isInRange = rangeOf(prefix, options);
      const shown = copy.shown((key) => key.startsWith(prefix) && isInRange(key));
      if (shown.size === 0) return database.createValueStream(options);
      // Created immediately: it does not see later writes.
      const entries = db.iterator(withPrefix(prefix, options));
      return Readable.from(merge(entries, shown, options));
    },
  };
}

async function* merge(
  entries: AsyncIterable<[string, Item]>,
  shown: Map<string, Item | undefined>,
  { reverse = false, limit = -1 }: RangeOptions,
): AsyncGenerator<Item> {
  const merged: [Buffer, Item][] = [];
  for await (const [key, value] of entries) if (!shown.has(key)) merged.push([Buffer.from(key), value]);
  for (const [key, value] of shown) if (value) merged.push([Buffer.from(key), value]);
  merged.sort(([one], [other]) => (reverse ? Buffer.compare(other, one) : Buffer.compare(one, other)));
  for (const [, value] of limit < 0 ? merged : merged.slice(0, limit)) yield value;
}

function withPrefix(prefix: string, { gt, gte, lt, lte }: RangeOptions): RangeOptions {
  return {
    ...(gt === undefined ? { gte: prefix + (gte ?? '') } : { gt: prefix + gt }),
    ...(lte === undefined ? { lt: prefix + (lt ?? '\xff') } : { lte: prefix + lte }),
  };
}

function rangeOf(prefix: string, options: RangeOptions): (key: string) => boolean {
  const { gt, gte, lt, lte } = withPrefix(prefix, options);
  const compare = (key: string, limit: string) => Buffer.compare(Buffer.from(key), Buffer.from(limit));
  return (key) =>
    (gt === undefined || compare(key, gt) > 0) &&
    (gte === undefined || compare(key, gte) >= 0) &&
    (lt === undefined || compare(key, lt) < 0) &&
    (lte === undefined || compare(key, lte) <= 0);
}
