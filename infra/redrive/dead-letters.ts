import { randomUUID } from 'node:crypto';
import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  type Message,
  paginateListQueues,
  ReceiveMessageCommand,
  SendMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { chunksOf } from '../../shared/aws/batches.ts';

/** A dead-letter queue and its source queue. */
export interface DeadLetterQueue {
  url: string;
  /** Name of the source queue, which operators know. */
  name: string;
  sourceUrl: string;
  /** Approximate number of messages, including hidden ones. */
  count: number;
}

export interface DeadLetter {
  id: string;
  body: string;
  receiptHandle: string;
  sentAt: number;
  receives: number;
  groupId?: string;
}

/** Long enough to list a queue, or to send its messages. */
const hiddenSeconds = 120;
const maxBatchEntries = 10;

/** Lists the dead-letter queues of queues with matching names. */
export async function findQueues(sqs: SQSClient, prefix: string, names: RegExp): Promise<DeadLetterQueue[]> {
  const urls: string[] = [];
  const pages = paginateListQueues({ client: sqs, pageSize: 1000 }, prefix === '' ? {} : { QueueNamePrefix: prefix });
  for await (const { QueueUrls = [] } of pages) urls.push(...QueueUrls.filter((url) => names.test(nameOf(url))));
  const queues = await Promise.all(urls.map((url) => readQueue(sqs, url)));
  return queues
    .flatMap(({ url: sourceUrl, deadLetterArn }) => {
      const target = queues.find(({ arn }) => arn === deadLetterArn);
      return target ? [{ url: target.url, name: nameOf(sourceUrl), sourceUrl, count: target.count }] : [];
    })
    .sort((left, right) => left.name.localeCompare(right.name));
}

function nameOf(url: string): string {
  return url.split('/').at(-1) ?? url;
}

async function readQueue(sqs: SQSClient, url: string) {
  const { Attributes = {} } = await sqs.send(new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ['All'] }));
  const { deadLetterTargetArn } = JSON.parse(Attributes.RedrivePolicy ?? '{}');
  return {
    url,
    arn: Attributes.QueueArn,
    deadLetterArn: typeof deadLetterTargetArn === 'string' ? deadLetterTargetArn : '',
    count:
      Number(Attributes.ApproximateNumberOfMessages ?? 0) +
      Number(Attributes.ApproximateNumberOfMessagesNotVisible ?? 0),
  };
}

/** Receives up to `limit` messages of a dead-letter queue, and hides them from the sweep for two minutes. */
export async function receiveAll(sqs: SQSClient, { url }: DeadLetterQueue, limit: number): Promise<DeadLetter[]> {
  const found: DeadLetter[] = [];
  while (found.length < limit) {
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({
        QueueUrl: url,
        MaxNumberOfMessages: Math.min(maxBatchEntries, limit - found.length),
        WaitTimeSeconds: 1,
        VisibilityTimeout: hiddenSeconds,
        MessageSystemAttributeNames: ['All'],
      }),
    );
    if (Messages.length === 0) break;
    found.push(...Messages.map(deadLetterOf));
  }
  return found;
}

function deadLetterOf({ MessageId = '', Body = '', ReceiptHandle = '', Attributes = {} }: Message): DeadLetter {
  return {
    id: MessageId,
    body: Body,
    receiptHandle: ReceiptHandle,
    sentAt: Number(Attributes.SentTimestamp),
    receives: Number(Attributes.ApproximateReceiveCount),
    ...(Attributes.MessageGroupId === undefined ? {} : { groupId: Attributes.MessageGroupId }),
  };
}

/** Makes messages visible again after listing them. */
export async function release(sqs: SQSClient, { url }: DeadLetterQueue, messages: DeadLetter[]): Promise<void> {
  for (const batch of chunksOf(messages, maxBatchEntries)) {
    const Entries = batch.map(({ receiptHandle }, index) => ({
      Id: String(index),
      ReceiptHandle: receiptHandle,
      VisibilityTimeout: 0,
    }));
    await sqs.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl: url, Entries }));
  }
}

/**
 * Sends a message to its source queue, and only then deletes it: it may be duplicated, which is harmless, but is never
 * lost. SQS's own redrive moves a whole queue.
 */
export async function sendAgain(sqs: SQSClient, queue: DeadLetterQueue, message: DeadLetter): Promise<void> {
  await sqs.send(
    new SendMessageCommand({
      QueueUrl: queue.sourceUrl,
      MessageBody: message.body,
      // A new id, because a FIFO queue drops those it has seen in the last five minutes.
      ...(message.groupId === undefined
        ? {}
        : { MessageGroupId: message.groupId, MessageDeduplicationId: randomUUID() }),
    }),
  );
  await sqs.send(new DeleteMessageCommand({ QueueUrl: queue.url, ReceiptHandle: message.receiptHandle }));
}
