import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { GetItemCommand, PutItemCommand, QueryCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { GetObjectCommand, HeadObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { GetQueueAttributesCommand, ReceiveMessageCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeCredentials } from '../../src/iam/credentials.ts';
import { ObjectStore } from '../../src/s3/store.ts';
import { everything, type LocalAws, makeDirectory, nothing, startLocalAws } from './fixture.ts';

const Bucket = 'lathe-files';

describe('a restart on the same data folder', () => {
  let dataDirectory: string;
  beforeEach(async () => {
    dataDirectory = await makeDirectory();
  });
  afterEach(() => rm(dataDirectory, { recursive: true, force: true }));

  it('finds items, messages and objects, even on another port', async () => {
    const Key = { pk: { S: 'a' }, sk: { S: 'b' } };
    {
      await using aws = await startLocalAws({ dataDirectory });
      await aws.dynamodb().send(new PutItemCommand({ TableName: 'records', Item: Key }));
      await aws.s3().send(new PutObjectCommand({ Bucket, Key: 'kept', Body: 'kept', Metadata: { a: '1' } }));
      const QueueUrl = aws.stack.queues[1]?.url;
      await aws.sqs().send(new SendMessageCommand({ QueueUrl, MessageBody: 'kept' }));
    }

    await using aws = await startLocalAws({ dataDirectory });
    const item = await aws.dynamodb().send(new GetItemCommand({ TableName: 'records', Key }));
    const object = await aws.s3().send(new GetObjectCommand({ Bucket, Key: 'kept' }));
    const QueueUrl = aws.stack.queues[1]?.url;
    const { Messages: [message] = [] } = await aws.sqs().send(new ReceiveMessageCommand({ QueueUrl }));

    expect(item.Item).toEqual(Key);
    expect(await object.Body?.transformToString()).toBe('kept');
    expect(object.Metadata).toEqual({ a: '1' });
    expect(message?.Body).toBe('kept');
  });

  it('takes over the objects of a folder without checksums', async () => {
    const blob = Buffer.from('old');
    await mkdir(join(dataDirectory, 'blobs'), { recursive: true });
    await writeFile(join(dataDirectory, 'blobs/file'), blob);
    const db = new DatabaseSync(join(dataDirectory, 'objects.db'));
    db.exec(
      `CREATE TABLE objects (bucket TEXT, key TEXT, size INTEGER, etag TEXT, modified INTEGER, metadata TEXT,
         segments TEXT, tagging TEXT, PRIMARY KEY (bucket, key)) WITHOUT ROWID;
       INSERT INTO objects VALUES ('files', 'key', 3, 'tag', 0, '{}', '[{"file":"file","size":3}]', NULL);`,
    );
    db.close();

    const store = new ObjectStore(dataDirectory, ['files']);
    const content = await buffer(store.open('files', 'key') ?? Readable.from([]));
    const found = store.find('files', 'key');
    store.close();

    expect([content.toString(), found?.checksum]).toEqual(['old', undefined]);
  });

  it("updates a queue's attributes to the template, and keeps its messages", async () => {
    {
      await using aws = await startLocalAws({ dataDirectory });
      const QueueUrl = aws.stack.queues[0]?.url;
      await aws.sqs().send(new SendMessageCommand({ QueueUrl, MessageBody: 'kept' }));
    }

    await using aws = await startLocalAws({
      dataDirectory,
      change: (stack) => {
        for (const queue of stack.queues) queue.attributes = { VisibilityTimeout: '77' };
      },
    });
    const QueueUrl = aws.stack.queues[0]?.url;
    const { Attributes } = await aws.sqs().send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] }));

    expect(Attributes).toMatchObject({
      VisibilityTimeout: '77',
      QueueArn: aws.stack.queues[0]?.arn,
      ApproximateNumberOfMessages: '1',
    });
  });

  it('reports that the folder has an older schema if the table has changed', async () => {
    {
      await using _first = await startLocalAws({ dataDirectory });
    }

    const second = startLocalAws({
      dataDirectory,
      change: (stack) => {
        for (const table of stack.tables) table.indexes = [];
      },
    });

    await expect(second).rejects.toThrow(/data folder belongs to an older schema.*Delete the data folder/);
  });

  it('accepts a URL that was presigned before', async () => {
    const first = makeCredentials('master secret', everything);
    const second = makeCredentials('master secret', everything);
    const other = makeCredentials('another secret', everything);

    expect(second).toEqual(first);
    expect(other.secretAccessKey).not.toBe(first.secretAccessKey);
    expect(makeCredentials('master secret', nothing).accessKeyId).not.toBe(first.accessKeyId);
  });

  it('accepts a presigned HEAD only with its signed method', async () => {
    await using aws = await startLocalAws({ dataDirectory });
    await aws.s3().send(new PutObjectCommand({ Bucket, Key: 'h', Body: 'x' }));
    const url = await getSignedUrl(aws.s3(), new HeadObjectCommand({ Bucket, Key: 'h' }));

    expect((await fetch(url, { method: 'HEAD' })).status).toBe(200);
    expect((await fetch(url)).status).toBe(403);
  });

  it('finds everything that was acknowledged before a kill, with its index entries', { timeout: 30_000 }, async () => {
    const acknowledged = await killedWriter(dataDirectory, 200);

    await using aws = await startLocalAws({ dataDirectory });
    const { Items: items = [] } = await aws.dynamodb().send(new ScanCommand({ TableName: 'records' }));
    const indexed = await Promise.all(['first', 'second'].map((state) => byState(aws, state)));
    const { Attributes = {} } = await aws
      .sqs()
      .send(new GetQueueAttributesCommand({ QueueUrl: aws.stack.queues[1]?.url, AttributeNames: ['All'] }));
    const objects = await Promise.all(
      [0, 1, 2, 3].map(async (lane) => {
        const { Body } = await aws.s3().send(new GetObjectCommand({ Bucket, Key: `lane-${lane}` }));
        return (await Body?.transformToString()) ?? '';
      }),
    );

    const ids = new Set(items.map((item) => item.pk?.S));
    const lost = acknowledged.filter((line) => line.startsWith('item ') && !ids.has(line.slice('item '.length)));
    expect(lost).toEqual([]);
    expect(indexed.flat().sort()).toEqual(items.map((item) => `${item.state?.S} ${item.pk?.S}`).sort());
    expect(Number(Attributes.ApproximateNumberOfMessages)).toBeGreaterThanOrEqual(
      acknowledged.filter((line) => line.startsWith('message ')).length,
    );
    for (const text of objects) expect(text).toBe((text[0] ?? '').repeat(200_000));
  });
});

async function byState(aws: LocalAws, state: string): Promise<string[]> {
  const { Items = [] } = await aws.dynamodb().send(
    new QueryCommand({
      TableName: 'records',
      IndexName: 'byState',
      KeyConditionExpression: '#state = :state',
      ExpressionAttributeNames: { '#state': 'state' },
      ExpressionAttributeValues: { ':state': { S: state } },
    }),
  );
  return Items.map((item) => `${state} ${item.pk?.S}`);
}

/** Runs a writing process, kills it after a number of acknowledgements, and returns them. */
async function killedWriter(dataDirectory: string, count: number): Promise<string[]> {
  const script = new URL('killed-writer.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [script, dataDirectory], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line);
    if (lines.length === count) child.kill('SIGKILL');
  }
  await exited;
  return lines;
}
