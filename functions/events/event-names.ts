import type { Job } from '../../shared/jobs/job.ts';
import { hasEnded, revisionOf, type Task } from '../../shared/tasks/task.ts';

const eventNames = [
  'job_started',
  'job_completed',
  'job_failed',
  'task_started',
  'task_updated',
  'task_completed',
  'task_failed',
  'task_canceled',
  'task_deleted',
] as const;
export type EventName = (typeof eventNames)[number];

/** How far a task or job is. A listener is never shown a lower one than before, and an end only once. */
export const phases = { created: 0, started: 1, ended: 2, deleted: 3 } as const;
export type Phase = (typeof phases)[keyof typeof phases];

/** What somebody was last shown of a task or job. */
export interface Shown {
  /** The record's count of visible changes: bookkeeping that nobody sees does not make an event newer. */
  version: number;
  phase: Phase;
}

/** Tells how far a task or job is. */
export function phaseOf(subject: Task | Job): Phase {
  if (subject.status === 'created') return phases.created;
  if (subject.status === 'processing') return phases.started;
  return subject.status === 'deleted' ? phases.deleted : phases.ended;
}

/**
 * Names the event that a task or job is to somebody who was last shown so much of it, or returns undefined where it is
 * nothing new. A second run of a task that was shown to be started is an update, and an end that is announced again,
 * under whatever version, is nothing.
 */
export function eventFor(subject: Task | Job, shown: Shown | undefined): EventName | undefined {
  const phase = phaseOf(subject);
  const before = shown?.phase ?? phases.created;
  if (shown && (revisionOf(subject) <= shown.version || phase < before)) return undefined;
  if (phase === phases.created) return undefined;
  if ('waitsFor' in subject) {
    if (phase === phases.started) return before === phases.started ? 'task_updated' : 'task_started';
    return phase === before ? undefined : endOfTask(subject);
  }
  if (phase === before || phase === phases.deleted) return undefined;
  if (phase === phases.started) return 'job_started';
  return subject.status === 'completed' ? 'job_completed' : 'job_failed';
}

function endOfTask(task: Task): EventName | undefined {
  if (!hasEnded(task)) return undefined;
  switch (task.status) {
    case 'completed':
      return 'task_completed';
    case 'failed':
      return 'task_failed';
    case 'canceled':
      return 'task_canceled';
    default:
      return 'task_deleted';
  }
}

/** Returns what somebody knows who is shown a task or job as it is. */
export function stateOf(subject: Task | Job): Shown {
  return { version: revisionOf(subject), phase: phaseOf(subject) };
}

/** Returns a task as it was when somebody was shown so much of it; of one that has ended since, as it was while it ran. */
export function taskAsShown(task: Task, shown: Shown | undefined): Task {
  if (!shown || shown.phase >= phases.ended || revisionOf(task) === shown.version) return task;
  const { endedAt: _endedAt, failure: _failure, details: _details, progress: _progress, ...rest } = task;
  return { ...rest, status: statusOf(shown), files: [], revision: shown.version };
}

/** Returns a job as it was when somebody was shown so much of it. */
export function jobAsShown(job: Job, shown: Shown | undefined): Job {
  if (!shown || shown.phase >= phases.ended || revisionOf(job) === shown.version) return job;
  const { endedAt: _endedAt, failure: _failure, ...rest } = job;
  return { ...rest, status: statusOf(shown), revision: shown.version };
}

function statusOf({ phase }: Shown): 'created' | 'processing' {
  return phase === phases.created ? 'created' : 'processing';
}

/** Returns the later of two states. */
export function laterOf(left: Shown | undefined, right: Shown | undefined): Shown | undefined {
  if (!left || !right) return left ?? right;
  return left.version >= right.version ? left : right;
}
