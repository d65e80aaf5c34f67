import { maxRecoveries, recoveryDelayMs } from '../tasks/transitions.ts';

export const jobStatuses = ['created', 'processing', 'completed', 'failed'] as const;
export type JobStatus = (typeof jobStatuses)[number];
export type JobErrorCode = 'task_failed' | 'task_deleted' | 'task_canceled';

export interface JobFailure {
  errorCode: JobErrorCode;
  msg: string;
}

const jobNews = ['created', 'started', 'ended'] as const;
/** What may be told of a job, each at most once in its life. */
export type JobNews = (typeof jobNews)[number];

/** How long the telling of a change may take before the sweep repeats it. */
const tellPatienceMs = 60_000;

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
  /** The webhook that was given with the job. */
  webhook?: string;
  /** News that were written but perhaps not announced: whoever dies in between leaves them to the sweep. */
  untold?: JobNews[];
  createdAt: string;
  startedAt?: string;
  endedAt?: string;
  updatedAt: string;
  expiresAt: string;
  version: number;
  /** Counts the changes that a reader can see, as that of a task does. */
  revision?: number;
  dueAt?: number;
  /** How often in a row the sweep could not recover the job. */
  failedRecoveries?: number;
}

export type JobEvent =
  | { type: 'started' }
  | { type: 'allTasksEnded' }
  | { type: 'failed'; failure: JobFailure }
  | { type: 'deleted' }
  /** The sweep looked at the job and something that it needs refused. */
  | { type: 'recoveryFailed' };

/** Decides what an event does to a job, or returns undefined where the event changes nothing. */
export function decideJob(job: Job, event: JobEvent, now: number): Job | undefined {
  const { failedRecoveries: _failedRecoveries, ...current } = job;
  const changed = (change: Partial<Job>, ...news: JobNews[]): Job => ({
    ...owing(current, news, now),
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
      return ended
        ? undefined
        : changed({ status: 'failed', failure: event.failure, endedAt: new Date(now).toISOString() }, 'ended');
    case 'deleted':
      return job.status === 'deleted' ? undefined : changed({ status: 'deleted', dueAt: now + 60_000 });
    case 'recoveryFailed':
      return recoveryFailed(job, now);
  }
}

/** Puts the next recovery off; after the last one, nothing is owed any more. */
function recoveryFailed(job: Job, now: number): Job | undefined {
  if (job.dueAt === undefined) return undefined;
  const failedRecoveries = (job.failedRecoveries ?? 0) + 1;
  const { untold: _untold, dueAt: _dueAt, ...rest } = job;
  const owed =
    failedRecoveries < maxRecoveries
      ? { untold: job.untold ?? [], dueAt: now + recoveryDelayMs(failedRecoveries) }
      : { untold: [] };
  return { ...rest, ...owed, failedRecoveries, version: job.version + 1 };
}

/** Tells whether a text names news of a job. */
export function isJobNews(text: string): text is JobNews {
  return jobNews.some((news) => news === text);
}

/** Returns the job with news that must be announced before the sweep lets go of it. */
export function owing(job: Job, news: JobNews[], now: number): Job {
  if (news.length === 0) return job;
  return { ...job, untold: [...new Set([...(job.untold ?? []), ...news])], dueAt: now + tellPatienceMs };
}

/** Lists what there is to tell of a job that was just made: a job whose files came with the request may have ended. */
export function newsOfNew(job: Job): JobNews[] {
  const started = job.status === 'created' ? [] : (['started'] as const);
  return ['created', ...started, ...(job.endedAt === undefined ? [] : (['ended'] as const))];
}
