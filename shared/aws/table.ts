import {
  BatchGetItemCommand,
  BatchWriteItemCommand,
  ConditionalCheckFailedException,
  DeleteItemCommand,
  type DeleteItemCommandInput,
  type DeleteItemCommandOutput,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  type PutItemCommandInput,
  QueryCommand,
  type QueryCommandInput,
  type QueryCommandOutput,
  TransactionCanceledException,
  TransactionConflictException,
  type TransactWriteItem,
  TransactWriteItemsCommand,
  UpdateItemCommand,
  type UpdateItemCommandInput,
  type WriteRequest,
} from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { required } from '../settings.ts';
import { chunksOf } from './batches.ts';
import { clientSettings } from './client-settings.ts';

/** An item as a plain object: sets are JavaScript sets, and undefined attributes are not stored. */
export type Item = Record<string, unknown>;

export interface Key {
  pk: string;
  sk: string;
}

interface Reading {
  /** Defaults to true. */
  consistent?: boolean;
}

/** Names and values of an expression's `#name` and `:value` placeholders. */
interface Placeholders {
  names?: Record<string, string> | undefined;
  values?: Item | undefined;
}

interface Update extends Placeholders {
  condition?: string;
  /** Which attributes to return; defaults to none. */
  returns?: 'ALL_NEW' | 'ALL_OLD' | 'UPDATED_NEW';
}

interface Selection extends Placeholders {
  /** The index to query, which is eventually consistent; defaults to the table. */
  index?: string;
  /** Whether the table is read consistently; defaults to true. */
  consistent?: boolean;
  /** A condition on the key attributes of the table or index. */
  keys: string;
  filter?: string;
}

interface Query extends Selection {
  /** A projection expression; defaults to all attributes. */
  attributes?: string;
  descending?: boolean;
  /** Stops after this many items; defaults to all. */
  limit?: number;
  /** Items read per page before the filter is applied; defaults to the number missing from the limit. */
  pageSize?: number;
}

export const itemExists = 'attribute_exists(pk)';
export const itemIsAbsent = 'attribute_not_exists(pk)';

/** A write of a transaction: an item that replaces another, or an update of one. */
export type TransactionWrite =
  | { item: Key & Item; condition?: string; values?: Item }
  | ({ key: Key; expression: string; condition?: string } & Placeholders);

const maxBatchRead = 100;
const maxBatchWrite = 25;
const maxBackoffMs = 2_000;
/** Attempts at a write that conflicts with transactions. */
const maxConflicts = 30;

const client = new DynamoDBClient({
  ...clientSettings('DYNAMODB'),
  accountIdEndpointMode: 'preferred',
  endpointDiscoveryEnabledProvider: async () => false,
});
const tableName = () => required('LATHE_TABLE');

/** Reads an item. */
export async function get(key: Key, { consistent = true }: Reading = {}): Promise<Item | undefined> {
  const command = new GetItemCommand({ TableName: tableName(), Key: toAttributes(key), ConsistentRead: consistent });
  const { Item } = await client.send(command);
  return Item && unmarshall(Item);
}

/** Writes an item, replacing any with its key. */
export async function put(item: Key & Item): Promise<void> {
  await putItem(item);
}

/** Writes an item if a condition holds for the existing one; returns whether it did. */
export async function putIf(item: Key & Item, condition: string, values?: Item): Promise<boolean> {
  const written = putItem(item, { ConditionExpression: condition, ...placeholders({ values }) });
  return (await unlessConditionFails(written)) !== undefined;
}

function putItem(item: Key & Item, options: Partial<PutItemCommandInput> = {}): Promise<unknown> {
  const command = new PutItemCommand({ TableName: tableName(), Item: toAttributes(item), ...options });
  return despiteConflicts(() => client.send(command));
}

/** Updates an item and returns the requested attributes, or undefined if the condition did not hold. */
export async function update(key: Key, expression: string, options: Update): Promise<Item | undefined> {
  const command = updateCommand(key, expression, options, { ReturnValues: options.returns });
  const output = await unlessConditionFails(despiteConflicts(() => client.send(command)));
  return output && unmarshall(output.Attributes ?? {});
}

