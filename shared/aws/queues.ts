import {
  ChangeMessageVisibilityCommand,
  DeleteMessageBatchCommand,
  GetQueueAttributesCommand,
  type Message,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  type SendMessageBatchRequestEntry,
  SendMessageCommand,
  type SendMessageCommandInput,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { defined } from '../defined.ts';
import type { Later } from '../lifecycle/dependencies.ts';
import { required } from '../settings.ts';
import type { Task } from '../tasks/task.ts';
import type { DeliveryRef } from '../webhooks/deliveries.ts';
import { batchesOf } from './batches.ts';
import { clientSettings } from './client-settings.ts';
import { messageBody } from './message-body.ts';

let client: SQSClient | undefined;
/** Returns the SQS client, created on first use: many functions start for a request that needs none. */
const sqs = () => (client ??= new SQSClient(clientSettings('SQS')));

const maxBatchEntries = 10;
/** A batch is limited to 1 MiB; a record is at most 400 KB. */
const maxBatchBytes = 900_000;
const maxAttempts = 5;

/** A message of an engine's queue. The record holds everything else. */
export interface WorkMessage {
  taskId: string;
  /** Some deployments have one queue for all engines. */
  engine: string;
  user?: string;
  /** Its inputs and dependents, up to a limit, so that the worker reads them together with the task. */
  near?: string[];
  /** When it was first sent, in milliseconds; absent in the first message. */
  queuedAt?: number;
}

/** Returns the name of the environment variable that holds the URL of an engine's queue. */
export function queueVariable(engine: string): string {
  return `LATHE_QUEUE_${engine.toUpperCase()}`;
}

/** The variable that lists engines without a queue of their own, each with the one whose queue it shares: `pdf=document mail=document`. */
export const sharedQueuesVariable = 'LATHE_SHARED_QUEUES';

/** Returns the URL of a queue. A URL takes much of the 4 KB of a function's environment, so a shared one is there once. */
export function queueUrlOf(name: string): string {
  const shared = new URLSearchParams((process.env[sharedQueuesVariable] ?? '').replaceAll(' ', '&'));
  return required(queueVariable(shared.get(name) ?? name));
}

/** Returns the name of the environment variable that holds the name of an engine's function. */
export function functionVariable(engine: string): string {
  return `LATHE_FUNCTION_${engine.toUpperCase()}`;
}

/** Returns the name of the environment variable that holds the job queue and the job definition of an engine on AWS Batch. */
export function batchVariable(engine: string): string {
  return `LATHE_BATCH_${engine.toUpperCase()}`;
}

/** The rest is read on demand: a worker may need none of it. */
const maxNear = 20;

/** Queues a task for the workers of an engine, with an optional delay. */
export async function enqueue(engine: string, task: Task, later?: Later): Promise<void> {
  const near = [...task.dependsOn, ...task.dependents];
  const message: WorkMessage = defined({
    taskId: task.id,
    engine,
    user: task.user,
    near: near.length <= maxNear ? near : undefined,
    queuedAt: later?.queuedAt,
  });
  // SQS treats the group of a standard queue as a tenant, and delivers other tenants first while one has a backlog.
  await send(engine, message, { MessageGroupId: task.user, DelaySeconds: later?.delaySeconds });
}

async function send(queue: string, body: object, options: Partial<SendMessageCommandInput> = {}): Promise<void> {
  const QueueUrl = queueUrlOf(queue);
  await sqs().send(new SendMessageCommand({ QueueUrl, MessageBody: messageBody(body), ...options }));
}

/** Hides a message for a number of seconds. It is received again afterwards if its worker has died. */
export async function hideFor(queueUrl: string, receiptHandle: string, seconds: number): Promise<void> {
  const message = { QueueUrl: queueUrl, ReceiptHandle: receiptHandle };
  await sqs().send(new ChangeMessageVisibilityCommand({ ...message, VisibilityTimeout: seconds }));
}

/** An event as it is put on the bus. */
export interface BusEvent {
  name: string;
  detail: string;
}

/** Messages of the deliveries queue: a webhook to call, or an event that the bus refused. */
export type DeliveryMessage = DeliveryRef | { busEvent: BusEvent };

/** Queues a delivery with a delay. */
export async function sendDelivery(ref: DeliveryRef, delaySeconds: number): Promise<void> {
  await send('webhooks', ref, { DelaySeconds: delaySeconds || undefined });
}

/** Queues events that the bus refused, to be put again after a delay. */
export async function sendBusEvents(events: BusEvent[], delaySeconds: number): Promise<void> {
  const entries = events.map((busEvent) => ({ MessageBody: messageBody({ busEvent }), DelaySeconds: delaySeconds }));
  await sendAll(required(queueVariable('webhooks')), entries);
}

/** Notifies the importer of a posted file again, in the format of S3. */
export async function sendUploadNotification(key: string): Promise<void> {
  await send('uploads', { Records: [{ s3: { object: { key } } }] });
}

/** Sends messages to a queue in batches and in order, and resends those it refused. */
export async function sendAll(queueUrl: string, messages: Omit<SendMessageBatchRequestEntry, 'Id'>[]): Promise<void> {
  const entries = messages.map((message, index) => ({ ...message, Id: String(index) }));
  for (const batch of batchesOf(entries, sizeOf, maxBatchEntries, maxBatchBytes)) {
    let left = batch;
    for (let round = 0; left.length > 0; round++) {
      if (round === maxAttempts) throw new Error(`${left.length} messages were refused ${maxAttempts} times.`);
      const { Failed = [] } = await sqs().send(new SendMessageBatchCommand({ QueueUrl: queueUrl, Entries: left }));
      const failed = new Set(Failed.map(({ Id }) => Id));
      left = left.filter(({ Id }) => failed.has(Id));
    }
  }
}

function sizeOf({ MessageBody = '' }: SendMessageBatchRequestEntry): number {
  return Buffer.byteLength(MessageBody);
}

/** Returns the URL of a queue's dead-letter queue, in the same account and region. */
export async function deadLettersOf(queueUrl: string): Promise<string> {
  const { Attributes = {} } = await sqs().send(
    new GetQueueAttributesCommand({ QueueUrl: queueUrl, AttributeNames: ['RedrivePolicy'] }),
  );
  const { deadLetterTargetArn } = JSON.parse(Attributes.RedrivePolicy ?? '{}');
  if (typeof deadLetterTargetArn !== 'string') throw new Error(`The queue ${queueUrl} has no dead-letter queue.`);
  return queueUrl.replace(/[^/]+$/, deadLetterTargetArn.split(':').at(-1) ?? '');
}

/**
 * Receives up to ten messages, which are then hidden for the queue's visibility timeout. Waits for a second if there
 * are none: a receive without a wait asks only some of the SQS servers, and misses messages of a short queue.
 */
export async function receiveMessages(queueUrl: string): Promise<Message[]> {
  const { Messages = [] } = await sqs().send(
    new ReceiveMessageCommand({ QueueUrl: queueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 1 }),
  );
  return Messages;
}

/** Deletes up to ten received messages. */
export async function deleteMessages(queueUrl: string, messages: Message[]): Promise<void> {
  if (messages.length === 0) return;
  const Entries = messages.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
  const { Failed = [] } = await sqs().send(new DeleteMessageBatchCommand({ QueueUrl: queueUrl, Entries }));
  const [first] = Failed;
  if (first) throw new Error(`SQS did not delete ${Failed.length} messages: ${first.Code} ${first.Message}`);
}
