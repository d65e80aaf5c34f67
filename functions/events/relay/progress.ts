import { Logger } from '@aws-lambda-powertools/logger';
import type { SQSEvent } from 'aws-lambda';
import { type EventMessage, sendEvents } from '../../../shared/aws/events.ts';
import { type ChangeEvent, groupOf, subjectOf } from '../../../shared/events/change-event.ts';
import { revisionOf } from '../../../shared/tasks/task.ts';
import { partitionOfGroup, partitionOfUser, subscribedAmong } from '../websocket/connections.ts';
import { putOnBus } from './bus.ts';

const logger = new Logger({ serviceName: 'lathe' });

/**
 * Throttles progress: only the latest of each task in a batch is passed on, and to the relay only where it has subscribers.
 * The relay's queue is thus kept free for events, however many tasks report progress.
 */
export async function handler(event: SQSEvent): Promise<void> {
  const latest = new Map<string, ChangeEvent>();
  for (const { body } of event.Records) {
    const message: EventMessage = JSON.parse(body);
    if (message.type !== 'changed') continue;
    const subject = subjectOf(message.change);
    const known = latest.get(subject.id);
    if (!known || revisionOf(subjectOf(known)) < revisionOf(subject)) latest.set(subject.id, message.change);
  }
  const changes = [...latest.values()];
  const subscribed = await subscribedAmong(changes.flatMap(partitionsOf));
  const wanted = changes.filter((change) => partitionsOf(change).some((one) => subscribed.has(one)));
  await Promise.all([sendEvents(wanted.map((change) => ({ type: 'changed', change }))), putOnBus(changes, logger)]);
}

function partitionsOf(change: ChangeEvent): string[] {
  const subject = subjectOf(change);
  return [partitionOfGroup(groupOf(subject)), partitionOfUser(subject.user)];
}
