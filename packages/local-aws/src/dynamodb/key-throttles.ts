import type { LocalTable, TableIndex } from '../template/model.ts';
import type { CapacityMeter } from './capacity/meter.ts';
import { type Consumption, indexEntry, type Partition, partitionOf } from './capacity/units.ts';
import { queryKey } from './query-key.ts';

type Input = Record<string, unknown>;
type Place = Omit<Consumption, 'units'>;

/** Maximum units of a partition key per second. */
export const keyLimits = { read: 3_000, write: 1_000 };

/** A throttled partition key, as named in the exception. */
export interface ThrottlingReason {
  reason: string;
  resource: string;
}

/**
 * Throttles requests whose partition key has used up its second.
 * Imitates: "each partition on a DynamoDB table is designed to deliver a maximum capacity of 3,000 read units per
 * second and 1,000 write units per second" (developer guide, "Best practices for designing and using partition keys"),
 * for tables and indexes alike; "If the write capacity of a global secondary index is exceeded, the write to the table
 * is throttled". Assumes a partition per key, the limit of adaptive capacity.
 */
export class KeyThrottle {
  readonly #tables: Map<string, LocalTable>;
  readonly #meter: CapacityMeter;
  readonly #peek: (table: string, key: Input) => Input | undefined;
  readonly #limits: typeof keyLimits;

  constructor(
    tables: LocalTable[],
    meter: CapacityMeter,
    peek: (table: string, key: Input) => Input | undefined,
    limits: typeof keyLimits = keyLimits,
  ) {
    this.#tables = new Map(tables.map((table) => [table.name, table]));
    this.#meter = meter;
    this.#peek = peek;
    this.#limits = limits;
  }

  /** Returns why a request for one item, or a query, is refused, if it is. */
  refusal(operation: string, input: Input): ThrottlingReason | undefined {
    const table = this.#tables.get(String(input.TableName));
    return table && this.#reason(table, placesOf(table, operation, input, this.#peek));
  }

  /** Returns why an entry of a batch is left unprocessed, if it is. */
  refusalOfEntry(name: string, entry: unknown): ThrottlingReason | undefined {
    const table = this.#tables.get(name);
    if (!table) return undefined;
    const { PutRequest, DeleteRequest } = Object(entry);
    if (PutRequest) return this.#reason(table, placesOf(table, 'PutItem', Object(PutRequest), this.#peek));
    if (DeleteRequest) return this.#reason(table, placesOf(table, 'DeleteItem', Object(DeleteRequest), this.#peek));
    return this.#reason(table, placesOf(table, 'GetItem', { Key: entry }, this.#peek));
  }

  #reason(table: LocalTable, places: Place[]): ThrottlingReason | undefined {
    const exceeded = places.find((place) => this.#meter.unitsInSecond(place) >= this.#limits[place.kind]);
    if (!exceeded) return undefined;
    const { index, kind } = exceeded;
    return {
      reason: `${index === undefined ? 'Table' : 'Index'}${kind === 'read' ? 'Read' : 'Write'}KeyRangeThroughputExceeded`,
      resource: index === undefined ? table.arn : `${table.arn}/index/${index}`,
    };
  }
}

/** Returns the response to a refused request. SDKs retry it. */
export function throttlingBody({ reason, resource }: ThrottlingReason): string {
  return JSON.stringify({
    __type: 'com.amazonaws.dynamodb.v20120810#ThrottlingException',
    message:
      'Throughput exceeds the current throughput limit of a partition key. Consider spreading the requests over more partition keys.',
    throttlingReasons: [{ reason, resource }],
  });
}

function placesOf(
  table: LocalTable,
  operation: string,
  input: Input,
  peek: (table: string, key: Input) => Input | undefined,
): Place[] {
  if (operation === 'Query') {
    const index = typeof input.IndexName === 'string' ? input.IndexName : undefined;
    return [{ table: table.name, index, key: queryKey(input, table), kind: 'read' }];
  }
  const isWrite = operation === 'PutItem' || operation === 'UpdateItem' || operation === 'DeleteItem';
  if (!isWrite && operation !== 'GetItem') return [];
  const item: Input = Object(operation === 'PutItem' ? input.Item : input.Key);
  const own: Partition = { table: table.name, key: partitionOf(table.partitionKey, item) };
  if (!isWrite) return [{ ...own, kind: 'read' }];
  const existing = peek(table.name, keyOf(table, item));
  const indexes = table.indexes.flatMap((index) => {
    const entries = [existing, operation === 'PutItem' ? item : undefined].map((each) =>
      indexEntry(table, index, each),
    );
    const keys = entries.filter((entry) => entry !== undefined).map((entry) => partitionOf(index.partitionKey, entry));
    return [...keys, ...assignedKeys(index, input)].map((key) => ({ table: table.name, index: index.name, key }));
  });
  return [own, ...indexes].map((place) => ({ ...place, kind: 'write' as const }));
}

function keyOf({ partitionKey, sortKey }: LocalTable, item: Input): Input {
  const names = [partitionKey.name, ...(sortKey ? [sortKey.name] : [])];
  return Object.fromEntries(names.map((name) => [name, item[name]]));
}

/** Returns the partition key of an index that an update sets. */
function assignedKeys({ partitionKey }: TableIndex, { UpdateExpression, ...input }: Input): string[] {
  const names: Input = Object(input.ExpressionAttributeNames);
  const values: Input = Object(input.ExpressionAttributeValues);
  return [...String(UpdateExpression).matchAll(/([#\w.-]+)\s*=\s*(:\w+)/g)]
    .filter(([, name = '']) => (name.startsWith('#') ? names[name] : name) === partitionKey.name)
    .map(([, , value = '']) => partitionOf(partitionKey, { [partitionKey.name]: values[value] }));
}
