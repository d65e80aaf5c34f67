import {
  BatchGetItemCommand,
  BatchWriteItemCommand,
  GetItemCommand,
  PutItemCommand,
  UpdateItemCommand,
  type WriteRequest,
} from '@aws-sdk/client-dynamodb';
import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import {
  DeleteMessageBatchCommand,
  type Message,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
} from '@aws-sdk/client-sqs';
import { createPresignedPost } from '@aws-sdk/s3-presigned-post';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { until } from '../../../../test/support/until.ts';
import { CapacityMeter } from '../../src/dynamodb/capacity/meter.ts';
import { type FaultName, Faults } from '../../src/faults/faults.ts';
import { Random } from '../../src/faults/random.ts';
import { makeSessionCredentials } from '../../src/iam/credentials.ts';
import { makeDirectoryOfTest } from './directory-of-test.ts';
import { everything, queryByState, startLocalAws, tableArn } from './fixture.ts';

const TableName = 'records';
const Bucket = 'lathe-files';
const keyOf = (pk: string) => ({ pk: { S: pk }, sk: { S: 'a' } });
const itemOf = (pk: string, state: string) => ({ ...keyOf(pk), state: { S: state } });

/** Makes rare faults frequent, so that few requests show them. */
class Often extends Random {
  override chance(probability: number): boolean {
    return super.chance(Math.min(0.5, probability * 30));
  }
}

class OftenFaults extends Faults {
  readonly #random = new Often(1);

  override random(name: FaultName): Random | undefined {
    return this.names.includes(name) ? this.#random : undefined;
  }
}

function start(name: FaultName, options: Parameters<typeof startLocalAws>[0] = {}) {
  return startLocalAws({ faults: new OftenFaults([name], 1), ...options });
}

