import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  BatchWriteItemCommand,
  DynamoDBClient,
  ExecuteStatementCommand,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  ScanCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import internals from 'dynalite/db/index.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../../../test/support/until.ts';
import { startTables, type Tables } from '../../src/dynamodb/tables.ts';
import { expireItems } from '../../src/gate/expiry.ts';
import { makeDirectoryOfTest } from './directory-of-test.ts';
import { allow, everything, type LocalAws, makeStack, nothing, role, startLocalAws, tableArn } from './fixture.ts';

const reader = role('Reader', [allow(['dynamodb:GetItem', 'dynamodb:Query'], [tableArn])]);
const tenant = role('Tenant', [
  allow(['dynamodb:PutItem', 'dynamodb:Query', 'dynamodb:BatchWriteItem'], [tableArn], {
    conditions: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['tenant#*'] } },
  }),
]);

const item = (pk: string, state = 'open') => ({ pk: { S: pk }, sk: { S: 'a' }, state: { S: state } });

const queryOfMany = {
  TableName: 'records',
  KeyConditionExpression: 'pk = :pk',
  ExpressionAttributeValues: { ':pk': { S: 'many' } },
};

async function putMany({ call }: Tables, count: number): Promise<void> {
  for (let index = 0; index < count; index++)
    await call('PutItem', { TableName: 'records', Item: { ...item('many'), sk: { S: String(index) } } });
}

