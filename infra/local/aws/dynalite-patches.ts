/**
 * What is changed inside dynalite 4.0.0, the newest, so that its data survives a kill and it is fast enough. None of it
 * is reported upstream yet (architect/dynalite); each patch names the issue that would end it.
 */
import type { Server } from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import dynalite from 'dynalite';
import type { Database, Item, Store, Table, Write } from 'dynalite/db/index.js';
import internals from 'dynalite/db/index.js';

export interface ItemDatabase {
  server: Server;
  close(): Promise<void>;
}

/** Opens dynalite, patched, on the folder; throws when another process has the folder open. */
export async function openItemDatabase(directory: string): Promise<ItemDatabase> {
  const { server, store } = create(directory);
  readSync(store.db);
  closeIterators(store.db);
  writeItemsWithIndexes(store.db);
  try {
    await store.db.open();
  } catch (cause) {
    throw new Error('The database of the data folder cannot be opened. Is the service running already?', { cause });
  }
  return {
    server,
    // Closing the server would fail, since it never listened, and leave the database open.
    close: () => store.lifecycleManager.gracefulClose(),
  };
}

/** Creates the server and returns its store as well. To report: dynalite() does not expose the store of its server. */
function create(path: string): { server: Server; store: Store } {
  const original = internals.create;
  let store: Store | undefined;
  internals.create = (options) => {
    store = original(options);
    return store;
  };
  try {
    const server = dynalite({ path, createTableMs: 0, deleteTableMs: 0, updateTableMs: 0 });
    if (!store) throw new Error('dynalite made no store');
    return { server, store };
  } finally {
    internals.create = original;
  }
}

/**
 * Reads in this thread. What is read lies in memory, and handing that to another thread and back takes many times as
 * long; each call reads the definition of its table and an item at least.
 * To report: use getSync of classic-level 3 for reads of single keys.
 */
function readSync(db: Database): void {
  db.get = (key, done) => {
    try {
      const value = db.getSync(key);
      queueMicrotask(() => done(null, value));
    } catch (error) {
      queueMicrotask(() => done(error));
    }
  };
}

/**
 * Closes iterators with their streams. Each would stay open, with its view of the data, until the database closes.
 * To report: destroying a stream calls iterator.return(), which iterators of abstract-level lack; they have close().
 */
function closeIterators(db: Database): void {
  const values = db.values.bind(db);
  db.values = (options) => {
    const iterator = values(options);
    return Object.assign(iterator, { return: () => iterator.close() });
  };
}

let pending: Write[] | undefined;

/**
 * Writes an item and its index entries in one batch.
 * To report: PutItem, UpdateItem and DeleteItem write index entries before the item, so that a kill between the two
 * leaves index entries of an item that does not exist.
 */
function writeItemsWithIndexes(db: Database): void {
  internals.updateIndexes = (_store, table, existing, item, done) => {
    pending = indexWrites(table, existing, item);
    try {
      // Calls put or del of the item before it returns.
      done();
    } finally {
      pending = undefined;
    }
  };
  const put = db.put.bind(db);
  const del = db.del.bind(db);
  db.put = (key, value, done) => {
    const writes = takePending();
    if (writes) db.batch([...writes, { type: 'put', key, value }], done);
    else put(key, value, done);
  };
  db.del = (key, done) => {
    const writes = takePending();
    if (writes) db.batch([...writes, { type: 'del', key }], done);
    else del(key, done);
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
    for (const action of actions.puts)
      if (!isAsBefore(action.item, existing)) writes.push({ type: 'put', key: key(action), value: action.item });
  }
  return writes;
}

/** Returns whether an index has an entry of the same content already, as most have after a heartbeat of a task. */
function isAsBefore(entry: Item, existing: Item | undefined): boolean {
  return (
    existing !== undefined && Object.entries(entry).every(([name, value]) => isDeepStrictEqual(value, existing[name]))
  );
}
