import { type Due, nextCheck } from '../tasks/due.ts';

export const jobStatuses = ['created', 'processing', 'completed', 'failed'] as const;
export type JobStatus = (typeof jobStatuses)[number];
export type JobErrorCode = 'task_failed' | 'task_deleted' | 'task_canceled';

export interface JobFailure {
  errorCode: JobErrorCode;
  msg: string;
}

const jobEventTypes = ['created', 'started', 'ended'] as const;
/** An event of a job that is published, each at most once in its life. */
export type JobEventType = (typeof jobEventTypes)[number];

/** A job, the head of the group of its tasks. */
export interface Job extends Due {
  id: string;
  user: string;
  tag?: string;
  /** `deleted` is a tombstone while the job's tasks and files are being removed; readers see no such job. */
  status: JobStatus | 'deleted';
  /** Task ids in the order of the request. */
  tasks: string[];
  /** How many of its tasks have which operation. */
  operations: Record<string, number>;
  /**
   * The last tasks of the job, for which no other waits, that have not ended; or, where they are many, the parts that they
   * are kept in. Whoever empties it completes the job.
   */
  open: string[];
  /** Its deleted tasks, each with its operation before its id. */
  gone?: string[];
  failure?: JobFailure;
  /** The webhook that was given with the job. */
  webhook?: string;
  /** The outbox: events that were written but perhaps not published. The sweep publishes what a crash left here. */
  pendingEvents?: JobEventType[];
  createdAt: string;
  startedAt?: string;
  /** When the last of its tasks had ended: a job fails with the first that does, while independent ones go on. */
  endedAt?: string;
  updatedAt: string;
  expiresAt: string;
  version: number;
  /** Counts the changes that a reader can see, as that of a task does. */
  revision?: number;
}

export type JobEvent =
  | { type: 'started' }
  | { type: 'allTasksEnded' }
  /** `isOver` is true if all of its tasks have ended. */
  | { type: 'failed'; failure: JobFailure; isOver: boolean }
  /** The last task of a failed job has ended. */
  | { type: 'ended' }
  | { type: 'deleted' };

/** Decides what an event does to a job, or returns undefined where the event changes nothing. */
export function decideJob(job: Job, event: JobEvent, now: number): Job | undefined {
  const changed = (change: Partial<Job>, ...events: JobEventType[]): Job => ({
    ...withPendingEvents(job, events, now),
    ...change,
    updatedAt: new Date(now).toISOString(),
    version: job.version + 1,
    revision: (job.revision ?? 1) + 1,
  });
  const ended = job.status !== 'created' && job.status !== 'processing';
  switch (event.type) {
    case 'started':
      return job.status === 'created'
        ? changed({ status: 'processing', startedAt: new Date(now).toISOString() }, 'started')
        : undefined;
    case 'allTasksEnded':
      return ended || job.open.length > 0
        ? undefined
        : changed(
            {
              status: 'completed',
              endedAt: new Date(now).toISOString(),
              startedAt: job.startedAt ?? new Date(now).toISOString(),
            },
            'ended',
          );
    case 'failed':
      if (ended) return event.isOver ? decideJob(job, { type: 'ended' }, now) : undefined;
      return changed(
        { status: 'failed', failure: event.failure, ...(event.isOver ? { endedAt: new Date(now).toISOString() } : {}) },
        'ended',
      );
    case 'ended':
      return job.status === 'failed' && job.endedAt === undefined
        ? changed({ endedAt: new Date(now).toISOString() })
        : undefined;
    case 'deleted':
      return job.status === 'deleted' ? undefined : changed({ status: 'deleted', dueAt: nextCheck(now) });
  }
}

/** Returns whether a text names an event of a job. */
export function isJobEventType(text: string): text is JobEventType {
  return jobEventTypes.some((type) => type === text);
}

/** Returns the job with events added to its outbox; the sweep publishes those that are still pending when it looks. */
export function withPendingEvents(job: Job, events: JobEventType[], now: number): Job {
  if (events.length === 0) return job;
  return {
    ...job,
    pendingEvents: [...new Set([...(job.pendingEvents ?? []), ...events])],
    dueAt: job.dueAt ?? nextCheck(now),
  };
}

/** Returns the events of a job that was just created: one whose files came with the request may have ended. */
export function initialEvents(job: Job): JobEventType[] {
  const started = job.status === 'created' ? [] : (['started'] as const);
  return ['created', ...started, ...(job.endedAt === undefined ? [] : (['ended'] as const))];
}
