import { EventBridgeClient, PutEventsCommand, type PutEventsRequestEntry } from '@aws-sdk/client-eventbridge';
import { batchesOf } from '../../../shared/aws/batches.ts';
import { messageBody } from '../../../shared/aws/message-body.ts';
import { type ChangeEvent, isProgress } from '../../../shared/events/change-event.ts';
import { presentJob } from '../../../shared/jobs/present.ts';
import { required } from '../../../shared/settings.ts';
import { presentTask } from '../../../shared/tasks/present.ts';
import { eventFor } from '../event-names.ts';

const client = new EventBridgeClient({});
const maxCallEntries = 10;
/** A call is limited to 1 MiB; a task is at most 200 KB. */
const maxCallBytes = 900_000;
const maxAttempts = 5;

/** Puts changes on the event bus, where rules of other services match them by name. */
export async function putOnBus(changes: ChangeEvent[]): Promise<void> {
  for (const batch of batchesOf(changes.flatMap(entriesOf), sizeOf, maxCallEntries, maxCallBytes)) {
    let left = batch;
    for (let round = 0; left.length > 0; round++) {
      if (round === maxAttempts) throw new Error(`The bus refused ${left.length} events ${maxAttempts} times.`);
      const { Entries = [] } = await client.send(new PutEventsCommand({ Entries: left }));
      left = left.filter((_, index) => Entries[index]?.ErrorCode !== undefined);
    }
  }
}

function sizeOf({ Detail = '' }: PutEventsRequestEntry): number {
  return Buffer.byteLength(Detail);
}

function entriesOf(change: ChangeEvent): PutEventsRequestEntry[] {
  // Rules react to jobs as a whole; the tasks of a large one would not fit an event.
  const [subject, data] =
    change.type === 'task' ? [change.task, presentTask(change.task)] : [change.job, presentJob(change.job)];
  const names = [
    ...(change.type === 'job' && change.events.includes('created') ? ['job_created'] : []),
    ...(isProgress(change) ? ['task_updated'] : [eventFor(subject, undefined)]),
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