/** Updates an item if a condition holds. Returns the new item, or else the existing one, which saves a read. */
export async function updateOrRead(
  key: Key,
  expression: string,
  options: Placeholders & { condition: string },
): Promise<{ updated: boolean; item: Item | undefined }> {
  const returned = { ReturnValues: 'ALL_NEW', ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } as const;
  try {
    const { Attributes } = await client.send(updateCommand(key, expression, options, returned));
    return { updated: true, item: Attributes && unmarshall(Attributes) };
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
    return { updated: false, item: error.Item && unmarshall(error.Item) };
  }
}

function updateCommand(
  key: Key,
  UpdateExpression: string,
  { condition: ConditionExpression, ...options }: Placeholders & { condition?: string },
  returned: Partial<UpdateItemCommandInput>,
): UpdateItemCommand {
  const common = { TableName: tableName(), Key: toAttributes(key), UpdateExpression, ConditionExpression };
  return new UpdateItemCommand({ ...common, ...placeholders(options), ...returned });
}

/** Deletes an item, if it exists. */
export async function remove(key: Key): Promise<void> {
  await deleteItem(key);
}

/** Deletes an item if a condition holds; returns whether it did. */
export async function removeIf(key: Key, condition: string, values?: Item): Promise<boolean> {
  const deleted = deleteItem(key, { ConditionExpression: condition, ...placeholders({ values }) });
  return (await unlessConditionFails(deleted)) !== undefined;
}

/** Deletes an item and returns it, so that only one of several callers receives it; undefined if there is none. */
export async function take(key: Key): Promise<Item | undefined> {
  const { Attributes } = await deleteItem(key, { ReturnValues: 'ALL_OLD' });
  return Attributes && unmarshall(Attributes);
}

function deleteItem(key: Key, options: Partial<DeleteItemCommandInput> = {}): Promise<DeleteItemCommandOutput> {
  const command = new DeleteItemCommand({ TableName: tableName(), Key: toAttributes(key), ...options });
  return despiteConflicts(() => client.send(command));
}

/**
 * Makes all writes or none. Returns the indexes of those whose conditions do not hold; none means success. Takes twice
 * the units of single writes, so use it only for writes that must be atomic.
 */
export async function transact(writes: TransactionWrite[]): Promise<number[]> {
  const TransactItems = writes.map(toTransactItem);
  try {
    // Each attempt is a request of its own, with a token from the SDK that makes its retries harmless.
    await despiteConflicts(() => client.send(new TransactWriteItemsCommand({ TransactItems })));
    return [];
  } catch (error) {
    const reasons = error instanceof TransactionCanceledException ? (error.CancellationReasons ?? []) : [];
    const failed = reasons.flatMap(({ Code }, index) => (Code === 'ConditionalCheckFailed' ? [index] : []));
    if (failed.length === 0) throw error;
    return failed;
  }
}

function toTransactItem(write: TransactionWrite): TransactWriteItem {
  const TableName = tableName();
  const ConditionExpression = write.condition;
  if ('item' in write)
    return { Put: { TableName, Item: toAttributes(write.item), ConditionExpression, ...placeholders(write) } };
  const { key, expression: UpdateExpression } = write;
  return {
    Update: { TableName, Key: toAttributes(key), UpdateExpression, ConditionExpression, ...placeholders(write) },
  };
}

/** Repeats a write that was refused because of a transaction in progress. The SDK does not. */
async function despiteConflicts<T>(send: () => Promise<T>): Promise<T> {
  for (let round = 0; ; round++) {
    await backOff(round);
    try {
      return await send();
    } catch (error) {
      if (!isConflict(error) || round === maxConflicts) throw error;
    }
  }
}

function isConflict(error: unknown): boolean {
  if (error instanceof TransactionConflictException) return true;
  const reasons = error instanceof TransactionCanceledException ? (error.CancellationReasons ?? []) : [];
  const retried = ['TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded'];
  const codes = reasons.map(({ Code = 'None' }) => Code).filter((code) => code !== 'None');
  return codes.length > 0 && codes.every((code) => retried.includes(code));
}

