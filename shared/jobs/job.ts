export const jobStatuses = ['created', 'processing', 'completed', 'failed'] as const;
export type JobStatus = (typeof jobStatuses)[number];
export type JobErrorCode = 'task_failed' | 'task_deleted' | 'task_canceled';

export interface JobFailure {
  errorCode: JobErrorCode;
  msg: string;
}

export interface Job {
  id: string;
  user: string;
  tag?: string;
  /** `deleted` is a tombstone while the job's tasks and files are being removed; readers see no such job. */
  status: JobStatus | 'deleted';
  /** Task ids in the order of the request. */
  tasks: string[];
  /** Tasks that have not ended. Whoever empties it completes the job. */
  open: string[];
  failure?: JobFailure;
  createdAt: string;
  startedAt?: string;
  endedAt?: string;
  updatedAt: string;
  expiresAt: string;
  version: number;
  dueAt?: number;
}

export type JobEvent =
  | { type: 'started' }
  | { type: 'allTasksEnded' }
  | { type: 'failed'; failure: JobFailure }
  | { type: 'deleted' };

/** Decides what an event does to a job, or returns undefined where the event changes nothing. */
export function decideJob(job: Job, event: JobEvent, now: number): Job | undefined {
  const changed = (change: Partial<Job>): Job => ({
    ...job,
    ...change,
    updatedAt: new Date(now).toISOString(),
    version: job.version + 1,
  });
  const ended = job.status !== 'created' && job.status !== 'processing';
  switch (event.type) {
    case 'started':
      return job.status === 'created'
        ? changed({ status: 'processing', startedAt: new Date(now).toISOString() })
        : undefined;
    case 'allTasksEnded':
      return ended || job.open.length > 0
        ? undefined
        : changed({
            status: 'completed',
            endedAt: new Date(now).toISOString(),
            startedAt: job.startedAt ?? new Date(now).toISOString(),
          });
    case 'failed':
      return ended
        ? undefined
        : changed({ status: 'failed', failure: event.failure, endedAt: new Date(now).toISOString() });
    case 'deleted':
      return job.status === 'deleted' ? undefined : changed({ status: 'deleted', dueAt: now + 60_000 });
  }
}