describe('DynamoDB behind the gate', () => {
  let aws: LocalAws;
  beforeAll(async () => {
    aws = await startLocalAws({ roles: [reader, tenant] });
  });
  afterAll(() => aws[Symbol.asyncDispose]());

  it('stores an item and gives it back by key and by index', async () => {
    const client = aws.dynamodb();
    await client.send(new PutItemCommand({ TableName: 'records', Item: item('one', 'indexed') }));

    const found = await client.send(
      new GetItemCommand({ TableName: 'records', Key: { pk: { S: 'one' }, sk: { S: 'a' } } }),
    );
    const byState = await client.send(
      new QueryCommand({
        TableName: 'records',
        IndexName: 'byState',
        KeyConditionExpression: '#s = :s',
        ExpressionAttributeNames: { '#s': 'state' },
        ExpressionAttributeValues: { ':s': { S: 'indexed' } },
      }),
    );

    expect(found.Item).toEqual(item('one', 'indexed'));
    expect(byState.Items).toEqual([item('one', 'indexed')]);
  });

  it('moves an item in the index when the attribute changes', async () => {
    const client = aws.dynamodb();
    await client.send(new PutItemCommand({ TableName: 'records', Item: item('moved', 'before') }));
    const byState = (state: string) =>
      client.send(
        new QueryCommand({
          TableName: 'records',
          IndexName: 'byState',
          KeyConditionExpression: '#s = :s',
          ExpressionAttributeNames: { '#s': 'state' },
          ExpressionAttributeValues: { ':s': { S: state } },
        }),
      );

    await client.send(
      new UpdateItemCommand({
        TableName: 'records',
        Key: { pk: { S: 'moved' }, sk: { S: 'a' } },
        UpdateExpression: 'SET #s = :s',
        ExpressionAttributeNames: { '#s': 'state' },
        ExpressionAttributeValues: { ':s': { S: 'after' } },
      }),
    );

    expect((await byState('before')).Count).toBe(0);
    expect((await byState('after')).Count).toBe(1);
  });

  it('raises the typed exception of a failed condition', async () => {
    const client = aws.dynamodb();
    const put = new PutItemCommand({
      TableName: 'records',
      Item: item('conditional'),
      ConditionExpression: 'attribute_not_exists(pk)',
    });
    await client.send(put);

    await expect(client.send(put)).rejects.toMatchObject({ name: 'ConditionalCheckFailedException' });
  });

  it('returns the item of a failed condition on request', async () => {
    const client = aws.dynamodb();
    const update = (pk: string, returned?: 'ALL_OLD') =>
      client.send(
        new UpdateItemCommand({
          TableName: 'records',
          Key: { pk: { S: pk }, sk: { S: 'a' } },
          UpdateExpression: 'SET colour = :c',
          ConditionExpression: 'colour = :c',
          ExpressionAttributeValues: { ':c': { S: 'red' } },
          ReturnValuesOnConditionCheckFailure: returned,
        }),
      );
    await client.send(new PutItemCommand({ TableName: 'records', Item: item('returned') }));

    await expect(update('returned', 'ALL_OLD')).rejects.toMatchObject({ Item: item('returned') });
    await expect(update('returned')).rejects.toMatchObject({ Item: undefined });
    await expect(update('never stored', 'ALL_OLD')).rejects.toMatchObject({ Item: undefined });
  });

  it.each([
    ['colour = shade', false],
    ['colour <> shade', true],
    ['colour <= shade', false],
    ['size(colour) = size(shade)', false],
    ['colour IN (shade)', false],
    ['#s = colour', false],
    ['#s = :s AND NOT colour = shade', true],
    ['attribute_not_exists(colour) AND #s <> shade', true],
  ])('decides %s on attributes that are missing as %s', async (ConditionExpression, holds) => {
    const client = aws.dynamodb();
    await client.send(new PutItemCommand({ TableName: 'records', Item: item('missing') }));
    const put = new PutItemCommand({
      TableName: 'records',
      Item: item('missing'),
      ConditionExpression,
      ...(ConditionExpression.includes('#s') ? { ExpressionAttributeNames: { '#s': 'state' } } : {}),
      ...(ConditionExpression.includes(':s') ? { ExpressionAttributeValues: { ':s': { S: 'open' } } } : {}),
    });

    const outcome = await client.send(put).catch((error: unknown) => error);

    expect(outcome).toMatchObject(
      holds ? { $metadata: { httpStatusCode: 200 } } : { name: 'ConditionalCheckFailedException' },
    );
  });

  it('refuses an empty key of an index, and the batch that has one', async () => {
    const client = aws.dynamodb();
    await client.send(new PutItemCommand({ TableName: 'records', Item: item('full') }));
    const put = new PutItemCommand({ TableName: 'records', Item: item('empty', '') });
    const update = new UpdateItemCommand({
      TableName: 'records',
      Key: { pk: { S: 'full' }, sk: { S: 'a' } },
      UpdateExpression: 'SET #s = :s',
      ExpressionAttributeNames: { '#s': 'state' },
      ExpressionAttributeValues: { ':s': { S: '' } },
    });
    const batch = new BatchWriteItemCommand({
      RequestItems: {
        records: [{ PutRequest: { Item: item('empty', '') } }, { PutRequest: { Item: item('beside') } }],
      },
    });
    const get = (pk: string) => new GetItemCommand({ TableName: 'records', Key: { pk: { S: pk }, sk: { S: 'a' } } });

    for (const call of [() => client.send(put), () => client.send(update), () => client.send(batch)])
      await expect(call(), String(call)).rejects.toMatchObject({
        name: 'ValidationException',
        message: expect.stringContaining('empty string value. IndexName: byState, IndexKey: state'),
      });
    expect((await client.send(get('full'))).Item).toEqual(item('full'));
    expect([(await client.send(get('empty'))).Item, (await client.send(get('beside'))).Item]).toEqual([
      undefined,
      undefined,
    ]);
  });

  it('checks each table of a batch', async () => {
    const write = (TableName: string) =>
      new BatchWriteItemCommand({ RequestItems: { [TableName]: [{ PutRequest: { Item: item('batch') } }] } });

    await expect(aws.dynamodb().send(write('records'))).resolves.toMatchObject({ UnprocessedItems: {} });
    await expect(aws.dynamodb().send(write('other'))).rejects.toMatchObject({ name: 'AccessDeniedException' });
  });

  it('says who may not do what on which table', async () => {
    const call = aws.dynamodb(nothing).send(new PutItemCommand({ TableName: 'records', Item: item('x') }));

    await expect(call).rejects.toMatchObject({
      name: 'AccessDeniedException',
      message: `User: ${nothing.arn} is not authorized to perform: dynamodb:PutItem on resource: ${tableArn}`,
    });
    expect(aws.denials).toContainEqual({ roleArn: nothing.arn, action: 'dynamodb:PutItem', resource: tableArn });
  });

  it('requires a permission for an index in addition to the one for its table', async () => {
    const query = (IndexName?: string) =>
      aws.dynamodb(reader).send(
        new QueryCommand({
          TableName: 'records',
          ...(IndexName ? { IndexName } : {}),
          KeyConditionExpression: '#k = :k',
          ExpressionAttributeNames: { '#k': IndexName ? 'state' : 'pk' },
          ExpressionAttributeValues: { ':k': { S: 'x' } },
        }),
      );

    await expect(query()).resolves.toMatchObject({ Count: 0 });
    await expect(query('byState')).rejects.toMatchObject({ name: 'AccessDeniedException' });
  });

  it('limits a role to the leading keys in its policy', async () => {
    const client = aws.dynamodb(tenant);
    const put = (pk: string) => client.send(new PutItemCommand({ TableName: 'records', Item: item(pk) }));
    const query = (pk: string) =>
      client.send(
        new QueryCommand({
          TableName: 'records',
          KeyConditionExpression: 'pk = :k',
          ExpressionAttributeValues: { ':k': { S: pk } },
        }),
      );

    await expect(put('tenant#1')).resolves.toBeDefined();
    await expect(query('tenant#1')).resolves.toMatchObject({ Count: 1 });
    await expect(put('other#1')).rejects.toMatchObject({ name: 'AccessDeniedException' });
    await expect(query('other#1')).rejects.toMatchObject({ name: 'AccessDeniedException' });
  });

  it('refuses PartiQL instead of forwarding it unchecked', async () => {
    const statement = new ExecuteStatementCommand({ Statement: 'SELECT * FROM records' });

    await expect(aws.dynamodb().send(statement)).rejects.toMatchObject({ name: 'UnknownOperationException' });
  });

  it.each([
    ['an unknown key', { accessKeyId: 'ASIAUNKNOWN' }, 'UnrecognizedClientException'],
    ['a wrong secret', { secretAccessKey: 'wrong' }, 'InvalidSignatureException'],
    ['a wrong session token', { sessionToken: 'wrong' }, 'UnrecognizedClientException'],
  ])('refuses %s', async (_what, change, name) => {
    const { role: signer } = aws.credentials(nothing);
    const client = new DynamoDBClient({
      endpoint: `${aws.origin}/_aws/dynamodb`,
      region: 'eu-central-1',
      credentials: { ...aws.credentials(signer), ...change },
      maxAttempts: 1,
    });

    await expect(client.send(new ScanCommand({ TableName: 'records' }))).rejects.toMatchObject({ name });
  });

  it('refuses a request that was signed too long ago', async () => {
    const client = new DynamoDBClient({
      endpoint: `${aws.origin}/_aws/dynamodb`,
      region: 'eu-central-1',
      credentials: aws.credentials(everything),
      systemClockOffset: -20 * 60 * 1000,
      maxAttempts: 1,
    });

    const call = client.send(new ScanCommand({ TableName: 'records' }));

    await expect(call).rejects.toMatchObject({ name: 'InvalidSignatureException' });
  });

  it('refuses a body other than the signed one', async () => {
    const client = aws.dynamodb();
    client.middlewareStack.add(
      (next) => (args) => {
        const { request } = args;
        if (typeof request === 'object' && request && 'body' in request) {
          request.body = Buffer.from(JSON.stringify({ TableName: 'secrets' }));
        }
        return next(args);
      },
      { step: 'deserialize', priority: 'low' },
    );

    const call = client.send(new ScanCommand({ TableName: 'records' }));

    await expect(call).rejects.toMatchObject({ name: 'InvalidSignatureException' });
  });

  it('returns an error for requests that are not signed or not JSON, and keeps running', async () => {
    const unsigned = await fetch(`${aws.origin}/_aws/dynamodb/`, { method: 'POST', body: 'null' });
    const malformed = await fetch(`${aws.origin}/_aws/dynamodb/`, {
      method: 'POST',
      headers: { authorization: 'AWS4-HMAC-SHA256 nonsense' },
      body: '{}',
    });

    expect(unsigned.status).toBe(400);
    expect(malformed.status).toBe(400);
    await expect(aws.dynamodb().send(new ScanCommand({ TableName: 'records', Limit: 1 }))).resolves.toBeDefined();
  });

  it('deletes only items whose time to live has passed', async () => {
    const directory = await makeDirectoryOfTest();
    const { tables } = makeStack('http://127.0.0.1:1');
    const database = await startTables(tables, directory);
    const call = database.call;
    await call('PutItem', { TableName: 'records', Item: { ...item('expired'), expires: { N: '1000' } } });
    await call('PutItem', { TableName: 'records', Item: { ...item('stays'), expires: { N: '3000' } } });

    await expireItems(tables, database, 2_000_000);

    const { Items } = await call('Scan', { TableName: 'records' });
    expect(Items).toEqual([expect.objectContaining({ pk: { S: 'stays' } })]);
    await database.close();
  });

  it('keeps no iterator of a finished query open', async () => {
    const open = new Set<unknown>();
    const { create } = internals;
    internals.create = (options) => {
      const store = create(options);
      const { db } = store;
      const { attachResource, detachResource } = db;
      db.attachResource = (resource) => {
        open.add(resource);
        attachResource.call(db, resource);
      };
      db.detachResource = (resource) => {
        open.delete(resource);
        detachResource.call(db, resource);
      };
      return store;
    };
    const { tables } = makeStack('http://127.0.0.1:1');
    const database = await startTables(tables, await makeDirectoryOfTest()).finally(() => {
      internals.create = create;
    });
    await putMany(database, 20);
    expect((await database.call('Query', queryOfMany)).Count).toBe(20);
    expect((await database.call('Query', { ...queryOfMany, Limit: 3 })).Count).toBe(3);
    await until('all is closed', () => open.size === 0 || undefined, { seconds: 10 });
    await database.close();
  });

  it('closes during calls, even if their clients have disconnected', async () => {
    const directory = await makeDirectoryOfTest();
    const { tables } = makeStack('http://127.0.0.1:1');
    const headers = {
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-target': 'DynamoDB_20120810.Query',
      'x-amz-date': 'local',
      authorization: 'AWS4-HMAC-SHA256 Credential=local, SignedHeaders=host, Signature=local',
    };
    for (let round = 0; round < 40; round++) {
      const database = await startTables(tables, directory);
      if (round === 0) await putMany(database, 100);
      const arrived = Promise.withResolvers<void>();
      let waitingFor = 1 + round;
      const server = createServer((req, res) => {
        req.once('end', () => {
          database.handle(req, res, Buffer.from(JSON.stringify(queryOfMany)));
          if (--waitingFor === 0) arrived.resolve();
        });
        req.resume();
      });
      const port = await new Promise<number>((resolve) => {
        server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
      });
      const calls = Array.from({ length: waitingFor }, () =>
        fetch(`http://127.0.0.1:${port}`, { method: 'POST', headers, body: JSON.stringify(queryOfMany) }).catch(
          () => undefined,
        ),
      );
      await arrived.promise;
      server.closeAllConnections();
      await database.close();
      await Promise.all(calls);
      server.close();
    }
  });
});