describe('a DynamoDB that misbehaves', () => {
  it('shows changes in an index late, in their order, and never loses one', async () => {
    await using aws = await start('index-lag');
    const client = aws.dynamodb();
    const listed = async (state: string) => {
      const { Items = [] } = await client.send(queryByState(state));
      return Items.map(({ pk }) => pk?.S ?? '').sort();
    };
    const names = Array.from({ length: 30 }, (_, index) => `item-${String(index).padStart(2, '0')}`);
    await Promise.all(names.map((pk) => client.send(new PutItemCommand({ TableName, Item: itemOf(pk, 'open') }))));

    expect((await listed('open')).length).toBeLessThan(names.length);
    await until('all are listed', async () => ((await listed('open')).length === names.length ? true : undefined));

    await Promise.all(names.map((pk) => client.send(new PutItemCommand({ TableName, Item: itemOf(pk, 'done') }))));
    expect((await listed('open')).length).toBeGreaterThan(0);
    await until('all have moved', async () => {
      const both = [...(await listed('done')), ...(await listed('open'))];
      // Two queries: an entry may move from the unread one to the one already read.
      expect(new Set(both).size).toBe(both.length);
      return (await listed('done')).length === names.length && (await listed('open')).length === 0 ? true : undefined;
    });
    expect(await listed('done')).toEqual(names);
  });

  it('limits, orders and pages what an index shows while it lags', async () => {
    await using aws = await start('index-lag');
    const client = aws.dynamodb();
    const put = (sk: string, state: string) =>
      client.send(new PutItemCommand({ TableName, Item: { pk: { S: 'p' }, sk: { S: sk }, state: { S: state } } }));
    for (const sk of ['a', 'c', 'e', 'g']) await put(sk, 'open');
    const page = async (options: object) => {
      const { Items = [], LastEvaluatedKey } = await client.send(queryByState('open', options));
      return { keys: Items.map(({ sk }) => sk?.S).join(''), LastEvaluatedKey };
    };
    await until('all are listed', async () => ((await page({})).keys === 'aceg' ? true : undefined));
    await Promise.all(['b', 'd', 'f'].map((sk) => put(sk, 'open')));

    // Whatever it shows of the new items, it shows the old ones in order, and pages continue where the last ended.
    const descending = await page({ ScanIndexForward: false });
    expect(descending.keys).toMatch(/^gf?ed?cb?a$/);
    const first = await page({ Limit: 2 });
    expect(first.keys).toMatch(/^a[bc]$/);
    const second = await page({ Limit: 2, ExclusiveStartKey: first.LastEvaluatedKey });
    expect(second.keys).toHaveLength(2);
    expect(second.keys > first.keys).toBe(true);
    await until('all are listed', async () => ((await page({})).keys === 'abcdefg' ? true : undefined));
  });

  it('has the latest values in its indexes after a restart', async () => {
    const dataDirectory = await makeDirectoryOfTest();
    {
      await using aws = await start('index-lag', { dataDirectory });
      const puts = Array.from({ length: 20 }, (_, index) => itemOf(`item-${index}`, 'open'));
      await Promise.all(puts.map((Item) => aws.dynamodb().send(new PutItemCommand({ TableName, Item }))));
    }
    await using aws = await start('index-lag', { dataDirectory });
    const { Count } = await aws.dynamodb().send(queryByState('open'));
    expect(Count).toBe(20);
  });

  it('returns previous versions only to eventually consistent reads', async () => {
    await using aws = await start('stale-reads');
    const client = aws.dynamodb();
    const read = async (ConsistentRead: boolean) =>
      (await client.send(new GetItemCommand({ TableName, Key: keyOf('item'), ConsistentRead }))).Item?.state?.S;
    const readBatch = async (ConsistentRead: boolean) => {
      const request = { Keys: [keyOf('item')], ConsistentRead };
      const { Responses } = await client.send(new BatchGetItemCommand({ RequestItems: { [TableName]: request } }));
      return Responses?.[TableName]?.[0]?.state?.S;
    };
    const seen = new Set<string | undefined>();
    for (let version = 1; version <= 20; version++) {
      await client.send(new PutItemCommand({ TableName, Item: itemOf('item', String(version)) }));
      expect([await read(true), await readBatch(true)]).toEqual([String(version), String(version)]);
      for (const each of [await read(false), await readBatch(false)])
        seen.add(each === String(version) ? 'newest' : 'older');
    }
    expect(seen).toEqual(new Set(['newest', 'older']));
    await until('it has caught up', async () => {
      const reads = await Promise.all(Array.from({ length: 10 }, () => read(false)));
      return reads.every((each) => each === '20') ? true : undefined;
    });
  });

  it('leaves entries of batches unprocessed, and processes them when they are sent again', async () => {
    await using aws = await start('unprocessed');
    const client = aws.dynamodb();
    let left: WriteRequest[] = Array.from({ length: 25 }, (_, index) => ({
      PutRequest: { Item: itemOf(`item-${index}`, 'open') },
    }));
    const Keys = Array.from({ length: 25 }, (_, index) => keyOf(`item-${index}`));
    let rounds = 0;
    for (; left.length > 0; rounds++) {
      const output = await client.send(new BatchWriteItemCommand({ RequestItems: { [TableName]: left } }));
      left = output.UnprocessedItems?.[TableName] ?? [];
    }
    expect(rounds).toBeGreaterThan(1);
    const { Responses, UnprocessedKeys } = await client.send(
      new BatchGetItemCommand({ RequestItems: { [TableName]: { Keys, ConsistentRead: true } } }),
    );
    const unprocessed = UnprocessedKeys?.[TableName];
    expect(unprocessed?.ConsistentRead).toBe(true);
    expect((Responses?.[TableName]?.length ?? 0) + (unprocessed?.Keys?.length ?? 0)).toBe(25);
    expect(unprocessed?.Keys?.length).toBeGreaterThan(0);
  });

  it('throttles a partition key above its limit, and the SDK retries', async () => {
    const clock = { now: 0 };
    await using aws = await start('key-throttles', { meter: new CapacityMeter(() => clock.now) });
    const large = { ...itemOf('hot', 'open'), content: { S: 'x'.repeat(350 * 1024) } };
    const put = (maxAttempts: number) =>
      aws.dynamodb(everything, maxAttempts).send(new PutItemCommand({ TableName, Item: large }));
    // Three items of 351 units exceed a second's limit.
    for (let count = 0; count < 3; count++) await put(1);
    await expect(put(1)).rejects.toMatchObject({
      name: 'ThrottlingException',
      throttlingReasons: [{ reason: 'TableWriteKeyRangeThroughputExceeded', resource: tableArn }],
    });
    const repeated = put(10);
    const other = aws.dynamodb().send(new PutItemCommand({ TableName, Item: itemOf('cold', 'other') }));
    await expect(other).resolves.toBeDefined();
    clock.now = 1_000;
    await expect(repeated).resolves.toBeDefined();
  });
});

