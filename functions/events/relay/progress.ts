import type { SQSEvent } from 'aws-lambda';
import { type EventMessage, sendEvents } from '../../../shared/aws/events.ts';
import { type Announcement, groupOf, subjectOf } from '../../../shared/events/announcement.ts';
import { revisionOf } from '../../../shared/tasks/task.ts';
import { followedAmong, partitionOfGroup, partitionOfUser } from '../websocket/connections.ts';
import { putOnBus } from './bus.ts';

/**
 * Thins out progress: of a batch, only the latest of each task goes on, and to the relay only where somebody follows it.
 * The relay's queue is thus left to what happened, however many tasks report how far they are.
 */
export async function handler(event: SQSEvent): Promise<void> {
  const latest = new Map<string, Announcement>();
  for (const { body } of event.Records) {
    const message: EventMessage = JSON.parse(body);
    if (message.type !== 'announced') continue;
    const subject = subjectOf(message.announcement);
    const known = latest.get(subject.id);
    if (!known || revisionOf(subjectOf(known)) < revisionOf(subject)) latest.set(subject.id, message.announcement);
  }
  const announcements = [...latest.values()];
  const followed = await followedAmong(announcements.flatMap(partitionsOf));
  const wanted = announcements.filter((announcement) => partitionsOf(announcement).some((one) => followed.has(one)));
  await Promise.all([
    sendEvents(wanted.map((announcement) => ({ type: 'announced', announcement }))),
    putOnBus(announcements),
  ]);
}

function partitionsOf(announcement: Announcement): string[] {
  const subject = subjectOf(announcement);
  return [partitionOfGroup(groupOf(subject)), partitionOfUser(subject.user)];
}
