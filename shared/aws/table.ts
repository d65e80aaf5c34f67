import {
  type AttributeValue,
  BatchGetItemCommand,
  BatchWriteItemCommand,
  ConditionalCheckFailedException,
  DynamoDBClient,
  type WriteRequest,
} from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { required } from '../settings.ts';

export type Item = Record<string, AttributeValue>;

/** Shards of the index of overdue records: one partition takes 1,000 writes a second, and every task writes it. */
export const dueShards = 8;

const client = new DynamoDBClient({});

/** Returns the client and the table it works on. */
export function table(): { client: DynamoDBClient; name: string } {
  return { client, name: required('LATHE_TABLE') };
}

/** Turns a plain object into an item, leaving out what is undefined. */
export function toItem(record: Record<string, unknown>): Item {
  return marshall(record, { removeUndefinedValues: true });
}

/** Turns an item into a plain object; numbers are numbers and sets are JavaScript sets. */
export function fromItem(item: Item): Record<string, unknown> {
  return unmarshall(item);
}

/** Tells whether a write failed because its condition did not hold. */
export function isConditionFailure(error: unknown): error is ConditionalCheckFailedException {
  return error instanceof ConditionalCheckFailedException;
}

const largestBatchRead = 100;
const largestBatchWrite = 25;

/** Reads many items by key, in parallel batches, asking again for what DynamoDB left unprocessed. */
export async function readAll(keys: Item[], consistent: boolean): Promise<Item[]> {
  const { name } = table();
  const batches = await Promise.all(
    chunks(keys, largestBatchRead).map(async (batch) => {
      const items: Item[] = [];
      let left = batch;
      for (let round = 0; left.length > 0; round++) {
        await backOff(round);
        const answer = await client.send(
          new BatchGetItemCommand({ RequestItems: { [name]: { Keys: left, ConsistentRead: consistent } } }),
        );
        items.push(...(answer.Responses?.[name] ?? []));
        left = answer.UnprocessedKeys?.[name]?.Keys ?? [];
      }
      return items;
    }),
  );
  return batches.flat();
}

/** Writes many items, in parallel batches, sending again what DynamoDB left unprocessed. */
export async function writeAll(items: Item[]): Promise<void> {
  const { name } = table();
  await Promise.all(
    chunks(items, largestBatchWrite).map(async (batch) => {
      let left: WriteRequest[] = batch.map((Item) => ({ PutRequest: { Item } }));
      for (let round = 0; left.length > 0; round++) {
        await backOff(round);
        const answer = await client.send(new BatchWriteItemCommand({ RequestItems: { [name]: left } }));
        left = answer.UnprocessedItems?.[name] ?? [];
      }
    }),
  );
}

const longestPauseMs = 2_000;

/** Waits a growing, random while before a further try; the first try waits for nothing. */
export async function backOff(round: number): Promise<void> {
  if (round === 0) return;
  const pause = Math.random() * Math.min(longestPauseMs, 5 * 2 ** round);
  await new Promise((resolve) => setTimeout(resolve, pause));
}

function chunks<T>(items: T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}
