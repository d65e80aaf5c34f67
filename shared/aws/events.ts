import { randomUUID } from 'node:crypto';
import { type ChangeEvent, changeEventOf, groupOf, isProgress, subjectOf } from '../events/change-event.ts';
import type { Change } from '../lifecycle/dependencies.ts';
import { required } from '../settings.ts';
import { revisionOf, type Task } from '../tasks/task.ts';
import { messageBody } from './message-body.ts';
import { queueVariable, sendAll } from './queues.ts';

/** Messages of the events queue. */
export type EventMessage =
  | { type: 'changed'; change: ChangeEvent }
  /** A client has subscribed to a channel and needs a snapshot, or requests one again. */
  | { type: 'subscribed'; connection: string; channel: string; group: string; again?: true }
  /** A connection is open, and its client waits for the first packet. */
  | { type: 'opened'; connection: string }
  /** A connection could neither be posted to nor closed, or its key was deleted. It is closed as soon as that works. */
  | { type: 'abandoned'; connection: string };

const maxTaskBytes = 200_000;

/**
 * Publishes changes in order: events on the queue that keeps order, progress on another. Only workers have the progress
 * queue. Elsewhere, the rare progress of resumed tasks is sent with the events.
 */
export async function publish(changes: Change[]): Promise<void> {
  const progressQueue = process.env[queueVariable('progress')];
  const isThrottled = (change: ChangeEvent) => progressQueue !== undefined && isProgress(change);
  const all = changes.map(changeEventOf);
  const progress = all.filter(isThrottled);
  const events = all.filter((change) => !isThrottled(change));
  await sendEvents(events.map((change) => ({ type: 'changed', change })));
  if (progressQueue !== undefined && progress.length > 0) {
    await sendAll(
      progressQueue,
      progress.map((change) => ({ MessageBody: bodyOf({ type: 'changed', change }) })),
    );
  }
}

/** Puts messages on the queue of events, which keeps their order within each job. */
export async function sendEvents(messages: EventMessage[]): Promise<void> {
  if (messages.length === 0) return;
  const entries = messages.map((message) => ({
    MessageBody: bodyOf(message),
    MessageGroupId: groupOfMessage(message),
    MessageDeduplicationId: deduplicationId(message),
  }));
  await sendAll(required(queueVariable('events')), entries);
}

function groupOfMessage(message: EventMessage): string {
  if (message.type === 'changed') return groupOf(subjectOf(message.change));
  return message.type === 'subscribed' ? message.group : message.connection;
}

function deduplicationId(message: EventMessage): string {
  if (message.type !== 'changed') return randomUUID();
  const { change } = message;
  const subject = subjectOf(change);
  const events = change.type === 'job' ? `-${change.events.join('-')}` : '';
  return `${change.type}-${subject.id}-${revisionOf(subject)}${events}`;
}

function bodyOf(message: EventMessage): string {
  const body = messageBody(message);
  if (message.type !== 'changed' || message.change.type !== 'task') return body;
  if (Buffer.byteLength(body) <= maxTaskBytes) return body;
  const { form: _form, details: _details, ...task } = message.change.task;
  const small: Task = { ...task, payload: {}, files: [], dependents: [] };
  return messageBody({ type: 'changed', change: { type: 'task', task: small, partial: true } });
}
