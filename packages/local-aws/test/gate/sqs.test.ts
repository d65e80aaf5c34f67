import {
  ChangeMessageVisibilityCommand,
  CreateQueueCommand,
  DeleteMessageCommand,
  GetQueueUrlCommand,
  ListQueuesCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
} from '@aws-sdk/client-sqs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeDirectoryOfTest } from './directory-of-test.ts';
import { allow, type LocalAws, nothing, queueArn, role, startLocalAws } from './fixture.ts';

const lister = role('Lister', [allow(['sqs:ListQueues'], ['*'])]);
const sender = role('Sender', [allow(['sqs:SendMessage'], [queueArn('work')])]);

describe('SQS behind the gate', () => {
  let aws: LocalAws;
  beforeEach(async () => {
    aws = await startLocalAws({ roles: [lister, sender] });
  });
  afterEach(() => aws[Symbol.asyncDispose]());

  const url = (name: string) => aws.stack.queues.find((queue) => queue.name === name)?.url ?? '';
  const receive = (name: string, extra: object = {}) =>
    aws.sqs().send(new ReceiveMessageCommand({ QueueUrl: url(name), WaitTimeSeconds: 0, ...extra }));

  it('lists queues for a role whose policy names no resource, because none can be named', async () => {
    const { QueueUrls = [] } = await aws.sqs(lister).send(new ListQueuesCommand({}));

    expect(QueueUrls).toHaveLength(aws.stack.queues.length);
    await expect(aws.sqs().send(new ListQueuesCommand({}))).rejects.toMatchObject({ name: 'AccessDenied' });
  });

  it('delivers a message once it is sent, and not after it is deleted', async () => {
    await aws.sqs(sender).send(new SendMessageCommand({ QueueUrl: url('work'), MessageBody: 'hello' }));
    const { Messages: [message] = [] } = await receive('work');
    await aws
      .sqs()
      .send(new DeleteMessageCommand({ QueueUrl: url('work'), ReceiptHandle: message?.ReceiptHandle ?? '' }));

    const second = await receive('work', { VisibilityTimeout: 0 });

    expect(message?.Body).toBe('hello');
    expect(second.Messages).toBeUndefined();
  });

  it.each(['work', 'ordered.fifo'])(
    'returns the trace header of the sender to %s, if attributes are requested',
    async (name) => {
      const trace = 'Root=1-67891233-abcdef012345678912345678;Parent=0123456789abcdef;Sampled=0;Lineage=0a1b2c3d:3';
      const sqs = aws.sqs();
      sqs.middlewareStack.add(
        (next) => (args) => {
          Object.assign(Object(args.request).headers, { 'X-Amzn-Trace-Id': trace });
          return next(args);
        },
        { step: 'build' },
      );
      const groups = name.endsWith('.fifo') ? { MessageGroupId: 'a', MessageDeduplicationId: 'a' } : {};
      await sqs.send(new SendMessageCommand({ QueueUrl: url(name), MessageBody: 'hello', ...groups }));

      const { Messages: [message] = [] } = await receive(name, { MessageSystemAttributeNames: ['All'] });

      expect(message?.Attributes).toMatchObject({ AWSTraceHeader: trace, ApproximateReceiveCount: '1' });
    },
  );

  it.each(['t😀', '\u{10ffff}', '\t\n\r \ud7ff\ue000\ufffd'])(
    'accepts the characters that SQS accepts: %j',
    async (text) => {
      await aws.sqs().send(new SendMessageCommand({ QueueUrl: url('work'), MessageBody: text }));

      const { Messages: [message] = [] } = await receive('work');

      expect(message?.Body).toBe(text);
    },
  );

  it.each(['\u0000', '\u0008', '\u001f', '\ufffe', '\uffff', '\ud83d', '\ude00\ud83d'])(
    'refuses the characters that SQS refuses: %j',
    async (text) => {
      const QueueUrl = url('work');
      await expect(aws.sqs().send(new SendMessageCommand({ QueueUrl, MessageBody: text }))).rejects.toThrow(
        'Invalid characters found',
      );
      const batch = new SendMessageBatchCommand({ QueueUrl, Entries: [{ Id: 'one', MessageBody: text }] });
      expect((await aws.sqs().send(batch)).Failed).toMatchObject([{ Id: 'one', Code: 'InvalidMessageContents' }]);
    },
  );

  it('makes a message visible at once when its visibility timeout is set to 0', async () => {
    await aws.sqs().send(new SendMessageCommand({ QueueUrl: url('work'), MessageBody: 'again' }));
    const { Messages: [first] = [] } = await receive('work');
    await aws.sqs().send(
      new ChangeMessageVisibilityCommand({
        QueueUrl: url('work'),
        ReceiptHandle: first?.ReceiptHandle ?? '',
        VisibilityTimeout: 0,
      }),
    );

    const { Messages: [second] = [] } = await receive('work');

    expect(second?.Body).toBe('again');
  });

  it('moves a message to the dead-letter queue after its last receive', async () => {
    await aws.sqs().send(new SendMessageCommand({ QueueUrl: url('work'), MessageBody: 'poison' }));
    await receive('work', { VisibilityTimeout: 0 });
    await receive('work', { VisibilityTimeout: 0 });

    const third = await receive('work', { VisibilityTimeout: 0 });
    const { Messages: [dead] = [] } = await receive('dead');

    expect(third.Messages).toBeUndefined();
    expect(dead?.Body).toBe('poison');
  });

  describe('a FIFO queue', () => {
    const send = (group: string, ...bodies: string[]) =>
      aws.sqs().send(
        new SendMessageBatchCommand({
          QueueUrl: url('ordered.fifo'),
          Entries: bodies.map((body, index) => ({
            Id: String(index),
            MessageBody: body,
            MessageGroupId: group,
            MessageDeduplicationId: body,
          })),
        }),
      );
    const take = async (extra: object = {}) => {
      const { Messages = [] } = await receive('ordered.fifo', { MaxNumberOfMessages: 10, ...extra });
      return Messages;
    };
    const bodies = (messages: { Body?: string | undefined }[]) => messages.map(({ Body }) => Body);
    const remove = (handle = '') =>
      aws.sqs().send(new DeleteMessageCommand({ QueueUrl: url('ordered.fifo'), ReceiptHandle: handle }));

    it('returns many messages of one group at once, in order, and no later ones before they are deleted', async () => {
      await send('a', 'a1', 'a2', 'a3');
      const [first, ...others] = await take({ VisibilityTimeout: 60 });
      await send('a', 'a4');

      expect(bodies([first ?? {}, ...others])).toEqual(['a1', 'a2', 'a3']);
      expect(await take()).toEqual([]);
      await remove(first?.ReceiptHandle);
      expect(await take()).toEqual([]);
      for (const { ReceiptHandle } of others) await remove(ReceiptHandle);
      expect(bodies(await take())).toEqual(['a4']);
    });

    it('returns other groups meanwhile, and no more than the maximum', async () => {
      await send('a', 'a1', 'a2');
      await send('b', 'b1', 'b2');

      const messages = await take({ MaxNumberOfMessages: 3, VisibilityTimeout: 60 });

      expect(messages).toHaveLength(3);
      const all = bodies(messages);
      for (const group of ['a', 'b']) expect(all.filter((body) => body?.startsWith(group))[0]).toBe(`${group}1`);
      await send('c', 'c1');
      expect(bodies(await take())).toEqual(['c1']);
    });

    it('redelivers undeleted messages in the same order, after a deleted one', async () => {
      await send('a', 'a1', 'a2', 'a3');
      const [first] = await take();
      await send('a', 'a4');
      await remove(first?.ReceiptHandle);

      const again = await take({ WaitTimeSeconds: 5 });

      expect(bodies(again)).toEqual(['a2', 'a3', 'a4']);
    });
  });

  describe('a queue whose messages have groups', () => {
    const send = (group: string, ...bodies: string[]) =>
      aws.sqs().send(
        new SendMessageBatchCommand({
          QueueUrl: url('work'),
          Entries: bodies.map((body, index) => ({ Id: String(index), MessageBody: body, MessageGroupId: group })),
        }),
      );
    const take = async (count = 10) => {
      const { Messages = [] } = await receive('work', {
        MaxNumberOfMessages: count,
        MessageSystemAttributeNames: ['MessageGroupId'],
      });
      return Messages;
    };
    const names = (prefix: string, count: number) => Array.from({ length: count }, (_, index) => `${prefix}${index}`);

    it('returns the group of each', async () => {
      await send('a', 'same', 'other');
      await aws.sqs().send(new SendMessageCommand({ QueueUrl: url('work'), MessageBody: 'same', MessageGroupId: 'b' }));
      await aws.sqs().send(new SendMessageCommand({ QueueUrl: url('work'), MessageBody: 'none' }));

      const received = (await take()).map(({ Body, Attributes }) => [Body, Attributes?.MessageGroupId]);

      expect(received.sort()).toEqual([
        ['none', undefined],
        ['other', 'a'],
        ['same', 'a'],
        ['same', 'b'],
      ]);
    });

    it('serves another group before one with 30 messages in flight, and that one if no other waits', async () => {
      for (let batch = 0; batch < 5; batch++) await send('a', ...names(`a${batch}`, 10));
      for (let batch = 0; batch < 3; batch++) expect(await take()).toHaveLength(10);
      await send('b', 'b0', 'b1');

      const next = await take(4);

      expect(next.map(({ Body }) => Body).slice(0, 2)).toEqual(['b0', 'b1']);
      expect(next.map(({ Attributes }) => Attributes?.MessageGroupId)).toEqual(['b', 'b', 'a', 'a']);
    });

    it('serves another group before one whose few messages keep consumers busy', async () => {
      await send('a', ...names('a', 6));
      await take(3);
      // Equals the time that consumers have spent on each of the three.
      await receive('dead', { WaitTimeSeconds: 1 });
      await send('b', 'b0');

      expect((await take()).map(({ Body }) => Body)).toEqual(['b0', 'a3', 'a4', 'a5']);
    });

    it('keeps one of few consumers for other groups, and continues when one of the first is done', async () => {
      const sendTo = (MessageGroupId: string, MessageBody: string) =>
        aws.sqs().send(new SendMessageCommand({ QueueUrl: url('few'), MessageBody, MessageGroupId }));
      await sendTo('a', 'a0');
      await sendTo('a', 'a1');
      const { Messages: [first] = [] } = await receive('few', { MaxNumberOfMessages: 10 });
      const next = receive('few', { WaitTimeSeconds: 20 });
      await sendTo('b', 'b0');
      const { Messages: [second] = [] } = await next;
      const last = receive('few', { WaitTimeSeconds: 20 });
      await aws
        .sqs()
        .send(new DeleteMessageCommand({ QueueUrl: url('few'), ReceiptHandle: first?.ReceiptHandle ?? '' }));
      const { Messages: [third] = [] } = await last;

      expect([first?.Body, second?.Body, third?.Body]).toEqual(['a0', 'b0', 'a1']);
    });

    it('keeps groups and delays across a restart', async () => {
      const dataDirectory = await makeDirectoryOfTest();
      const first = await startLocalAws({ dataDirectory });
      const QueueUrl = first.stack.queues.find(({ name }) => name === 'work')?.url;
      await first
        .sqs()
        .send(new SendMessageCommand({ QueueUrl, MessageBody: 'later', MessageGroupId: 'a', DelaySeconds: 1 }));
      await first[Symbol.asyncDispose]();
      await using second = await startLocalAws({ dataDirectory });

      const { Messages } = await second.sqs().send(
        new ReceiveMessageCommand({
          QueueUrl: second.stack.queues.find(({ name }) => name === 'work')?.url,
          WaitTimeSeconds: 5,
          MessageSystemAttributeNames: ['MessageGroupId'],
        }),
      );

      expect(Messages).toMatchObject([{ Body: 'later', Attributes: { MessageGroupId: 'a' } }]);
    });
  });

  it('returns the URL of the template for a queue name', async () => {
    const { QueueUrl } = await aws.sqs().send(new GetQueueUrlCommand({ QueueName: 'work' }));

    expect(QueueUrl).toBe(url('work'));
  });

  it('allows a batch by the permission of the single action', async () => {
    const { Successful } = await aws.sqs(sender).send(
      new SendMessageBatchCommand({
        QueueUrl: url('work'),
        Entries: [
          { Id: '1', MessageBody: 'a' },
          { Id: '2', MessageBody: 'b' },
        ],
      }),
    );

    expect(Successful).toHaveLength(2);
  });

  it('refuses queues and actions that the policy does not name', async () => {
    const other = aws.sqs(sender).send(new SendMessageCommand({ QueueUrl: url('dead'), MessageBody: 'x' }));
    await expect(other).rejects.toMatchObject({ name: 'AccessDenied', $metadata: { httpStatusCode: 403 } });
    const read = aws.sqs(sender).send(new ReceiveMessageCommand({ QueueUrl: url('work') }));
    await expect(read).rejects.toThrow(
      `User: ${sender.arn} is not authorized to perform: sqs:ReceiveMessage on resource: ${queueArn('work')}`,
    );
    const none = aws.sqs(nothing).send(new SendMessageCommand({ QueueUrl: url('work'), MessageBody: 'x' }));
    await expect(none).rejects.toMatchObject({ name: 'AccessDenied' });
  });

  it('refuses to create queues that the template does not have', async () => {
    await expect(aws.sqs().send(new CreateQueueCommand({ QueueName: 'new' }))).rejects.toThrow(/not supported/);
  });
});
