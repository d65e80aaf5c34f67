import { Logger } from '@aws-lambda-powertools/logger';
import type { SQSEvent } from 'aws-lambda';
import { type EventMessage, sendEvents } from '../../../shared/aws/events.ts';
import { type ChangeEvent, groupOf, subjectOf } from '../../../shared/events/change-event.ts';
import { revisionOf } from '../../../shared/tasks/task.ts';
import { partitionOfGroup, partitionOfUser, subscribedAmong } from '../websocket/connections.ts';
import { putOnBus } from './bus.ts';

const logger = new Logger({ serviceName: 'lathe' });

/**
 * Throttles progress: forwards only the latest update of each task in a batch, and to the relay only if the task has
 * subscribers. This keeps the relay's queue free for events.
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
