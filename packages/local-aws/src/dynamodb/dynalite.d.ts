declare module 'dynalite' {
  import type { Server } from 'node:http';

  interface DynaliteOptions {
    path: string;
    createTableMs: number;
    deleteTableMs: number;
    updateTableMs: number;
  }
  export default function dynalite(options: DynaliteOptions): Server;
}

declare module 'dynalite/db/index.js' {
  import type { Readable } from 'node:stream';

  export type Done = (error?: Error | null) => void;
  export type Item = Record<string, unknown>;
  export type Write = { type: 'put'; key: string; value: Item } | { type: 'del'; key: string };

  interface KeySchema {
    AttributeName: string;
  }

  export interface Index {
    IndexName: string;
    KeySchema: KeySchema[];
  }

  export interface Table {
    TableName: string;
    KeySchema: KeySchema[];
    LocalSecondaryIndexes?: Index[];
    GlobalSecondaryIndexes?: Index[];
  }

  export interface RangeOptions {
    gt?: string;
    gte?: string;
    lt?: string;
    lte?: string;
    reverse?: boolean;
    /** Negative for none. */
    limit?: number;
  }

  /** The items of a table, or the entries of an index. */
  export interface PrefixedDatabase {
    get(key: string, done: (error: unknown, value?: Item) => void): void;
    put(key: string, value: Item, done: Done): void;
    del(key: string, done: Done): void;
    /** Calls back once all keys are unlocked, with a function that wraps a callback to release them. */
    lock(keys: string | string[], run: (release: <F>(done: F) => F) => void): void;
    createValueStream(options: RangeOptions): Readable;
  }

  export interface Database {
    open(): Promise<void>;
    values(options: object): { close(): Promise<void> };
    iterator(options: RangeOptions): AsyncIterable<[string, Item]>;
    get(key: string, done: (error: unknown, value?: Item) => void): void;
    getSync(key: string): Item | undefined;
    put(key: string, value: Item, done: Done): void;
    del(key: string, done: Done): void;
    batch(writes: Write[], done: Done): void;
    /** Called with each iterator that is opened or closed. */
    attachResource(resource: unknown): void;
    detachResource(resource: unknown): void;
  }

  export interface Store {
    db: Database;
    getItemDb(table: string): PrefixedDatabase;
    getIndexDb(type: string, table: string, index: string): PrefixedDatabase;
    lifecycleManager: { gracefulClose(): Promise<void> };
  }

  interface IndexActions {
    puts: { index: string; key: string; item: Item }[];
    deletes: { index: string; key: string }[];
  }

  export type Path = (string | number)[];
  /** A node of a parsed condition: an operation, a path into the item, or a value. */
  export type Expression =
    | Path
    | { type: 'function'; name: string; args: Expression[] }
    | { type: string; args: Expression[] }
    | { type?: undefined };

  interface Conditional {
    _condition?: { expression: Expression };
    ReturnValuesOnConditionCheckFailure?: string;
  }

  interface ResponseError extends Error {
    body?: Record<string, unknown>;
  }

  export type KeyConditions = Record<string, { AttributeValueList: Item[] } | undefined>;

  interface QueryData {
    TableName: string;
    IndexName?: string;
    ConsistentRead?: boolean;
    ReturnConsumedCapacity?: string;
    /** Absent from a scan. */
    KeyConditions?: KeyConditions;
  }

  interface QueryResult {
    ConsumedCapacity?: { CapacityUnits: number };
  }

  const internals: {
    createKey(key: Item, table: Table): string;
    validateKey(key: Item, table: Table): Error | undefined;
    queryTable(
      store: Store,
      table: Table,
      data: QueryData,
      options: object,
      isLocal: boolean,
      fromItems: boolean,
      startKeys: string[],
      done: (error: unknown, result?: QueryResult) => void,
    ): void;
    /** Returns the error of a failed condition. */
    checkConditional(data: Conditional, existing: Item | undefined): ResponseError | null | undefined;
    mapPath(path: Path, item: Item): unknown;
    validateItem(item: Item, table: Table): Error | undefined;
    validationError(message: string): Error;
    /** Calls back for each key of each index, and returns the first error. */
    traverseIndexes(
      table: Table,
      check: (attribute: string, type: string, index: Index) => Error | undefined,
    ): Error | undefined;
    create(options: object): Store;
    updateIndexes(store: Store, table: Table, existing: Item | undefined, item: Item | null, done: Done): void;
    getIndexActions(indexes: Index[], existing: Item | undefined, item: Item | null, table: Table): IndexActions;
  };
  export default internals;
}

declare module 'dynalite/actions/*.js' {
  import type { Done, Item, Store } from 'dynalite/db/index.js';

  export default function action(store: Store, data: Item, done: Done): void;
}

declare module 'dynalite/validations/index.js' {
  import type { Item } from 'dynalite/db/index.js';

  const validations: {
    /** Returns the input without unknown fields; throws client errors. */
    checkTypes(input: Item, types: object): Item;
    /** Parses expressions into the data; throws client errors. */
    checkValidations(data: Item, types: object, custom: unknown, store: { options: { maxItemSize: number } }): void;
  };
  export default validations;
}

declare module 'dynalite/validations/*.js' {
  /** The parameters of an action; others are dropped. */
  const checks: { types: Record<string, { type: string; enum?: string[] }>; custom: unknown };
  export default checks;
}
