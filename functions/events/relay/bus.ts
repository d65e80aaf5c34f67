import type { Logger } from '@aws-lambda-powertools/logger';
import { messageBody } from '../../../shared/aws/message-body.ts';
import { type BusEvent, sendBusEvents } from '../../../shared/aws/queues.ts';
import { type ChangeEvent, isProgress } from '../../../shared/events/change-event.ts';
import type { Job } from '../../../shared/jobs/job.ts';
import { presentJob } from '../../../shared/jobs/present.ts';
import { SettingsError } from '../../../shared/settings.ts';
import { presentTask } from '../../../shared/tasks/present.ts';
import { putEvents } from '../bus.ts';
import { eventFor } from '../event-names.ts';

/** Which events the bus receives: the ends of jobs, those of tasks as well, or every event. */
export type BusScope = 'jobs' | 'tasks' | 'all';

/** How long the next messages of a job may wait for a bus that does not respond. */
const timeoutMs = 1_000;
const retryAfterSeconds = 10;

const scope = parseBusScope(process.env.LATHE_BUS_EVENTS);

/** Reads which events the bus receives; defaults to the ends of jobs. */
export function parseBusScope(text: string | undefined): BusScope {
  if (text === undefined || text === '') return 'jobs';
  if (text === 'jobs' || text === 'tasks' || text === 'all') return text;
  throw new SettingsError(`Expected jobs, tasks or all for LATHE_BUS_EVENTS but received ${text}.`);
}

/**
 * Puts changes on the event bus, where rules of other services match them by name. What the bus refuses is queued with the
 * deliveries, and not left to the message that it came with: the messages of a job keep their order, so everything that
 * sockets and webhooks receive of the job would wait for the bus. It throws only where that queue refuses, too.
 */
export async function putOnBus(changes: ChangeEvent[], logger: Logger): Promise<void> {
  const events = changes.flatMap((change) => busEventsOf(change, scope));
  if (events.length === 0) return;
  const refused = await putEvents(events, timeoutMs);
  if (refused.length === 0) return;
  logger.warn('the bus refused events, which are put there later', {
    events: refused.map(({ event: { name } }) => name),
    error: refused[0]?.cause,
  });
  await sendBusEvents(
    refused.map(({ event }) => event),
    retryAfterSeconds,
  );
}

/** Returns the events of the bus that a change is. */
export function busEventsOf(change: ChangeEvent, wanted: BusScope): BusEvent[] {
  const names = [namesOf(change)].flat().filter((name) => isWanted(name, wanted));
  if (names.length === 0) return [];
  // Rules react to jobs as a whole; the tasks of a large one would not fit an event.
  const [{ user }, data] =
    change.type === 'task' ? [change.task, presentTask(change.task)] : [change.job, presentJob(change.job)];
  return names.map((name) => ({ name, detail: messageBody({ user, data }) }));
}

function namesOf(change: ChangeEvent): string | string[] {
  if (isProgress(change)) return 'task_updated';
  if (change.type === 'task') return eventFor(change.task, undefined) ?? [];
  // By its events and not by its status: a job that ended before its start was published is published with both.
  return change.events.flatMap((event) => (event === 'ended' ? endOf(change.job) : `job_${event}`));
}

function endOf({ status }: Job): string[] {
  return status === 'completed' || status === 'failed' ? [`job_${status}`] : [];
}

const jobEnds = ['job_completed', 'job_failed'];
const taskEnds = ['task_completed', 'task_failed', 'task_canceled', 'task_deleted'];

function isWanted(name: string, wanted: BusScope): boolean {
  if (wanted === 'all' || jobEnds.includes(name)) return true;
  return wanted === 'tasks' && taskEnds.includes(name);
}
