import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import {
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import {
  DeleteMessageCommand,
  GetQueueUrlCommand,
  ListQueuesCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
} from '@aws-sdk/client-sqs';
import { createPresignedPost } from '@aws-sdk/s3-presigned-post';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startS3Door } from '../../../../test/second-opinions/s3-door.ts';
import { startTables } from '../../src/dynamodb/tables.ts';
import { startQueues } from '../../src/sqs/queues.ts';
import { allow, type LocalAws, makeDirectory, queueArn, role, startLocalAws, tableArn } from './fixture.ts';

// The embedded servers again, but like foreign ones: at separate addresses, without a gate or with other keys.
const Bucket = 'other-1';
const bucketArn = `arn:aws:s3:::${Bucket}`;
const owner = { accessKeyId: 'AKIAOWNER', secretAccessKey: 'a/secret+key' };
const worker = role('Worker', [
  allow(['dynamodb:*'], [tableArn]),
  allow(['sqs:*'], [queueArn('*')]),
  allow(['sqs:ListQueues'], ['*']),
  allow(['s3:*'], [`${bucketArn}/*`]),
]);

describe('third-party servers behind the gate', () => {
  const disposables = new AsyncDisposableStack();
  let aws: LocalAws;

  beforeAll(async () => {
    const directory = await makeDirectory();
    disposables.defer(() => rm(directory, { recursive: true, force: true }));
    const tables = await startTables([], join(directory, 'tables'));
    disposables.defer(tables.close);
    const queues = await startQueues([], 'eu-central-1', join(directory, 'queues'));
    disposables.defer(queues.close);
    const bucketPrefix = 'other-';
    const dataDirectory = join(directory, 'objects');
    const objects = await startS3Door({ dataDirectory, users: [owner], bucketPrefix, onError: expect.fail });
    disposables.use(objects);
    const serve = async (handler: typeof tables.handle) => {
      const server = await listen((req, res) => void buffer(req).then((body) => handler(req, res, body)));
      disposables.use(server);
      return server.address;
    };
    const user = `${owner.accessKeyId}:${encodeURIComponent(owner.secretAccessKey)}`;
    aws = await startLocalAws({
      roles: [worker],
      change: (stack) => {
        for (const bucket of stack.buckets) Object.assign(bucket, { name: Bucket, arn: bucketArn, policy: [] });
        for (const queue of stack.queues)
          for (const statement of queue.policy) statement.conditions = { ArnLike: { 'aws:SourceArn': [bucketArn] } };
      },
      addresses: {
        dynamodb: await serve(tables.handle),
        sqs: await serve(queues.handle),
        s3: `http://${user}@127.0.0.1:${objects.port}`,
      },
    });
    disposables.use(aws);
  });
  afterAll(() => disposables.disposeAsync());

  const url = (name: string) => aws.stack.queues.find((queue) => queue.name === name)?.url;
  const notified = async () => {
    const { Messages = [] } = await aws.sqs(worker).send(new ReceiveMessageCommand({ QueueUrl: url('uploads') }));
    const [{ Body = '{}', ReceiptHandle } = {}] = Messages;
    await aws.sqs(worker).send(new DeleteMessageCommand({ QueueUrl: url('uploads'), ReceiptHandle }));
    const [{ eventName, s3 } = { eventName: '', s3: undefined }] = JSON.parse(Body).Records;
    return { eventName, ...s3.object };
  };
  const read = async (Key: string) => {
    const { Body, ...about } = await aws.s3(worker).send(new GetObjectCommand({ Bucket, Key }));
    return { text: await Body?.transformToString(), ...about };
  };

  it('keep items, in tables that were created there', async () => {
    const Item = { pk: { S: 'a' }, sk: { S: 'b' }, text: { S: 'ä' } };
    await aws.dynamodb(worker).send(new PutItemCommand({ TableName: 'records', Item }));

    const Key = { pk: { S: 'a' }, sk: { S: 'b' } };
    const found = await aws.dynamodb(worker).send(new GetItemCommand({ TableName: 'records', Key }));
    expect(found.Item).toEqual(Item);
  });

  it('receive no call that the role may not make', async () => {
    await expect(
      aws.dynamodb().send(new GetItemCommand({ TableName: 'others', Key: { pk: { S: 'a' } } })),
    ).rejects.toMatchObject({ name: 'AccessDeniedException' });
    await expect(aws.s3(worker).send(new GetObjectCommand({ Bucket: 'other-2', Key: 'a' }))).rejects.toMatchObject({
      name: 'AccessDenied',
    });
  });

  it('deliver messages by the queue URLs that the functions know', async () => {
    const client = aws.sqs(worker);
    await client.send(new SendMessageCommand({ QueueUrl: url('work'), MessageBody: 'hello' }));

    const { Messages = [] } = await client.send(new ReceiveMessageCommand({ QueueUrl: url('work') }));
    expect(Messages.map(({ Body }) => Body)).toEqual(['hello']);
    const { QueueUrl } = await client.send(new GetQueueUrlCommand({ QueueName: 'work' }));
    expect(QueueUrl).toBe(url('work'));
    const { QueueUrls = [] } = await client.send(new ListQueuesCommand({}));
    expect(QueueUrls.toSorted()).toEqual(aws.stack.queues.map((queue) => queue.url).sort());
  });

  it('store objects, and the queues of the bucket are notified', async () => {
    const put = { Bucket, Key: 'uploads/a b+c', ContentType: 'text/plain', Metadata: { name: 'x' } };
    await aws.s3(worker).send(new PutObjectCommand({ ...put, Body: 'content' }));

    const found = await read('uploads/a b+c');
    expect(found).toMatchObject({ text: 'content', ContentType: 'text/plain', Metadata: { name: 'x' } });
    expect(await notified()).toMatchObject({ eventName: 'ObjectCreated:Put', key: 'uploads/a+b%2Bc', size: 7 });
  });

  it('store streamed objects, with the trailing checksum', async () => {
    const pieces = Array.from({ length: 20 }, (_, index) => Buffer.alloc(10_000, index));
    const Body = Readable.from(pieces);
    await aws.s3(worker).send(new PutObjectCommand({ Bucket, Key: 'streamed', Body, ContentLength: 200_000 }));

    const head = { Bucket, Key: 'streamed', ChecksumMode: 'ENABLED' } as const;
    const { ChecksumCRC32, ContentLength } = await aws.s3(worker).send(new HeadObjectCommand(head));
    expect(ContentLength).toBe(200_000);
    expect(ChecksumCRC32).toMatch(/^\S{8}$/);
    expect((await read('streamed')).ContentEncoding).toBeUndefined();
  });

  it('assemble multipart uploads, and copy objects', async () => {
    const client = aws.s3(worker);
    const target = { Bucket, Key: 'uploads/parts' };
    const { UploadId } = await client.send(new CreateMultipartUploadCommand({ ...target, ChecksumAlgorithm: 'CRC32' }));
    const part = { ...target, UploadId, PartNumber: 1 };
    const { ETag, ChecksumCRC32 } = await client.send(new UploadPartCommand({ ...part, Body: 'one part' }));
    const Parts = [{ PartNumber: 1, ETag, ChecksumCRC32 }];
    await client.send(new CompleteMultipartUploadCommand({ ...target, UploadId, MultipartUpload: { Parts } }));
    await client.send(new CopyObjectCommand({ Bucket, Key: 'copy', CopySource: `${Bucket}/uploads/parts` }));

    expect((await read('copy')).text).toBe('one part');
    expect(await notified()).toMatchObject({ eventName: 'ObjectCreated:CompleteMultipartUpload', size: 8 });
  });

  it('keep the files of forms, which the gate verifies', async () => {
    const post = async (Key: string, Conditions: ['content-length-range', number, number][]) => {
      const { url: action, fields } = await createPresignedPost(aws.s3(worker), { Bucket, Key, Conditions });
      const form = new FormData();
      for (const [name, value] of Object.entries(fields)) form.set(name, value);
      form.set('file', new Blob(['from a form']), 'name.txt');
      return fetch(action, { method: 'POST', body: form });
    };

    expect((await post('uploads/form', [['content-length-range', 0, 100]])).status).toBe(204);
    expect((await post('uploads/large', [['content-length-range', 0, 5]])).status).toBe(400);
    expect((await read('uploads/form')).text).toBe('from a form');
    expect(await notified()).toMatchObject({ eventName: 'ObjectCreated:Post', size: 11 });
    await expect(read('uploads/large')).rejects.toMatchObject({ name: 'AccessDenied' });
  });

  it('delete objects, and leave it to the gate who learns that one is missing', async () => {
    await aws.s3(worker).send(new PutObjectCommand({ Bucket, Key: 'a & b', Body: 'x' }));
    await aws.s3(worker).send(new DeleteObjectsCommand({ Bucket, Delete: { Objects: [{ Key: 'a & b' }] } }));

    await expect(read('a & b')).rejects.toMatchObject({ name: 'AccessDenied' });
    await expect(aws.s3(worker).send(new HeadObjectCommand({ Bucket, Key: 'a & b' }))).rejects.toMatchObject({
      $metadata: { httpStatusCode: 403 },
    });
  });

  it('forward their refusals', async () => {
    const part = { Bucket, Key: 'x', UploadId: 'none', PartNumber: 1, Body: 'x' };
    await expect(aws.s3(worker).send(new UploadPartCommand(part))).rejects.toMatchObject({ name: 'NoSuchUpload' });
    await aws.s3(worker).send(new PutObjectCommand({ Bucket, Key: 'short', Body: 'x' }));
    const range = new GetObjectCommand({ Bucket, Key: 'short', Range: 'bytes=5-6' });
    await expect(aws.s3(worker).send(range)).rejects.toMatchObject({ $metadata: { httpStatusCode: 416 } });
    const key = { TableName: 'records', Key: { pk: { S: 'a' } } };
    await expect(aws.dynamodb(worker).send(new GetItemCommand(key))).rejects.toMatchObject({
      name: 'ValidationException',
    });
  });

  it('has had no internal error', () => {
    expect(aws.errors).toEqual([]);
  });
});

async function listen(listener: RequestListener): Promise<AsyncDisposable & { address: string }> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  return {
    address: `http://127.0.0.1:${address.port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
