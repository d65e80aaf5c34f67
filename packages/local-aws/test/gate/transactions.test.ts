import { GetItemCommand, PutItemCommand, TransactWriteItemsCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CapacityMeter } from '../../src/dynamodb/capacity/meter.ts';
import { Faults } from '../../src/faults/faults.ts';
import { allow, everything, type LocalAws, role, startLocalAws, tableArn } from './fixture.ts';

const key = (pk: string) => ({ pk: { S: pk }, sk: { S: 'a' } });
const put = (pk: string, count: number, condition?: string) => ({
  Put: { TableName: 'records', Item: { ...key(pk), count: { N: String(count) } }, ConditionExpression: condition },
});
const add = (pk: string, amount: number, max?: number) => ({
  Update: {
    TableName: 'records',
    Key: key(pk),
    UpdateExpression: 'ADD #count :amount',
    ...(max === undefined ? {} : { ConditionExpression: 'attribute_not_exists(#count) OR #count <= :room' }),
    ExpressionAttributeNames: { '#count': 'count' },
    ExpressionAttributeValues: {
      ':amount': { N: String(amount) },
      ...(max === undefined ? {} : { ':room': { N: String(max - amount) } }),
    },
  },
});

describe('transactions of DynamoDB', () => {
  const meter = new CapacityMeter();
  const tenant = role('Tenant', [
    allow(['dynamodb:PutItem'], [tableArn], {
      conditions: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['tenant#*'] } },
    }),
  ]);
  let aws: LocalAws;
  beforeAll(async () => {
    aws = await startLocalAws({ roles: [everything, tenant], meter });
  });
  afterAll(() => aws[Symbol.asyncDispose]());

  const send = (TransactItems: object[], more: object = {}) =>
    aws.dynamodb().send(new TransactWriteItemsCommand({ TransactItems, ...more }));
  const countOf = async (pk: string) => {
    const read = new GetItemCommand({ TableName: 'records', Key: key(pk), ConsistentRead: true });
    const { Item } = await aws.dynamodb().send(read);
    return Item?.count?.N === undefined ? undefined : Number(Item.count.N);
  };

  it('makes all writes, or none if one condition fails, and reports which', async () => {
    await send([put('both-1', 1), add('both-2', 5)]);
    const refused = send([put('both-1', 9), add('both-2', 5, 9), put('both-3', 1, 'attribute_exists(pk)')]);

    await expect(refused).rejects.toMatchObject({
      name: 'TransactionCanceledException',
      CancellationReasons: [{ Code: 'None' }, { Code: 'ConditionalCheckFailed' }, { Code: 'ConditionalCheckFailed' }],
    });
    expect([await countOf('both-1'), await countOf('both-2'), await countOf('both-3')]).toEqual([1, 5, undefined]);
  });

  it('carries out a request once per token', async () => {
    const request = [add('once', 3)];
    await send(request, { ClientRequestToken: 'one' });
    await send(request, { ClientRequestToken: 'one' });

    expect(await countOf('once')).toBe(3);
    await expect(send([add('once', 4)], { ClientRequestToken: 'one' })).rejects.toMatchObject({
      name: 'IdempotentParameterMismatchException',
    });
  });

  it('never lets concurrent transactions exceed what a condition allows, and cancels conflicting ones', async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 60 }, (_, index) => send([put(`racer-${index}`, 1), add('room', 1, 20)])),
    );

    const codes = outcomes.map((outcome) =>
      outcome.status === 'fulfilled' ? 'made' : (outcome.reason.CancellationReasons?.[1]?.Code ?? outcome.reason),
    );
    const made = codes.filter((code) => code === 'made').length;
    expect(await countOf('room')).toBe(made);
    expect(made).toBeLessThanOrEqual(20);
    expect(codes).toContain('TransactionConflict');
  });

  it('changes an item by concurrent single writes and transactions without losing either', async () => {
    const update = new UpdateItemCommand(add('mixed', 1).Update);
    await Promise.all([
      ...Array.from({ length: 20 }, () => aws.dynamodb().send(update)),
      send([add('mixed', 100), put('mixed-2', 1)]),
    ]);

    expect(await countOf('mixed')).toBe(120);
  });

  it('requires the permission of each write', async () => {
    const client = aws.dynamodb(tenant);
    const transaction = (...pks: string[]) =>
      client.send(new TransactWriteItemsCommand({ TransactItems: pks.map((pk) => put(pk, 1)) }));

    await transaction('tenant#1', 'tenant#2');
    await expect(transaction('tenant#1', 'other#1')).rejects.toMatchObject({ name: 'AccessDeniedException' });
    const update = new TransactWriteItemsCommand({ TransactItems: [add('tenant#1', 1)] });
    await expect(client.send(update)).rejects.toMatchObject({ name: 'AccessDeniedException' });
  });

  it.each([
    ['one item twice', [put('x', 1), add('x', 1)]],
    ['nothing', []],
    ['a condition check', [{ ConditionCheck: { ...put('x', 1).Put, ConditionExpression: 'attribute_exists(pk)' } }]],
  ])('refuses %s', async (_what, items) => {
    await expect(send(items)).rejects.toMatchObject({ name: 'ValidationException' });
  });

  it('takes twice the units of single writes', async () => {
    const unitsOf = (pk: string) =>
      meter.keys().find((usage) => usage.key === pk && usage.kind === 'write' && usage.index === undefined)?.units;
    await aws.dynamodb().send(new PutItemCommand(put('single', 1).Put));
    await send([put('double', 1)]);

    expect(unitsOf('single')).toBe(1);
    expect(unitsOf('double')).toBe(2);
  });
});

it('refuses writes occasionally, as in a conflict, if the fault is enabled', async () => {
  await using aws = await startLocalAws({ roles: [everything], faults: new Faults(['conflicts'], 1) });
  const names = new Set<string>();
  const note = (error: Error) => void names.add(error.name);
  for (let index = 0; index < 150; index++) {
    const { Put } = put(`conflict-${index}`, 1);
    await aws
      .dynamodb()
      .send(new TransactWriteItemsCommand({ TransactItems: [{ Put }] }))
      .catch(note);
    await aws.dynamodb().send(new PutItemCommand(Put)).catch(note);
  }

  expect(names).toEqual(new Set(['TransactionConflictException', 'TransactionCanceledException']));
});
