import {
  BatchGetItemCommand,
  BatchWriteItemCommand,
  ConditionalCheckFailedException,
  DynamoDBClient,
  QueryCommand,
  type QueryCommandOutput,
} from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { batchGet, batchWrite, get, itemIsAbsent, putIf, query, update } from '../../../shared/aws/table.ts';

const partition = { keys: 'pk = :pk', values: { ':pk': 'p' } };
const keyOf = (index: number) => ({ pk: 'p', sk: String(index).padStart(4, '0') });

/** Responds to the commands of the client with what a function makes of them, and records their inputs. */
function respond(output: (command: object) => object): object[] {
  const inputs: object[] = [];
  vi.spyOn(DynamoDBClient.prototype, 'send').mockImplementation(async (command) => {
    inputs.push(command.input);
    return output(command);
  });
  return inputs;
}

/** Responds to queries with pages of a few items, as DynamoDB does when they are large. */
function respondWithPages(items: number, pageItems: number): object[] {
  return respond((command) => {
    if (!(command instanceof QueryCommand)) return {};
    const { ExclusiveStartKey, Limit = items } = command.input;
    const start = ExclusiveStartKey === undefined ? 0 : Number(ExclusiveStartKey.sk?.S) + 1;
    const end = Math.min(items, start + Math.min(pageItems, Limit));
    const found = Array.from({ length: end - start }, (_, index) => marshall(keyOf(start + index)));
    const page: Partial<QueryCommandOutput> = { Items: found };
    return end < items ? { ...page, LastEvaluatedKey: marshall(keyOf(end - 1)) } : page;
  });
}

const conditionFailed = () => {
  throw new ConditionalCheckFailedException({ message: 'The conditional request failed', $metadata: {} });
};

beforeEach(() => vi.stubEnv('LATHE_TABLE', 'records'));
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

test('a query returns the items of all pages', async () => {
  const inputs = respondWithPages(7, 3);
  expect(await query(partition)).toEqual(Array.from({ length: 7 }, (_, index) => keyOf(index)));
  expect(inputs).toHaveLength(3);
});

test('a query with a limit reads on until it is reached, and no further', async () => {
  const inputs = respondWithPages(20, 3);
  expect(await query({ ...partition, limit: 5 })).toHaveLength(5);
  expect(inputs).toMatchObject([{ Limit: 5 }, { Limit: 2 }]);
});

test('the table is read consistently by default, and an index never', async () => {
  const inputs = respond(() => ({}));
  await get(keyOf(1));
  await get(keyOf(1), { consistent: false });
  await query(partition);
  await query({ ...partition, index: 'byOwner' });
  expect(inputs).toMatchObject([true, false, true, false].map((ConsistentRead) => ({ ConsistentRead })));
});

test('a write whose condition fails is reported, and any other failure thrown', async () => {
  respond(conditionFailed);
  expect(await putIf(keyOf(1), itemIsAbsent)).toBe(false);
  expect(await update(keyOf(1), 'REMOVE a', { condition: 'attribute_exists(a)' })).toBeUndefined();
  respond(() => {
    throw new Error('throttled');
  });
  await expect(putIf(keyOf(1), itemIsAbsent)).rejects.toThrow('throttled');
});

test('an update returns plain attributes, with sets as JavaScript sets', async () => {
  const inputs = respond(() => ({ Attributes: marshall({ members: new Set(['a']), version: 2 }) }));
  const item = await update(keyOf(1), 'ADD members :a', { values: { ':a': new Set(['a']) }, returns: 'ALL_NEW' });
  expect(item).toEqual({ members: new Set(['a']), version: 2 });
  expect(inputs).toMatchObject([{ ExpressionAttributeValues: { ':a': { SS: ['a'] } } }]);
});

test('batches send again what was left unprocessed, and read each key once', async () => {
  const keys = Array.from({ length: 150 }, (_, index) => keyOf(index));
  const reads = respond((command) => {
    const requested = command instanceof BatchGetItemCommand && command.input.RequestItems?.records?.Keys;
    const Keys = requested || [];
    return { Responses: { records: Keys.slice(0, 60) }, UnprocessedKeys: { records: { Keys: Keys.slice(60) } } };
  });
  expect(await batchGet([...keys, ...keys])).toHaveLength(150);
  expect(reads).toHaveLength(3);
  const writes = respond((command) => {
    const requested = command instanceof BatchWriteItemCommand && command.input.RequestItems?.records;
    return { UnprocessedItems: { records: (requested || []).slice(20) } };
  });
  await batchWrite(keys.slice(0, 30));
  expect(writes).toHaveLength(3);
});