/** Returns the items of all pages of a query. */
export async function query({ limit = Number.POSITIVE_INFINITY, pageSize, ...options }: Query): Promise<Item[]> {
  const items: Item[] = [];
  const nextPage = () => ({
    ProjectionExpression: options.attributes,
    ScanIndexForward: !options.descending,
    Limit: pageSize ?? (Number.isFinite(limit) ? limit - items.length : undefined),
  });
  for await (const { Items = [] } of pages(options, nextPage)) {
    items.push(...Items.map((item) => unmarshall(item)));
    if (items.length >= limit) break;
  }
  return items.slice(0, limit);
}

async function* pages(
  selection: Selection,
  nextPage: () => Partial<QueryCommandInput>,
): AsyncGenerator<QueryCommandOutput> {
  let ExclusiveStartKey: QueryCommandOutput['LastEvaluatedKey'];
  do {
    const page = await client.send(
      new QueryCommand({
        TableName: tableName(),
        IndexName: selection.index,
        ConsistentRead: selection.index === undefined && selection.consistent !== false,
        KeyConditionExpression: selection.keys,
        FilterExpression: selection.filter,
        ...placeholders(selection),
        ...nextPage(),
        ExclusiveStartKey,
      }),
    );
    yield page;
    ExclusiveStartKey = page.LastEvaluatedKey;
  } while (ExclusiveStartKey);
}

/** Returns the items with a partition key. */
export function queryPartition(pk: string): Promise<Item[]> {
  return query({ keys: 'pk = :pk', values: { ':pk': pk } });
}

/** Returns what was stored as an item, without the attributes of the table and its indexes. */
export function storedIn<T>({ pk: _pk, sk: _sk, ttl: _ttl, dueShard: _shard, ...stored }: Item): T {
  return stored as T;
}

/** Reads items in parallel batches, unordered. Keys without an item are left out, and duplicates read once. */
export async function batchGet(keys: Key[], { consistent = true }: Reading = {}): Promise<Item[]> {
  const TableName = tableName();
  const unique = new Map(keys.map(({ pk, sk }) => [`${pk} ${sk}`, { pk, sk }]));
  const batches = await Promise.all(
    chunksOf([...unique.values()], maxBatchRead).map(async (batch) => {
      const items: Item[] = [];
      let left = batch.map(toAttributes);
      for (let round = 0; left.length > 0; round++) {
        await backOff(round);
        const { Responses, UnprocessedKeys } = await client.send(
          new BatchGetItemCommand({ RequestItems: { [TableName]: { Keys: left, ConsistentRead: consistent } } }),
        );
        items.push(...(Responses?.[TableName] ?? []).map((item) => unmarshall(item)));
        left = UnprocessedKeys?.[TableName]?.Keys ?? [];
      }
      return items;
    }),
  );
  return batches.flat();
}

/** Writes items in parallel batches. Not atomic: a failure may leave some written. */
export async function batchWrite(items: (Key & Item)[]): Promise<void> {
  const TableName = tableName();
  await Promise.all(
    chunksOf(items, maxBatchWrite).map(async (batch) => {
      let left: WriteRequest[] = batch.map((item) => ({ PutRequest: { Item: toAttributes(item) } }));
      for (let round = 0; left.length > 0; round++) {
        await backOff(round);
        const { UnprocessedItems } = await client.send(
          new BatchWriteItemCommand({ RequestItems: { [TableName]: left } }),
        );
        left = UnprocessedItems?.[TableName] ?? [];
      }
    }),
  );
}

/** Waits before a retry, with exponential backoff and full jitter. Round 0, the first attempt, does not wait. */
export async function backOff(round: number): Promise<void> {
  if (round === 0) return;
  const delayMs = Math.random() * Math.min(maxBackoffMs, 5 * 2 ** round);
  await new Promise((resolve) => setTimeout(resolve, delayMs));
}

/** Returns an item in DynamoDB's format, for clients of other tables. */
export function toAttributes(item: object) {
  return marshall(item, { removeUndefinedValues: true });
}

function placeholders({ names, values }: Placeholders) {
  return { ExpressionAttributeNames: names, ExpressionAttributeValues: values && toAttributes(values) };
}

async function unlessConditionFails<T>(sent: Promise<T>): Promise<T | undefined> {
  try {
    return await sent;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return undefined;
    throw error;
  }
}
