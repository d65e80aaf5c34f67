/**
 * Patches dynalite 4.0.0, the latest version, so that its data survives a kill, it is fast enough, and conditions fail
 * as they do on AWS. None of the patches is reported upstream yet (architect/dynalite); each names the issue that would
 * end it.
 */
import type { Server } from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import dynalite from 'dynalite';
import type { Database, Done, Expression, Item, KeyConditions, Store, Table, Write } from 'dynalite/db/index.js';
import internals from 'dynalite/db/index.js';
import deleteItem from 'dynalite/validations/deleteItem.js';
import putItem from 'dynalite/validations/putItem.js';
import updateItem from 'dynalite/validations/updateItem.js';
import { type Replica, recordWrite, replicaOf } from './dynalite-replica.ts';
import { type Staging, Transactions } from './dynalite-transactions.ts';

export interface ItemDatabase {
  server: Server;
  /** Serves eventually consistent reads, if they may differ from others. */
  replica: Server | undefined;
  /** Returns the current item of a key. */
  peek(table: string, key: Item): Item | undefined;
  transactions: Transactions;
  close(): Promise<void>;
}

/** Observes every change and query of a database. */
export interface ItemObserver {
  /** Called with an item before and after a write; undefined if absent. */
  written(table: string, existing: Item | undefined, item: Item | undefined): void;
  /** Called after a query, with the value of its partition key and the units it took. */
  queried(query: { table: string; index: string | undefined; key: string; units: number }): void;
}

interface Attachments {
  observer?: ItemObserver | undefined;
  replica?: Replica | undefined;
}

const attachments = new WeakMap<Store, Attachments>();

/** Opens a patched dynalite on the folder; throws if another process has the folder open. */
export async function openItemDatabase(directory: string, attached: Attachments = {}): Promise<ItemDatabase> {
  const { server, store } = create(directory);
  attachments.set(store, attached);
  const replica = attached.replica && replicaOf(store, attached.replica);
  if (replica) attachments.set(replica, attached);
  readSync(store.db);
  closeIterators(store.db);
  writeItemsWithIndexes(store.db);
  failOnMissing();
  returnOnFailure();
  refuseEmptyIndexKeys();
  reportQueries();
  try {
    await store.db.open();
  } catch (cause) {
    throw new Error('The database of the data folder cannot be opened. Is the service already running?', { cause });
  }
  return {
    server,
    replica: replica && serverOf(replica, directory),
    transactions: new Transactions(stagingOf(store, attached)),
    peek(name, key) {
      const table = tableOf(store, name);
      return table && !internals.validateKey(key, table)
        ? store.db.getSync(`item-${name}~${internals.createKey(key, table)}`)
        : undefined;
    },
    // Closing the server would fail, since it never listened, and leave the database open.
    close: () => store.lifecycleManager.gracefulClose(),
  };
}

/** Creates the server and returns its store as well. To report: dynalite() does not expose the store of its server. */
function create(path: string): { server: Server; store: Store } {
  const original = internals.create;
  let store: Store | undefined;
  const server = serverWith((options) => {
    store = original(options);
    return store;
  }, path);
  if (!store) throw new Error('dynalite made no store');
  return { server, store };
}

/** Returns another server over a store. */
function serverOf(store: Store, path: string): Server {
  return serverWith(() => store, path);
}

function serverWith(createStore: typeof internals.create, path: string): Server {
  const original = internals.create;
  internals.create = createStore;
  try {
    return dynalite({ path, createTableMs: 0, deleteTableMs: 0, updateTableMs: 0 });
  } finally {
    internals.create = original;
  }
}

/**
 * Reads in this thread. The data is in memory, and passing it to another thread and back takes many times as long. Each
 * call reads at least the definition of its table and an item.
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
 * Closes iterators with their streams. Otherwise each stays open, with its snapshot of the data, until the database
 * closes. To report: destroying a stream calls iterator.return(), which iterators of abstract-level lack; they have
 * close().
 */
