import { EventBridgeClient, PutEventsCommand, type PutEventsRequestEntry } from '@aws-sdk/client-eventbridge';
import { batchesOf } from '../../../shared/aws/batches.ts';
import { messageBody } from '../../../shared/aws/message-body.ts';
import { type Announcement, isProgress } from '../../../shared/events/announcement.ts';
import { presentJob } from '../../../shared/jobs/present.ts';
import { required } from '../../../shared/settings.ts';
import { presentTask } from '../../../shared/tasks/present.ts';
import { eventFor } from '../event-names.ts';

const client = new EventBridgeClient({});
const mostInCall = 10;
/** A call holds 1 MiB in all; a task is 200 KB at most. */
const mostBytesInCall = 900_000;
const mostTries = 5;

/** Puts announcements on the bus, where rules of other services find them by their names. */
export async function putOnBus(announcements: Announcement[]): Promise<void> {
  for (const batch of batchesOf(announcements.flatMap(entriesOf), sizeOf, mostInCall, mostBytesInCall)) {
    let left = batch;
    for (let round = 0; left.length > 0; round++) {
      if (round === mostTries) throw new Error(`The bus refused ${left.length} events ${mostTries} times.`);
      const { Entries = [] } = await client.send(new PutEventsCommand({ Entries: left }));
      left = left.filter((_, index) => Entries[index]?.ErrorCode !== undefined);
    }
  }
}

function sizeOf({ Detail = '' }: PutEventsRequestEntry): number {
  return Buffer.byteLength(Detail);
}

function entriesOf(announcement: Announcement): PutEventsRequestEntry[] {
  // Rules react to jobs as a whole; the tasks of a large one would not fit an event.
  const [subject, data] =
    announcement.type === 'task'
      ? [announcement.task, presentTask(announcement.task)]
      : [announcement.job, presentJob(announcement.job)];
  const names = [
    ...(announcement.type === 'job' && announcement.news.includes('created') ? ['job_created'] : []),
    ...(isProgress(announcement) ? ['task_updated'] : [eventFor(subject, undefined)]),
  ];
  return names.flatMap((name) =>
    name === undefined
      ? []
      : {
          EventBusName: required('LATHE_EVENT_BUS'),
          Source: 'lathe',
          DetailType: name,
          Detail: messageBody({ user: subject.user, data }),
        },
  );
}
