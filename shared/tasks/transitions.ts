import type { JsonObject, StoredFile, Task, TaskFailure, TaskStatus } from './task.ts';
import { hasEnded, revisionOf } from './task.ts';

/** A worker without a heartbeat for this long has lost its task; it sends three within this time. */
export const heartbeatWindowMs = 30_000;
/** How long a released task may stay in a queue before the sweep sends its message again. */
export const queueTimeoutMs = 15 * 60_000;
/** How long the consequences of an end may take before the sweep repeats them. */
export const settleTimeoutMs = 60_000;
/** Runs after which a task is failed: its input kills every worker that touches it. */
export const maxAttempts = 5;

/** Consecutive failed recoveries after which the sweep gives up a record. */
export const maxRecoveries = 5;

/** Returns the delay of the next recovery after a number of failed ones: 1, 2, 4, 8 minutes. */
export function recoveryDelayMs(failedRecoveries: number): number {
  return 60_000 * 2 ** (failedRecoveries - 1);
}

export type TaskEvent =
  | { type: 'started' }
  | { type: 'progressed'; attempt: number; percent?: number }
  | { type: 'completed'; attempt: number; files: StoredFile[]; details?: JsonObject }
  | { type: 'failed'; attempt: number; failure: TaskFailure }
  | { type: 'uploaded'; file: StoredFile }
  | { type: 'expired'; failure: TaskFailure }
  | { type: 'inputEnded'; failure: TaskFailure }
  | { type: 'canceled' }
  | { type: 'deleted' }
  /** What follows from the end that the task had then is done. */
  | { type: 'settled'; status: TaskStatus }
  /** The sweep could not recover the task because something that it needs failed. */
  | { type: 'recoveryFailed'; failure: TaskFailure }
  | { type: 'recovered' };

/**
 * The result of an event: `changed` carries the next record; `refused` leaves the record as it is.
 * `ended` means that the task is past it (repeat the consequences), `owned` that another run is alive and owns it,
 * `waiting` that inputs are still missing.
 */
export type Decision =
  | { outcome: 'changed'; task: Task }
  | { outcome: 'refused'; reason: 'ended' | 'owned' | 'waiting' | 'not-started' };

/** Returns the next record of a decision; undefined where the event was refused. */
export const taskOf = (decision: Decision) => (decision.outcome === 'changed' ? decision.task : undefined);

const refused = (reason: 'ended' | 'owned' | 'waiting' | 'not-started'): Decision => ({ outcome: 'refused', reason });

/** Decides what an event does to a task. Pure: the spec's table of states, and no transition outside it. */
export function decide(task: Task, event: TaskEvent, now: number): Decision {
  switch (event.type) {
    case 'started':
      return start(task, now);
    case 'progressed':
      if (hasEnded(task)) return refused('ended');
      if (task.status !== 'processing') return refused('not-started');
      if (task.attempt !== event.attempt) return refused('owned');
      return changed(task, now, {
        heartbeatAt: now,
        dueAt: now + 2 * heartbeatWindowMs,
        ...(event.percent === undefined ? {} : { progress: Math.max(task.progress ?? 0, event.percent) }),
      });
    case 'completed':
      if (hasEnded(task)) return refused('ended');
      if (task.status !== 'processing') return refused('not-started');
      if (task.attempt !== event.attempt) return refused('owned');
      return ended(task, now, {
        status: 'completed',
        files: event.files,
        progress: 100,
        ...(event.details === undefined ? {} : { details: event.details }),
      });
    case 'failed':
      if (hasEnded(task)) return refused('ended');
      if (task.status !== 'processing') return refused('not-started');
      if (task.attempt !== event.attempt) return refused('owned');
      return ended(task, now, { status: 'failed', failure: event.failure });
    case 'uploaded':
      if (hasEnded(task)) return refused('ended');
      if (task.status !== 'processing' || !task.form) return refused('not-started');
      return ended(task, now, { status: 'completed', files: [event.file], progress: 100 });
    case 'expired':
    case 'inputEnded':
      if (hasEnded(task)) return refused('ended');
      return ended(task, now, { status: 'failed', failure: event.failure });
    case 'canceled':
      if (hasEnded(task)) return refused('ended');
      return ended(task, now, { status: 'canceled' });
    case 'deleted':
      if (task.status === 'deleted') return refused('ended');
      return ended(task, now, { status: 'deleted' });
    case 'settled':
      return settled(task, event.status);
    case 'recoveryFailed':
      return recoveryFailed(task, event.failure, now);
    case 'recovered': {
      const { failedRecoveries, ...rest } = task;
      if (failedRecoveries === undefined) return refused(hasEnded(task) ? 'ended' : 'waiting');
      return { outcome: 'changed', task: { ...rest, version: task.version + 1 } };
    }
  }
}

/** Postpones the next recovery; after the last one, fails a task that is open and leaves one that has ended as it is. */
function recoveryFailed(task: Task, failure: TaskFailure, now: number): Decision {
  if (task.dueAt === undefined) return refused('ended');
  const failedRecoveries = (task.failedRecoveries ?? 0) + 1;
  if (failedRecoveries < maxRecoveries) {
    const dueAt = now + recoveryDelayMs(failedRecoveries);
    return { outcome: 'changed', task: { ...task, failedRecoveries, dueAt, version: task.version + 1 } };
  }
  if (!hasEnded(task)) return ended(task, now, { status: 'failed', failure, failedRecoveries });
  const { dueAt: _dueAt, ...rest } = task;
  return { outcome: 'changed', task: { ...rest, failedRecoveries, version: task.version + 1 } };
}

function settled(task: Task, status: TaskStatus): Decision {
  // A task that was deleted since has more to be done; its tombstone must stay due until then.
  if (task.status !== status || task.dueAt === undefined) return refused('ended');
  const { dueAt: _dueAt, ...rest } = task;
  return { outcome: 'changed', task: { ...rest, version: task.version + 1 } };
}

function start(task: Task, now: number): Decision {
  if (hasEnded(task)) return refused('ended');
  // A task with a form gets its file from the client, never from a worker.
  if (task.waitsFor.length > 0 || task.form) return refused('waiting');
  if (task.status === 'processing' && (task.heartbeatAt ?? 0) + heartbeatWindowMs > now) return refused('owned');
  return changed(task, now, {
    status: 'processing',
    attempt: task.attempt + 1,
    heartbeatAt: now,
    startedAt: task.startedAt ?? new Date(now).toISOString(),
    dueAt: now + 2 * heartbeatWindowMs,
  });
}

function changed(task: Task, now: number, change: Partial<Task>): Decision {
  const { failedRecoveries: _failedRecoveries, ...rest } = task;
  return {
    outcome: 'changed',
    task: {
      ...rest,
      ...change,
      updatedAt: new Date(now).toISOString(),
      version: task.version + 1,
      revision: revisionOf(task) + 1,
    },
  };
}

function ended(task: Task, now: number, change: Partial<Task>): Decision {
  // A task that ends has no more use for its form; a deleted one keeps the end it had.
  const { form: _form, heartbeatAt: _heartbeat, ...rest } = task;
  return changed(rest, now, {
    ...change,
    waitsFor: [],
    endedAt: task.endedAt ?? new Date(now).toISOString(),
    dueAt: now + settleTimeoutMs,
  });
}