function closeIterators(db: Database): void {
  const values = db.values.bind(db);
  db.values = (options) => {
    const iterator = values(options);
    return Object.assign(iterator, { return: () => iterator.close() });
  };
}

function tableOf(store: Store, name: string): Table | undefined {
  const table = store.db.getSync(`table~${name}`);
  return isTable(table) ? table : undefined;
}

function isTable(value: unknown): value is Table {
  return typeof value === 'object' && value !== null && 'TableName' in value;
}

// The originals, before the first database patches them.
const { checkConditional, queryTable, validateItem } = internals;
const comparisons = new Set(['=', '<>', '<', '<=', '>', '>=', 'between', 'in']);

/**
 * Fails comparisons with attributes that the item lacks, except for inequality.
 * To report: two attributes that are both missing are found to be equal.
 */
function failOnMissing(): void {
  internals.checkConditional = (data, existing = {}) => {
    const { _condition: condition } = data;
    if (!condition) return checkConditional(data, existing);
    const expression = decide(condition.expression, existing);
    return checkConditional({ ...data, _condition: { ...condition, expression } }, existing);
  };
}

function decide(expression: Expression, item: Item): Expression {
  if (Array.isArray(expression) || expression.type === undefined || !Array.isArray(expression.args)) return expression;
  const { type, args } = expression;
  if (!comparisons.has(type)) return { ...expression, args: args.map((each) => decide(each, item)) };
  const missing = args.map((each) => missingPath(each, item)).find((path) => path !== undefined);
  if (!missing) return expression;
  return { type: 'function', name: type === '<>' ? 'attribute_not_exists' : 'attribute_exists', args: [missing] };
}

/** Returns the path of an operand that does not exist, including operands of size(). */
function missingPath(operand: Expression, item: Item): Expression | undefined {
  if (Array.isArray(operand))
    return (internals.mapPath(operand, item) ?? undefined) === undefined ? operand : undefined;
  return operand.type === 'function' && operand.args[0] ? missingPath(operand.args[0], item) : undefined;
}

/**
 * Returns the item on a failed condition, if the write requests it.
 * To report: ReturnValuesOnConditionCheckFailure is ignored.
 */
function returnOnFailure(): void {
  for (const { types } of [putItem, updateItem, deleteItem])
    types.ReturnValuesOnConditionCheckFailure = { type: 'String', enum: ['ALL_OLD', 'NONE'] };
  const { checkConditional: check } = internals;
  internals.checkConditional = (data, existing) => {
    const failure = check(data, existing);
    if (failure?.body && existing && data.ReturnValuesOnConditionCheckFailure === 'ALL_OLD')
      failure.body.Item = existing;
    return failure;
  };
}

/** Refuses items with an empty key of an index, including whole batches. To report: dynalite stores them. */
function refuseEmptyIndexKeys(): void {
  internals.validateItem = (item, table) => validateItem(item, table) ?? emptyIndexKey(item, table);
}

function emptyIndexKey(item: Item, table: Table): Error | undefined {
  return internals.traverseIndexes(table, (attribute, type, { IndexName }) =>
    isDeepStrictEqual(item[attribute], { [type]: '' })
      ? internals.validationError(
          `One or more parameter values are not valid. A value specified for a secondary index key is not supported. The AttributeValue for a key attribute cannot contain an empty ${type === 'S' ? 'string' : 'binary'} value. IndexName: ${IndexName}, IndexKey: ${attribute}`,
        )
      : undefined,
  );
}

