import { type ChangeEvent, isProgress } from '../events/change-event.ts';
import { eventFor } from '../events/event-names.ts';
import { presentJob } from '../jobs/present.ts';
import { SettingsError } from '../settings.ts';
import { presentTask } from '../tasks/present.ts';
import { messageBody } from './message-body.ts';
import type { BusEvent } from './queues.ts';

/** Which events the bus receives: ends of jobs, ends of jobs and tasks, or every event. */
export type BusScope = 'jobs' | 'tasks' | 'all';

/** Reads which events the bus receives; defaults to the ends of jobs. */
export function parseBusScope(text: string | undefined): BusScope {
  if (text === undefined || text === '') return 'jobs';
  if (text === 'jobs' || text === 'tasks' || text === 'all') return text;
  throw new SettingsError(`Expected jobs, tasks or all for LATHE_BUS_EVENTS but received ${text}.`);
}

/** Returns the bus events of a change. */
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
  // Read from its events, not its status: a job that ended before its start was published carries both.
  const { status } = change.job;
  const ends = status === 'completed' || status === 'failed' ? [`job_${status}`] : [];
  return change.events.flatMap((event) => (event === 'ended' ? ends : `job_${event}`));
}

const jobEnds = ['job_completed', 'job_failed'];
const taskEnds = ['task_completed', 'task_failed', 'task_canceled', 'task_deleted'];

function isWanted(name: string, wanted: BusScope): boolean {
  if (wanted === 'all' || jobEnds.includes(name)) return true;
  return wanted === 'tasks' && taskEnds.includes(name);
}