describe('services with transient errors', () => {
  it('apply writes whose response is lost, so that the condition of the second attempt fails', async () => {
    await using aws = await start('lost-responses', { attempts: 12 });
    const client = aws.dynamodb();
    const outcomes = new Set<string>();
    for (let index = 0; index < 40; index++) {
      const Item = itemOf(`item-${index}`, 'open');
      const put = new PutItemCommand({ TableName, Item, ConditionExpression: 'attribute_not_exists(pk)' });
      outcomes.add(
        await client.send(put).then(
          () => 'written',
          ({ name }) => name,
        ),
      );
      const { Item: stored } = await client.send(new GetItemCommand({ TableName, Key: keyOf(`item-${index}`) }));
      expect(stored).toEqual(Item);
    }
    expect(outcomes).toEqual(new Set(['written', 'ConditionalCheckFailedException']));
  });

  it('fail in ways that the SDK retries', async () => {
    await using aws = await start('errors', { attempts: 12 });
    const client = aws.dynamodb();
    for (let index = 0; index < 20; index++) {
      const Item = itemOf(`item-${index}`, 'open');
      await client.send(new PutItemCommand({ TableName, Item, ConditionExpression: 'attribute_not_exists(pk)' }));
      await aws.s3().send(new PutObjectCommand({ Bucket, Key: `file-${index}`, Body: 'content' }));
    }
    expect(aws.errors).toEqual([]);
  });

  it('return some errors of each service without retries', async () => {
    await using aws = await start('errors');
    const names = new Set<string>();
    const attempt = (call: Promise<unknown>) =>
      call.catch((error) => names.add(`${error.name} ${error.$metadata?.httpStatusCode}`));
    const QueueUrl = aws.stack.queues.find(({ name }) => name === 'work')?.url;
    const [dynamodb, s3, sqs] = [aws.dynamodb(), aws.s3(), aws.sqs()];
    for (let index = 0; index < 60; index++)
      await Promise.all([
        attempt(dynamodb.send(new UpdateItemCommand({ TableName, Key: keyOf('item') }))),
        attempt(s3.send(new PutObjectCommand({ Bucket, Key: 'file', Body: 'content' }))),
        attempt(sqs.send(new ReceiveMessageCommand({ QueueUrl }))),
      ]);
    expect([...names].sort()).toEqual([
      'InternalError 500',
      'InternalFailure 500',
      'InternalServerError 500',
      'ServiceUnavailable 503',
      'ServiceUnavailableException 503',
      'SlowDown 503',
    ]);
  });
});

