import { randomUUID } from 'node:crypto';
import { SendMessageBatchCommand, type SendMessageBatchRequestEntry, SQSClient } from '@aws-sdk/client-sqs';
import { type Announcement, announcementOf, groupOf, isProgress, subjectOf } from '../events/announcement.ts';
import type { Change } from '../lifecycle/lifecycle.ts';
import { required } from '../settings.ts';
import { revisionOf, type Task } from '../tasks/task.ts';
import { batchesOf } from './batches.ts';
import { messageBody } from './message-body.ts';
import { queueVariable } from './queues.ts';

/** What the queue of events carries. */
export type EventMessage =
  | { type: 'announced'; announcement: Announcement }
  /** A client has begun to follow a channel and is to be shown the present state, or asks for it again. */
  | { type: 'subscribed'; connection: string; channel: string; group: string; again?: true }
  /** A connection is up, and its client waits for the first packet. */
  | { type: 'opened'; connection: string }
  /** A connection could be told something as little as it could be ended, and is to be ended as soon as that works. */
  | { type: 'abandoned'; connection: string };

const client = new SQSClient({});
const mostInBatch = 10;
/** A batch holds 1 MiB in all; a record is 400 KB at most, less what is left out of large ones. */
const mostBytesInBatch = 900_000;
const largestTaskBytes = 200_000;
const mostTries = 5;

/** Tells the listeners of changes, in this order: what happened by the queue that keeps order, mere progress beside it. */
export async function announce(changes: Change[]): Promise<void> {
  const announcements = changes.map(announcementOf);
  const progress = announcements.filter(isProgress);
  const events = announcements.filter((announcement) => !isProgress(announcement));
  await sendEvents(events.map((announcement) => ({ type: 'announced', announcement })));
  if (progress.length > 0) {
    const entries = progress.map((announcement, index) => ({
      Id: String(index),
      MessageBody: bodyOf({ type: 'announced', announcement }),
    }));
    await sendAll(required(queueVariable('progress')), entries);
  }
}

/** Puts messages on the queue of events, which keeps their order within each job. */
export async function sendEvents(messages: EventMessage[]): Promise<void> {
  if (messages.length === 0) return;
  const entries = messages.map((message, index) => ({
    Id: String(index),
    MessageBody: bodyOf(message),
    MessageGroupId: groupOfMessage(message),
    MessageDeduplicationId: deduplicationId(message),
  }));
  await sendAll(required(queueVariable('events')), entries);
}

function groupOfMessage(message: EventMessage): string {
  if (message.type === 'announced') return groupOf(subjectOf(message.announcement));
  return message.type === 'subscribed' ? message.group : message.connection;
}

function deduplicationId(message: EventMessage): string {
  if (message.type !== 'announced') return randomUUID();
  const subject = subjectOf(message.announcement);
  const news = message.announcement.type === 'job' ? `-${message.announcement.news.join('-')}` : '';
  return `${message.announcement.type}-${subject.id}-${revisionOf(subject)}${news}`;
}

function bodyOf(message: EventMessage): string {
  const body = messageBody(message);
  if (message.type !== 'announced' || message.announcement.type !== 'task') return body;
  if (Buffer.byteLength(body) <= largestTaskBytes) return body;
  const { form: _form, details: _details, ...task } = message.announcement.task;
  const small: Task = { ...task, payload: {}, files: [], dependents: [] };
  return messageBody({ type: 'announced', announcement: { type: 'task', task: small, partial: true } });
}

async function sendAll(QueueUrl: string, entries: SendMessageBatchRequestEntry[]): Promise<void> {
  for (const batch of batchesOf(entries, sizeOf, mostInBatch, mostBytesInBatch)) {
    let left = batch;
    for (let round = 0; left.length > 0; round++) {
      if (round === mostTries) throw new Error(`${left.length} messages were refused ${mostTries} times.`);
      const { Failed = [] } = await client.send(new SendMessageBatchCommand({ QueueUrl, Entries: left }));
      const failed = new Set(Failed.map(({ Id }) => Id));
      left = left.filter(({ Id }) => failed.has(Id));
    }
  }
}

function sizeOf({ MessageBody = '' }: SendMessageBatchRequestEntry): number {
  return Buffer.byteLength(MessageBody);
}