/** Reports the units of each query, which dynalite computes only on request. */
function reportQueries(): void {
  internals.queryTable = (store, table, data, options, isLocal, fromItems, startKeys, done) => {
    const observer = attachments.get(store)?.observer;
    const { KeyConditions: keys, ReturnConsumedCapacity: asked, TableName, IndexName } = data;
    // A scan reads every partition, and only the service itself scans.
    if (!observer || !keys) return queryTable(store, table, data, options, isLocal, fromItems, startKeys, done);
    const measured = { ...data, ReturnConsumedCapacity: 'TOTAL' };
    return queryTable(store, table, measured, options, isLocal, fromItems, startKeys, (error, result) => {
      if (error || !result) return done(error);
      const { ConsumedCapacity, ...rest } = result;
      const units = Math.max(ConsumedCapacity?.CapacityUnits ?? 0, data.ConsistentRead ? 1 : 0.5);
      observer.queried({ table: TableName, index: IndexName, key: queriedKey(table, IndexName, keys), units });
      done(null, asked === undefined || asked === 'NONE' ? rest : result);
    });
  };
}

function queriedKey(table: Table, index: string | undefined, conditions: KeyConditions): string {
  const schema =
    index === undefined ? table : table.GlobalSecondaryIndexes?.find(({ IndexName }) => IndexName === index);
  const [value] = conditions[schema?.KeySchema[0]?.AttributeName ?? '']?.AttributeValueList ?? [];
  return String(Object.values(value ?? {})[0]);
}

let pending: Write[] | undefined;

/**
 * Writes an item and its index entries in one batch.
 * To report: PutItem, UpdateItem and DeleteItem write index entries before the item, so that a kill between the two
 * leaves index entries of an item that does not exist.
 */
function writeItemsWithIndexes(db: Database): void {
  internals.updateIndexes = (store, table, existing, item, done) => {
    // An update is checked here, once its resulting item is known.
    const invalid = item ? emptyIndexKey(item, table) : undefined;
    if (invalid) {
      done(invalid);
      return;
    }
    const { observer, replica } = attachments.get(store) ?? {};
    const writes = indexWrites(table, existing, item);
    observer?.written(table.TableName, existing, item ?? undefined);
    const either = item ?? existing;
    if (replica && either) {
      const key = `item-${table.TableName}~${internals.createKey(either, table)}`;
      recordWrite(store.db, replica, { key, before: existing, after: item ?? undefined }, writes);
    }
    pending = writes;
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

/** Returns whether an index already has the same entry, as after most heartbeats of a task. */
function isAsBefore(entry: Item, existing: Item | undefined): boolean {
  return (
    existing !== undefined && Object.entries(entry).every(([name, value]) => isDeepStrictEqual(value, existing[name]))
  );
}

/** Returns a store's interface for transactions. Each of their writes takes twice the units. */
function stagingOf(store: Store, attached: Attachments): Staging {
  const { observer } = attached;
  const twice = observer && {
    ...observer,
    written: (...change: Parameters<ItemObserver['written']>) => {
      observer.written(...change);
      observer.written(...change);
    },
  };
  return {
    table: (name) => tableOf(store, name),
    lock: (table, keys, work) =>
      new Promise((resolve, reject) => {
        store.getItemDb(table).lock(keys, (release) => {
          work().then(release(resolve), release(reject));
        });
      }),
    stage(writes, isFinal) {
      const staged: Store = {
        ...store,
        getItemDb(table) {
          const items = store.getItemDb(table);
          const collect = (write: Write, done: Done) => {
            writes.push(...(takePending() ?? []), write);
            done();
          };
          return {
            ...items,
            // The transaction has locked all of its items.
            lock: (_keys, run) => run((done) => done),
            put: (key, value, done) => collect({ type: 'put', key: `item-${table}~${key}`, value }, done),
            del: (key, done) => collect({ type: 'del', key: `item-${table}~${key}` }, done),
          };
        },
      };
      if (isFinal) attachments.set(staged, { ...attached, observer: twice });
      return staged;
    },
    commit: (writes) =>
      new Promise((resolve, reject) =>
        store.db.batch(writes, (error) => {
          if (error) reject(error);
          else resolve();
        }),
      ),
  };
}
