import type { SQSEvent } from 'aws-lambda';
import { putOnBus } from '../../shared/events/bus.ts';
import { readFollowersOf, readGroup } from '../../shared/events/connections.ts';
import { type Announcement, groupOf, subjectOf } from '../../shared/events/event.ts';
import { type EventMessage, sendEvents } from '../../shared/events/queue.ts';
import { revisionOf } from '../../shared/tasks/task.ts';

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
  const followed = await followedAmong(announcements);
  await Promise.all([
    sendEvents(followed.map((announcement) => ({ type: 'announced', announcement }))),
    putOnBus(announcements),
  ]);
}

async function followedAmong(announcements: Announcement[]): Promise<Announcement[]> {
  const subjects = announcements.map(subjectOf);
  const [groups, users] = await Promise.all([
    askAll(subjects.map(groupOf), async (group) => (await readGroup(group)).listeners.length > 0),
    askAll(
      subjects.map(({ user }) => user),
      async (user) => (await readFollowersOf(user)).length > 0,
    ),
  ]);
  return announcements.filter((announcement) => {
    const subject = subjectOf(announcement);
    return groups.get(groupOf(subject)) || users.get(subject.user);
  });
}

async function askAll(names: string[], ask: (name: string) => Promise<boolean>): Promise<Map<string, boolean>> {
  return new Map(await Promise.all([...new Set(names)].map(async (name) => [name, await ask(name)] as const)));
}
