import {
  BatchGetItemCommand,
  BatchWriteItemCommand,
  DeleteItemCommand,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CapacityMeter } from '../../src/dynamodb/capacity/meter.ts';
import { type LocalAws, queryByState, startLocalAws } from './fixture.ts';

const TableName = 'records';
const keyOf = (pk: string) => ({ pk: { S: pk }, sk: { S: 'a' } });

describe('the capacity units that the gate counts', () => {
  const meter = new CapacityMeter();
  let aws: LocalAws;
  beforeAll(async () => {
    aws = await startLocalAws({ meter });
  });
  afterAll(() => aws[Symbol.asyncDispose]());
  beforeEach(() => meter.reset());

  const counted = () =>
    Object.fromEntries(meter.keys().map(({ index = 'table', key, kind, units }) => [`${index} ${key} ${kind}`, units]));
  const put = (pk: string, more: object = {}) =>
    aws.dynamodb().send(new PutItemCommand({ TableName, Item: { ...keyOf(pk), ...more } }));

  it('are those of a put, an update and a deletion, in the table and its index', async () => {
    const client = aws.dynamodb();
    await put('task', { state: { S: 'open' } });
    expect(counted()).toEqual({ 'table task write': 1, 'byState open write': 1 });
    await client.send(
      new UpdateItemCommand({
        TableName,
        Key: keyOf('task'),
        UpdateExpression: 'SET #state = :state, content = :content',
        ExpressionAttributeNames: { '#state': 'state' },
        ExpressionAttributeValues: { ':state': { S: 'done' }, ':content': { S: 'x'.repeat(1500) } },
      }),
    );
    expect(counted()).toEqual({ 'table task write': 3, 'byState open write': 2, 'byState done write': 2 });
    await client.send(new DeleteItemCommand({ TableName, Key: keyOf('task') }));
    expect(counted()).toEqual({ 'table task write': 5, 'byState open write': 2, 'byState done write': 4 });
  });

  it('are those of each item of a batch', async () => {
    const client = aws.dynamodb();
    const requests = ['one', 'two'].map((pk) => ({ PutRequest: { Item: keyOf(pk) } }));
    await client.send(new BatchWriteItemCommand({ RequestItems: { [TableName]: requests } }));
    const Keys = ['one', 'two', 'absent'].map(keyOf);
    await client.send(new BatchGetItemCommand({ RequestItems: { [TableName]: { Keys, ConsistentRead: true } } }));
    expect(counted()).toEqual({
      'table one write': 1,
      'table two write': 1,
      'table one read': 1,
      'table two read': 1,
      'table absent read': 1,
    });
  });

  it('are those of reads, half without strong consistency, whatever they project', async () => {
    await put('large', { content: { S: 'x'.repeat(9000) } });
    meter.reset();
    const client = aws.dynamodb();
    const read = { TableName, Key: keyOf('large'), ProjectionExpression: 'pk' };
    const { ConsumedCapacity } = await client.send(new GetItemCommand(read));
    expect(ConsumedCapacity).toBeUndefined();
    expect(counted()).toEqual({ 'table large read': 1.5 });
    await client.send(new GetItemCommand({ ...read, ConsistentRead: true }));
    expect(counted()).toEqual({ 'table large read': 4.5 });
  });

  it('are those of all that a query looks at, filtered or not, and not in the response unless asked for', async () => {
    for (const sk of ['1', '2', '3'])
      await put('many', { sk: { S: sk }, state: { S: 'listed' }, content: { S: 'x'.repeat(3000) } });
    meter.reset();
    const client = aws.dynamodb();
    const values = { ':key': { S: 'many' }, ':none': { S: 'none' } };
    const query = { TableName, KeyConditionExpression: 'pk = :key', FilterExpression: 'content = :none' };
    const strict = { ...query, ExpressionAttributeValues: values, ConsistentRead: true };
    const { ConsumedCapacity, Items } = await client.send(new QueryCommand(strict));
    expect([ConsumedCapacity, Items]).toEqual([undefined, []]);
    expect(counted()).toEqual({ 'table many read': 3 });
    const asked = await client.send(new QueryCommand({ ...strict, ReturnConsumedCapacity: 'TOTAL' }));
    expect(asked.ConsumedCapacity?.CapacityUnits).toBe(3);
    await client.send(queryByState('listed'));
    expect(counted()).toEqual({ 'table many read': 6, 'byState listed read': 1.5 });
  });

  it('include those of a write whose condition does not hold, and nothing of an index then', async () => {
    await put('kept', { state: { S: 'open' }, content: { S: 'x'.repeat(1500) } });
    meter.reset();
    const attempt = aws.dynamodb().send(
      new PutItemCommand({
        TableName,
        Item: { ...keyOf('kept'), state: { S: 'other' } },
        ConditionExpression: 'attribute_not_exists(pk)',
      }),
    );
    await expect(attempt).rejects.toThrow('The conditional request failed');
    expect(counted()).toEqual({ 'table kept write': 2 });
  });

  it('are none of a request that names no valid key', async () => {
    const attempt = aws.dynamodb().send(new GetItemCommand({ TableName, Key: { pk: { S: 'half' } } }));
    await expect(attempt).rejects.toThrow('The provided key element does not match the schema');
  });
});
