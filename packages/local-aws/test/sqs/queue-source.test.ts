import { SendMessageBatchCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { startFauxqs } from 'fauxqs';
import { expect, test } from 'vitest';
import { FunctionError } from '../../src/lambda/function-error.ts';
import { slotsOf, startQueueSource } from '../../src/sqs/queue-source.ts';
import type { LocalFunction, QueueSource } from '../../src/template/model.ts';
import { eventually } from '../lambda/fixtures/eventually.ts';
import { fixtureFunction, fixtureRuntime } from '../lambda/fixtures/functions.ts';

interface SqsRecord {
  messageId: string;
  body: string;
}

interface Setting extends Partial<Omit<QueueSource, 'queue' | 'function'>> {
  function?: Partial<LocalFunction>;
  invoke?: (records: SqsRecord[], event: unknown) => unknown;
  visibilitySeconds?: number;
  maxReceiveCount?: number;
  cores?: number;
}

async function startSource({
  invoke = () => null,
  visibilitySeconds = 30,
  maxReceiveCount,
  cores = 2,
  ...setting
}: Setting) {
  const server = await startFauxqs({ port: 0, logger: false });
  const sqs = new SQSClient({
    endpoint: server.address,
    region: 'eu-central-1',
    credentials: { accessKeyId: 'KEY', secretAccessKey: 'SECRET' },
  });
  const dead = server.createQueue('dead', { region: 'eu-central-1' });
  const attributes: Record<string, string> = { VisibilityTimeout: String(visibilitySeconds) };
  if (maxReceiveCount)
    attributes.RedrivePolicy = JSON.stringify({ deadLetterTargetArn: dead.queueArn, maxReceiveCount });
  const { queueUrl, queueArn } = server.createQueue('work', { region: 'eu-central-1', attributes });
  const lines: string[] = [];
  const events: { Records: SqsRecord[] }[] = [];
  const source: QueueSource = {
    logicalId: 'Source',
    batchSize: 1,
    batchingWindowSeconds: 0,
    reportBatchItemFailures: false,
    ...setting,
    queue: { logicalId: 'Queue', name: 'work', arn: queueArn, url: queueUrl, attributes, policy: [] },
    function: fixtureFunction('echo', setting.function),
  };
  const runtime = {
    invoke: async (_: LocalFunction, event: unknown) => {
      const batch: { Records: SqsRecord[] } = Object(event);
      events.push(batch);
      return invoke(batch.Records, event);
    },
    stop: async () => {},
  };
  const start = () =>
    startQueueSource(source, { runtime, sqs, ...slotsOf(source, cores), log: (line) => lines.push(line) });
  const inspect = (name = 'work') => {
    const messages = server.inspectQueue(name)?.messages;
    return { ready: messages?.ready.length ?? 0, inFlight: messages?.inflight.length ?? 0 };
  };
  const running = { current: start() };
  return {
    sqs,
    queueUrl,
    events,
    lines,
    server,
    source,
    inspect,
    isEmpty: () => inspect().ready + inspect().inFlight === 0,
    send: async (...bodies: string[]) => {
      const Entries = bodies.map((body, index) => ({ Id: String(index), MessageBody: body }));
      await sqs.send(new SendMessageBatchCommand({ QueueUrl: queueUrl, Entries }));
    },
    stop: () => running.current.stop(),
    drain: () => running.current.drain(),
    [Symbol.asyncDispose]: async () => {
      await running.current.stop();
      sqs.destroy();
      await server.stop();
    },
  };
}

function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

test('a message becomes a Lambda event and is deleted after success', async () => {
  await using queue = await startSource({});

  await queue.sqs.send(
    new SendMessageCommand({
      QueueUrl: queue.queueUrl,
      MessageBody: 'hello',
      MessageAttributes: { kind: { DataType: 'String', StringValue: 'test' } },
    }),
  );
  await eventually(() => queue.events.length === 1 && queue.isEmpty());

  expect(queue.events).toEqual([
    {
      Records: [
        {
          messageId: expect.stringMatching(/^[0-9a-f-]{36}$/),
          receiptHandle: expect.any(String),
          body: 'hello',
          attributes: expect.objectContaining({
            ApproximateReceiveCount: '1',
            SentTimestamp: expect.stringMatching(/^\d{13}$/),
            ApproximateFirstReceiveTimestamp: expect.stringMatching(/^\d{13}$/),
            SenderId: expect.any(String),
          }),
          messageAttributes: {
            kind: { stringValue: 'test', stringListValues: [], binaryListValues: [], dataType: 'String' },
          },
          md5OfMessageAttributes: expect.any(String),
          md5OfBody: '5d41402abc4b2a76b9719d911017c592',
          eventSource: 'aws:sqs',
          eventSourceARN: queue.source.queue.arn,
          awsRegion: 'eu-central-1',
        },
      ],
    },
  ]);
});

test.each([
  ['an image function to the cores', { function: { packaging: 'image' }, cores: 2 }, 2],
  ['an image function to a lower maximum', { function: { packaging: 'image' }, cores: 4, maximumConcurrency: 3 }, 3],
  ['a zip function to its maximum', { maximumConcurrency: 4 }, 4],
  ['a zip function without a maximum to ten', {}, 10],
  // Lambda's pollers ignore it.
  ['a zip function not to its reserved concurrency', { function: { reservedConcurrency: 1 } }, 10],
] satisfies [string, Setting, number][])('messages in flight are limited for %s', async (_, setting, limit) => {
  const { open, opened } = gate();
  await using queue = await startSource({ ...setting, invoke: () => opened });
  const bodies = Array.from({ length: 10 }, (_, index) => String(index));

  await queue.send(...bodies);
  await queue.send('10', '11');
  await eventually(() => queue.events.length === limit);
  const during = queue.inspect();
  open();
  await eventually(queue.isEmpty);

  expect(during).toEqual({ ready: 12 - limit, inFlight: limit });
  expect(queue.events.map(({ Records: [record] }) => record?.body).toSorted()).toEqual(
    [...bodies, '10', '11'].toSorted(),
  );
});

test('a burst starts with five concurrent batches, and more are added over time', async () => {
  const { open, opened } = gate();
  await using queue = await startSource({ maximumConcurrency: 50, invoke: () => opened });
  const began = Date.now();

  await queue.send(...Array.from({ length: 10 }, (_, index) => String(index)));
  await eventually(() => queue.events.length === 10);
  const took = Date.now() - began;
  open();
  await eventually(queue.isEmpty);

  // The last five arrived one by one, a fifth of a second apart.
  expect(took).toBeGreaterThan(990);
});

test('a batch holds as many messages as there are, up to the batch size', async () => {
  const { open, opened } = gate();
  await using queue = await startSource({ batchSize: 3, maximumConcurrency: 1, invoke: () => opened });
  await queue.send('first');
  await eventually(() => queue.events.length === 1);

  await queue.send('a', 'b', 'c', 'd');
  open();
  await eventually(queue.isEmpty);

  expect(queue.events.map(({ Records }) => Records.length)).toEqual([1, 3, 1]);
});

test('a batching window gathers messages that arrive one after another', async () => {
  await using queue = await startSource({ batchSize: 20, batchingWindowSeconds: 1 });

  await queue.send('a');
  await queue.send('b');
  await queue.send('c');
  await eventually(() => queue.events.length > 0 && queue.isEmpty());

  expect(queue.events.map(({ Records }) => Records.length)).toEqual([3]);
});

test('a message whose invocation is throttled is kept and retried', async () => {
  const throttled = new FunctionError('TooManyRequestsException', 'Rate Exceeded.');
  let invocations = 0;
  await using queue = await startSource({ invoke: () => (invocations++ < 2 ? Promise.reject(throttled) : null) });

  await queue.send('patient');
  await eventually(() => queue.events.length === 3 && queue.isEmpty());

  for (const { Records } of queue.events)
    expect(Records).toMatchObject([{ attributes: { ApproximateReceiveCount: '1' } }]);
  expect(queue.lines).toEqual([]);
});

test('a message that is throttled for its whole visibility timeout becomes visible again', async () => {
  const throttled = new FunctionError('TooManyRequestsException', 'Rate Exceeded.');
  const received = new Set<string>();
  await using queue = await startSource({
    visibilitySeconds: 1,
    invoke: (_records, event) => {
      const [{ attributes }] = Object(event).Records;
      received.add(attributes.ApproximateReceiveCount);
      return received.size < 2 ? Promise.reject(throttled) : null;
    },
  });

  await queue.send('patient');
  await eventually(() => received.size === 2 && queue.isEmpty());

  expect([...received]).toEqual(['1', '2']);
  expect(queue.lines).toEqual([expect.stringContaining('Rate Exceeded')]);
});

test('a failed message reappears after its visibility timeout and then moves to the dead-letter queue', async () => {
  await using queue = await startSource({
    visibilitySeconds: 1,
    maxReceiveCount: 2,
    invoke: () => Promise.reject(new FunctionError('Error', 'no')),
  });

  await queue.send('poison');
  await eventually(() => queue.inspect('dead').ready === 1);

  expect(queue.events).toMatchObject([
    { Records: [{ attributes: { ApproximateReceiveCount: '1' } }] },
    { Records: [{ attributes: { ApproximateReceiveCount: '2' } }] },
  ]);
  expect(queue.isEmpty()).toBe(true);
  expect(queue.lines).toHaveLength(2);
});

test('keeps only the messages reported as failed', async () => {
  const { open, opened } = gate();
  await using queue = await startSource({
    batchSize: 10,
    maximumConcurrency: 1,
    reportBatchItemFailures: true,
    invoke: async (records) => {
      await opened;
      const failed = records.filter(({ body }) => body === 'bad');
      return { batchItemFailures: failed.map(({ messageId }) => ({ itemIdentifier: messageId })) };
    },
  });

  await queue.send('good', 'bad', 'fine');
  open();
  await eventually(() => queue.events.flatMap(({ Records }) => Records).length === 3);
  await eventually(() => queue.inspect().inFlight === 1);

  const left = queue.server.inspectQueue('work')?.messages.inflight.map(({ message }) => message.body);
  expect(left).toEqual(['bad']);
});

test('keeps the whole batch after a malformed report', async () => {
  await using queue = await startSource({ reportBatchItemFailures: true, invoke: () => ({ ok: true }) });

  await queue.send('a');
  await eventually(() => queue.lines.length === 1);

  expect(queue.inspect()).toEqual({ ready: 0, inFlight: 1 });
});

test('polling survives errors and resumes when the queue is available', async () => {
  await using queue = await startSource({});
  queue.server.deleteQueue('work', { region: 'eu-central-1' });
  await queue.stop();
  const again = startQueueSource(queue.source, {
    runtime: { invoke: async (_, event) => queue.events.push(Object(event)), stop: async () => {} },
    sqs: queue.sqs,
    concurrency: 1,
    log: (line) => queue.lines.push(line),
  });
  await eventually(() => queue.lines.length >= 2);

  queue.server.createQueue('work', { region: 'eu-central-1' });
  await queue.send('late');

  await eventually(() => queue.events.length === 1);
  await again.stop();
  expect(queue.lines[0]).toContain('could not receive, retrying in 100 ms');
});

test.each([
  ['waits for messages', []],
  ['has no free slot', ['long']],
])('stop returns at once while the source %s', async (_, bodies) => {
  await using queue = await startSource({ maximumConcurrency: 1, invoke: () => new Promise(() => {}) });
  if (bodies.length > 0) await queue.send(...bodies);
  await eventually(() => queue.events.length === bodies.length);
  const before = Date.now();

  await queue.stop();

  expect(Date.now() - before).toBeLessThan(1_000);
});

test('a real function is invoked within milliseconds of the message', async () => {
  await using runtime = fixtureRuntime();
  const ends: number[] = [];
  await using queue = await startSource({
    invoke: async (_, event) => {
      const result = await runtime.invoke(queue.source.function, event);
      ends.push(Date.now());
      return result;
    },
  });
  await queue.send('warm');
  await eventually(() => ends.length === 1 && queue.isEmpty());
  const latencies: number[] = [];

  for (let round = 0; round < 20; round += 1) {
    const before = Date.now();
    await queue.send(String(round));
    await eventually(() => ends.length === round + 2);
    latencies.push((ends.at(-1) ?? 0) - before);
  }

  // A pause between polls would delay even the fastest of them; a busy machine would not.
  expect(Math.min(...latencies)).toBeLessThan(50);
});

test('a drained source leaves later messages to the next one', async () => {
  await using queue = await startSource({});

  const drained = queue.drain();
  // Ends the waiting poll.
  await queue.send('last');
  await drained;
  await eventually(() => queue.isEmpty());
  await queue.send('next');

  expect(queue.inspect()).toEqual({ ready: 1, inFlight: 0 });
  expect(queue.events).toHaveLength(1);
});