describe('an SQS that misbehaves', () => {
  async function drain(aws: Awaited<ReturnType<typeof start>>, name: string, isDone: (messages: Message[]) => boolean) {
    const QueueUrl = aws.stack.queues.find((queue) => queue.name === name)?.url;
    const client = aws.sqs();
    const received: Message[] = [];
    const sizes: number[] = [];
    await until(`${name} is drained`, async () => {
      const { Messages = [] } = await client.send(
        new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 1 }),
      );
      received.push(...Messages);
      sizes.push(Messages.length);
      const Entries = Messages.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
      if (Entries.length > 0) await client.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }));
      return Messages.length === 0 && isDone(received) ? true : undefined;
    });
    return { received, sizes };
  }

  async function send(aws: Awaited<ReturnType<typeof start>>, name: string, count: number, group?: string) {
    const QueueUrl = aws.stack.queues.find((queue) => queue.name === name)?.url;
    for (let first = 0; first < count; first += 10) {
      const Entries = Array.from({ length: 10 }, (_, index) => ({
        Id: String(index),
        MessageBody: String(first + index),
        ...(group === undefined ? {} : { MessageGroupId: group, MessageDeduplicationId: String(first + index) }),
      }));
      await aws.sqs().send(new SendMessageBatchCommand({ QueueUrl, Entries }));
    }
  }

  it('delivers messages of a standard queue out of order, some twice, and all of them', async () => {
    await using aws = await start('deliveries');
    await send(aws, 'work', 50);
    const { received, sizes } = await drain(aws, 'work', (all) => new Set(all.map(({ Body }) => Body)).size === 50);
    const bodies = received.map(({ Body }) => Number(Body));
    expect(bodies).not.toEqual([...bodies].sort((one, other) => one - other));
    expect(sizes.slice(0, 10).some((size) => size < 10)).toBe(true);
    const ids = received.map(({ MessageId }) => MessageId);
    expect(ids.length).toBeGreaterThan(new Set(ids).size);
    expect(new Set(ids).size).toBe(50);
  });

  it('keeps the order of a FIFO queue, and delivers again what could not be deleted', async () => {
    await using aws = await start('deliveries');
    await send(aws, 'ordered.fifo', 60, 'group');
    const { received } = await drain(aws, 'ordered.fifo', (all) => new Set(all.map(({ Body }) => Body)).size === 60);
    const bodies = received.map(({ Body }) => Number(Body));
    const firsts = [...new Set(bodies)];
    expect(firsts).toEqual([...firsts].sort((one, other) => one - other));
    expect(bodies.length).toBeGreaterThan(firsts.length);
  });
});

describe('credentials of a session', () => {
  afterEach(() => vi.useRealTimers());

  it('sign requests, URLs and forms until they expire', async () => {
    await using aws = await startLocalAws();
    const credentials = makeSessionCredentials('master secret', everything, Date.now() + 60_000);
    const options = { region: aws.stack.region, forcePathStyle: true, maxAttempts: 1, credentials };
    const client = new S3Client({ ...options, endpoint: `${aws.origin}/_aws/s3` });
    await client.send(new PutObjectCommand({ Bucket, Key: 'file', Body: 'content' }));
    const url = await getSignedUrl(client, new GetObjectCommand({ Bucket, Key: 'file' }), { expiresIn: 3600 });
    const post = await createPresignedPost(client, { Bucket, Key: 'uploads/file', Expires: 3600 });
    const sendForm = () => {
      const form = new FormData();
      for (const [field, value] of Object.entries(post.fields)) form.append(field, value);
      form.append('file', new Blob(['content']), 'name');
      return fetch(post.url, { method: 'POST', body: form });
    };
    expect([(await fetch(url)).status, (await sendForm()).status]).toEqual([200, 204]);

    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61_000 });
    const late = await fetch(url);
    expect([late.status, await late.text()]).toEqual([400, expect.stringContaining('<Code>ExpiredToken</Code>')]);
    expect(await (await sendForm()).text()).toContain('<Code>ExpiredToken</Code>');
    const call = client.send(new GetObjectCommand({ Bucket, Key: 'file' }));
    await expect(call).rejects.toMatchObject({ name: 'ExpiredToken' });
  });

  it('are refused by another service, and when their token was changed', async () => {
    await using aws = await startLocalAws();
    const good = makeSessionCredentials('master secret', everything, Date.now() + 60_000);
    const [text = '', seal = ''] = good.sessionToken.split('.');
    const longer = Buffer.from(text, 'base64url')
      .toString()
      .replace(/"expiresAt":\d+/, '"expiresAt":9999999999999');
    const forged = { ...good, sessionToken: `${Buffer.from(longer).toString('base64url')}.${seal}` };
    for (const credentials of [makeSessionCredentials('other', everything, Date.now() + 60_000), forged]) {
      const options = { region: aws.stack.region, forcePathStyle: true, maxAttempts: 1, credentials };
      const client = new S3Client({ ...options, endpoint: `${aws.origin}/_aws/s3` });
      const call = client.send(new PutObjectCommand({ Bucket, Key: 'file', Body: 'content' }));
      await expect(call).rejects.toMatchObject({ name: 'InvalidAccessKeyId' });
    }
  });
});
