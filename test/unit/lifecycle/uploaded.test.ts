import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { Context, SQSRecord } from 'aws-lambda';
import { afterEach, expect, test, vi } from 'vitest';
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

/** Starts an SQS that notes how long messages are hidden, and a table that responds, with an error, when it is released. */
async function startAws() {
  const hidden: unknown[] = [];
  const released = Promise.withResolvers<void>();
  const server = createServer(async (req, res) => {
    const body: unknown = await json(req);
    if (req.headers['x-amz-target'] === 'AmazonSQS.ChangeMessageVisibility') hidden.push(body);
    else await released.promise;
    const isQueue = req.headers['x-amz-target']?.toString().startsWith('AmazonSQS');
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

test('a notification is hidden for a minute at a time while it is handled, so that one whose handler died comes back soon', async () => {
  using aws = await startAws();
  vi.stubEnv('AWS_ENDPOINT_URL', aws.url);
  vi.stubEnv('AWS_REGION', 'us-east-1');
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'id');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
  vi.stubEnv('LATHE_TABLE', 'table');
  vi.stubEnv('LATHE_BUCKET', 'bucket');
  vi.stubEnv('LATHE_QUEUE_UPLOADS', `${aws.url}/000000000000/uploads`);
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
