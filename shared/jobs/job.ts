import { type Due, nextCheck } from '../tasks/due.ts';

export const jobStatuses = ['created', 'processing', 'completed', 'failed'] as const;
export type JobStatus = (typeof jobStatuses)[number];
export type JobErrorCode = 'task_failed' | 'task_deleted' | 'task_canceled';

export interface JobFailure {
  errorCode: JobErrorCode;
  msg: string;
}

const jobEventTypes = ['created', 'started', 'ended'] as const;
/** A published event of a job. Each occurs at most once. */
export type JobEventType = (typeof jobEventTypes)[number];

/** A job. It schedules the group of its tasks for the sweep. */
export interface Job extends Due {
  id: string;
  user: string;
  tag?: string;
  /** `deleted` is a tombstone while the job's tasks and files are being removed; readers see no such job. */
  status: JobStatus | 'deleted';
  /** Task ids in the order of the request. */
  tasks: string[];
  /** Number of tasks by operation. */
  operations: Record<string, number>;
  /**
   * The open set: the tasks without dependents in the job that have not ended. If there are too many for one record, it holds
   * the names of the parts that they are stored in. The function that empties the set completes the job.
   */
  open: string[];
  /** Deleted tasks, each as its operation, a space and its id. */
  gone?: string[];
  failure?: JobFailure;
  /** The webhook of the request. */
  webhook?: string;
  /** The outbox: events that may not be published yet. The sweep publishes what a crash left here. */
  pendingEvents?: JobEventType[];
  createdAt: string;
  startedAt?: string;
  /** When the last of its tasks ended. A job fails with its first failed task, while independent tasks continue. */
  endedAt?: string;
  updatedAt: string;
  expiresAt: string;
  version: number;
  /** Counts the visible changes, as for tasks. */
  revision?: number;
}

export type JobEvent =
  | { type: 'started' }
  | { type: 'allTasksEnded' }
  /** `isOver` is true if all tasks of the job have ended. */
  | { type: 'failed'; failure: JobFailure; isOver: boolean }
  /** The last task of a failed job has ended. */
  | { type: 'ended' }
  | { type: 'deleted' };

/** Returns the job after an event, or undefined if the event changes nothing. */
export function decideJob(job: Job, event: JobEvent, now: number): Job | undefined {
  const changed = (change: Partial<Job>, ...events: JobEventType[]): Job => ({
    ...withPendingEvents(job, events, now),
    ...change,
    updatedAt: new Date(now).toISOString(),
    version: job.version + 1,
    revision: (job.revision ?? 1) + 1,
  });
  const ended = job.status !== 'created' && job.status !== 'processing';
  const at = new Date(now).toISOString();
  switch (event.type) {
    case 'started':
      return job.status === 'created' ? changed({ status: 'processing', startedAt: at }, 'started') : undefined;
    case 'allTasksEnded':
      if (ended || job.open.length > 0) return undefined;
      return changed({ status: 'completed', endedAt: at, startedAt: job.startedAt ?? at }, 'ended');
    case 'failed':
      if (ended) return event.isOver ? decideJob(job, { type: 'ended' }, now) : undefined;
      return changed({ status: 'failed', failure: event.failure, ...(event.isOver ? { endedAt: at } : {}) }, 'ended');
    case 'ended':
      return job.status === 'failed' && job.endedAt === undefined ? changed({ endedAt: at }) : undefined;
    case 'deleted':
      return job.status === 'deleted' ? undefined : changed({ status: 'deleted', dueAt: nextCheck(now) });
  }
}

/** Returns whether a text is the name of a job event. */
export function isJobEventType(text: string): text is JobEventType {
  return jobEventTypes.some((type) => type === text);
}

/** Returns the job with events added to its outbox. The sweep publishes those that are still pending at its next check. */
export function withPendingEvents(job: Job, events: JobEventType[], now: number): Job {
  if (events.length === 0) return job;
  return {
    ...job,
    pendingEvents: [...new Set([...(job.pendingEvents ?? []), ...events])],
    dueAt: job.dueAt ?? nextCheck(now),
  };
}

/** Returns the events of a new job. A job whose files came with the request may have ended already. */
export function initialEvents(job: Job): JobEventType[] {
  const started = job.status === 'created' ? [] : (['started'] as const);
  return ['created', ...started, ...(job.endedAt === undefined ? [] : (['ended'] as const))];
}
