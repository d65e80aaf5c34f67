import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer, json } from 'node:stream/consumers';
import type { Context, SQSRecord } from 'aws-lambda';
import { afterEach, expect, test, vi } from 'vitest';
import { toAttributes } from '../../../shared/aws/table.ts';
import { uploadKey } from '../../../shared/files/keys.ts';
import { newId } from '../../../shared/ids.ts';
import type { Task } from '../../../shared/tasks/task.ts';
import { keyOfTask } from '../../support/records.ts';
import { until } from '../../support/until.ts';

const record: SQSRecord = {
  messageId: 'm1',
  receiptHandle: 'r1',
  body: JSON.stringify({ Records: [{ s3: { object: { key: 'uploads/6af9126cc0830000f25c62d1' } } }] }),
  attributes: {
    ApproximateReceiveCount: '2',
    SentTimestamp: '0',
    SenderId: '',
    ApproximateFirstReceiveTimestamp: '0',
  },
  messageAttributes: {},
  md5OfBody: '',
  eventSource: 'aws:sqs',
  eventSourceARN: '',
  awsRegion: '',
};

/** Starts an SQS that notes how long messages are hidden, and a table and an S3 that respond, with an error, when released. */
async function startAws() {
  const hidden: unknown[] = [];
  const released = Promise.withResolvers<void>();
  const server = createServer(async (req, res) => {
    const isQueue = req.headers['x-amz-target'] === 'AmazonSQS.ChangeMessageVisibility';
    if (isQueue) hidden.push(await json(req));
    else await released.promise;
    res.writeHead(isQueue ? 200 : 400, { 'content-type': 'application/x-amz-json-1.0' });
    res.end(isQueue ? '{}' : JSON.stringify({ __type: 'ValidationException', message: 'no' }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    hidden,
    release: released.resolve,
    [Symbol.dispose]: () => void server.close(),
  };
}

afterEach(() => {
  vi.useRealTimers();
  vi.resetModules();
});

function stubAws(url: string): void {
  vi.stubEnv('AWS_ENDPOINT_URL', url);
  vi.stubEnv('AWS_REGION', 'us-east-1');
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'id');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
  vi.stubEnv('LATHE_TABLE', 'table');
  vi.stubEnv('LATHE_BUCKET', 'bucket');
  vi.stubEnv('LATHE_QUEUE_UPLOADS', `${url}/000000000000/uploads`);
}

test('a notification is hidden for a minute at a time while it is handled, so that one whose handler died comes back soon', async () => {
  using aws = await startAws();
  stubAws(aws.url);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const hiddenFor = (VisibilityTimeout: number) => expect.objectContaining({ ReceiptHandle: 'r1', VisibilityTimeout });
  // Clients of the modules that other files loaded know another endpoint.
  vi.resetModules();
  const { handler } = await import('../../../functions/lifecycle/uploaded.ts');

  const handled = handler({ Records: [record] }, {} as Context);
  expect(aws.hidden).toEqual([]);
  vi.advanceTimersByTime(1_000);
  await until('it is hidden', () => aws.hidden.length === 1 || undefined);
  vi.advanceTimersByTime(20_000);
  await until('it is hidden again', () => aws.hidden.length === 2 || undefined);
  aws.release();

  await expect(handled).rejects.toThrow();
  vi.advanceTimersByTime(60_000);
  // Of a second delivery that failed, and did not die, the third comes after 20 seconds.
  expect(aws.hidden).toEqual([hiddenFor(60), hiddenFor(60), hiddenFor(20)]);
});

function uploadTask(): Task {
  const now = new Date().toISOString();
  return {
    id: newId(),
    user: newId(),
    name: 'upload',
    operation: 'import/upload',
    status: 'processing',
    payload: {},
    form: { url: 'http://bucket', parameters: {} },
    dependsOn: [],
    dependents: [],
    files: [],
    attempt: 0,
    createdAt: now,
    startedAt: now,
    updatedAt: now,
    expiresAt: new Date(Date.now() + 86_400_000).toISOString(),
    version: 1,
  };
}

/** Starts an S3 with a file at every key, and a table with these tasks that keeps writes waiting until they are released. */
async function startStores(tasks: Task[]) {
  const items = new Map(tasks.map((task) => [keyOfTask(task.id).pk, toAttributes({ ...keyOfTask(task.id), ...task })]));
  const copied: string[] = [];
  const writing = new Set<() => void>();
  const server = createServer(async (req, res) => {
    const body = await buffer(req);
    const target = req.headers['x-amz-target']?.toString();
    if (target === undefined) {
      const headers = { etag: '"e"', 'content-range': 'bytes 0-4/5', 'content-length': '5' };
      if (req.method === 'GET') return void res.writeHead(206, headers).end('hello');
      if (req.method === 'PUT') copied.push(req.url ?? '');
      return void res.end('<CopyObjectResult><ETag>"e"</ETag></CopyObjectResult>');
    }
    if (target.endsWith('PutItem')) await new Promise<void>((resolve) => writing.add(resolve));
    const found = target.endsWith('Query')
      ? { Items: [items.get(JSON.parse(body.toString()).ExpressionAttributeValues[':pk'].S)] }
      : {};
    res.writeHead(200, { 'content-type': 'application/x-amz-json-1.0' }).end(JSON.stringify(found));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    copied,
    writing,
    release() {
      for (const resolve of writing) resolve();
      writing.clear();
    },
    [Symbol.dispose]: () => void server.close(),
  };
}

test('the files of a batch are all copied at once, and two of their tasks at a time completed', async () => {
  const tasks = Array.from({ length: 6 }, uploadTask);
  using stores = await startStores(tasks);
  stubAws(stores.url);
  vi.resetModules();
  const { handler } = await import('../../../functions/lifecycle/uploaded.ts');
  const records = tasks.map(({ id }, index) => ({
    ...record,
    messageId: `m${index}`,
    body: JSON.stringify({ Records: [{ s3: { object: { key: uploadKey(id) } } }] }),
  }));

  const handled = handler({ Records: records }, {} as Context);
  await until('all are copied', () => stores.copied.length === 6 || undefined);
  let isHandled = false;
  void handled.finally(() => {
    isHandled = true;
  });
  for (let most = 0; !isHandled; most = 0) {
    await until('some are written, or all are', () => {
      most = Math.max(most, stores.writing.size);
      return isHandled || most >= 2 || undefined;
    });
    expect(most).toBeLessThanOrEqual(2);
    stores.release();
  }

  await expect(handled).resolves.toEqual({ batchItemFailures: [] });
});
