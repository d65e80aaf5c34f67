import type { Database, Done, Item, Store, Table, Write } from 'dynalite/db/index.js';
import internals from 'dynalite/db/index.js';

const patched = new WeakSet<Database>();
let pending: Write[] | undefined;

/**
 * Makes dynalite write an item and its index entries in one batch.
 * It writes them one after the other, so a kill between them would leave index entries of an item that is not there.
 */
export function writeItemsWithIndexes(): void {
  internals.updateIndexes = (store, table, existing, item, done) => {
    batchWrites(store.db);
    pending = indexWrites(table, existing, item);
    try {
      // Calls put or del of the item before it returns.
      done();
    } finally {
      pending = undefined;
    }
  };
}

function batchWrites(db: Store['db']): void {
  if (patched.has(db)) return;
  patched.add(db);
  const put = db.put.bind(db);
  const del = db.del.bind(db);
  db.put = (key: string, value: Item, done: Done) => {
    const writes = takePending();
    if (writes) db.batch([...writes, { type: 'put', key, value }], done);
    else return put(key, value, done);
  };
  db.del = (key: string, done: Done) => {
    const writes = takePending();
    if (writes) db.batch([...writes, { type: 'del', key }], done);
    else return del(key, done);
  };
}

function takePending(): Write[] | undefined {
  const writes = pending;
  pending = undefined;
  return writes;
}

function indexWrites(table: Table, existing: Item | undefined, item: Item | null): Write[] {
  const writes: Write[] = [];
  for (const [type, indexes] of [
    ['local', table.LocalSecondaryIndexes],
    ['global', table.GlobalSecondaryIndexes],
  ] as const) {
    if (!indexes) continue;
    const actions = internals.getIndexActions(indexes, existing, item, table);
    const key = (action: { index: string; key: string }) =>
      `index-${type}~${table.TableName}~${action.index}~${action.key}`;
    for (const action of actions.deletes) writes.push({ type: 'del', key: key(action) });
    for (const action of actions.puts) writes.push({ type: 'put', key: key(action), value: action.item });
  }
  return writes;
}
