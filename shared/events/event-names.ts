import type { Job } from '../jobs/job.ts';
import { isTask, revisionOf, type Task } from '../tasks/task.ts';

export type EventName =
  | `job_${'started' | 'completed' | 'failed'}`
  | `task_${'started' | 'updated' | 'completed' | 'failed' | 'canceled' | 'deleted'}`;

/** The phases of a task or job. A subscriber never receives a lower one than before, and receives the end only once. */
export const phases = { created: 0, started: 1, ended: 2, deleted: 3 } as const;
export type Phase = (typeof phases)[keyof typeof phases];

/** What a subscriber last received of a task or job. */
export interface Cursor {
  /** The record's count of visible changes. Internal changes do not make an event newer. */
  version: number;
  phase: Phase;
}

/** Returns the phase of a task or job. */
export function phaseOf(subject: Task | Job): Phase {
  if (subject.status === 'created') return phases.created;
  if (subject.status === 'processing') return phases.started;
  return subject.status === 'deleted' ? phases.deleted : phases.ended;
}

/**
 * Returns the event of a task or job for a subscriber at a cursor, or undefined if it is not new. A second run after a
 * received start is an update. An end that is published again, under any version, is not new.
 */
export function eventFor(subject: Task | Job, cursor: Cursor | undefined): EventName | undefined {
  const phase = phaseOf(subject);
  const before = cursor?.phase ?? phases.created;
  if (cursor && (revisionOf(subject) <= cursor.version || phase < before)) return undefined;
  if (phase === phases.created) return undefined;
  if (isTask(subject)) {
    if (subject.status === 'processing') return before === phases.started ? 'task_updated' : 'task_started';
    return phase === before || subject.status === 'created' ? undefined : `task_${subject.status}`;
  }
  if (phase === before || phase === phases.deleted) return undefined;
  if (phase === phases.started) return 'job_started';
  return subject.status === 'completed' ? 'job_completed' : 'job_failed';
}

/** Returns the cursor of a subscriber that has received a task or job in its current state. */
export function cursorOf(subject: Task | Job): Cursor {
  return { version: revisionOf(subject), phase: phaseOf(subject) };
}

/** Returns a task as it was at a cursor: as running if it has ended since. */
export function taskAt(task: Task, cursor: Cursor | undefined): Task {
  if (!cursor || cursor.phase >= phases.ended || revisionOf(task) === cursor.version) return task;
  const { endedAt: _endedAt, failure: _failure, details: _details, progress: _progress, ...rest } = task;
  return { ...rest, status: statusOf(cursor), files: [], revision: cursor.version };
}

/** Returns a job as it was at a cursor. */
export function jobAt(job: Job, cursor: Cursor | undefined): Job {
  if (!cursor || cursor.phase >= phases.ended || revisionOf(job) === cursor.version) return job;
  const { endedAt: _endedAt, failure: _failure, ...rest } = job;
  return { ...rest, status: statusOf(cursor), revision: cursor.version };
}

function statusOf({ phase }: Cursor): 'created' | 'processing' {
  return phase === phases.created ? 'created' : 'processing';
}

/** Returns the later of two cursors. */
export function laterOf(left: Cursor | undefined, right: Cursor | undefined): Cursor | undefined {
  if (!left || !right) return left ?? right;
  return left.version >= right.version ? left : right;
}
