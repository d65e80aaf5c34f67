import { defined } from '../defined.ts';
import { nextCheck } from './due.ts';
import { type EngineTime, elapsed, endMeter, type Meter, startMeter } from './meter.ts';
import type { JsonObject, PartsUpload, StoredFile, Task, TaskFailure, TaskParts, TaskStatus } from './task.ts';
import { hasEnded, revisionOf } from './task.ts';

/** A worker without a heartbeat for this long has lost its task. It sends three within this time. */
export const heartbeatWindowMs = 30_000;
/** How long a task may stay in a queue before the sweep sends its message again. */
export const queueTimeoutMs = 15 * 60_000;
/** How far the clocks of two workers may diverge. */
const clockMs = 5_000;
/** Lost runs after which a task fails, because its input seems to kill every worker. */
export const maxAttempts = 5;

export type TaskEvent =
  /** `reserveMs` is the engine time to reserve if the account's is limited. */
  | { type: 'started'; reserveMs?: number }
  | { type: 'progressed'; attempt: number; percent?: number; parts?: TaskParts; meter?: Meter }
  | { type: 'completed'; attempt: number; files: StoredFile[]; details?: JsonObject; engine?: EngineTime }
  | { type: 'failed'; attempt: number; failure: TaskFailure; engine?: EngineTime }
  /**
   * The run ends without a result so that other tasks get their turn. Another run starts over at `resumesAt`, or continues work
   * that goes on meanwhile (`goesOn`) and whose time is charged.
   */
  | { type: 'returned'; attempt: number; resumesAt?: number; goesOn?: boolean }
  | { type: 'uploaded'; file: StoredFile }
  /** The client starts the upload of its file in parts, or starts over. */
  | { type: 'partsStarted'; parts: PartsUpload }
  /** The upload with this id makes progress, or is aborted. */
  | { type: 'partsExtended'; id: string; formUntil: number }
  | { type: 'partsAborted'; id: string }
  /** The function that completed the inputs performed the task as well. */
  | { type: 'performed'; files: StoredFile[] }
  | { type: 'expired'; failure: TaskFailure }
  | { type: 'inputEnded'; failure: TaskFailure; input: string }
  | { type: 'canceled' }
  | { type: 'deleted' }
  /** The consequences of the end with this status are carried out. */
  | { type: 'settled'; status: TaskStatus };

/**
 * The result of an event: `changed` carries the next record; `refused` leaves the record as it is. The reason `ended` means that
 * the task has ended, and its consequences may have to be repeated; `owned` that another live run owns the task; `waiting` that
 * it waits for its client's file.
 */
export type Decision =
  | { outcome: 'changed'; task: Task }
  | { outcome: 'refused'; reason: 'ended' | 'owned' | 'waiting' | 'not-started' };

/** Returns the next record of a decision; undefined if the event was refused. */
export const taskOf = (decision: Decision) => (decision.outcome === 'changed' ? decision.task : undefined);

const refused = (reason: 'ended' | 'owned' | 'waiting' | 'not-started'): Decision => ({ outcome: 'refused', reason });

/** Decides how an event changes a task. Pure: the spec's table of states, and no transition outside it. */
export function decide(task: Task, event: TaskEvent, now: number): Decision {
  switch (event.type) {
    case 'started':
      return start(task, now, event.reserveMs);
    case 'progressed':
    case 'completed':
    case 'failed':
    case 'returned':
      return refusalOf(task, event.attempt) ?? afterRun(task, event, now);
    case 'uploaded':
      if (hasEnded(task)) return refused('ended');
      if (task.status !== 'processing' || !task.form) return refused('not-started');
      return ended(task, now, { status: 'completed', files: [event.file], progress: 100 });
    case 'partsStarted':
    case 'partsExtended':
    case 'partsAborted':
      return changeParts(task, event);
    case 'performed':
      if (hasEnded(task)) return refused('ended');
      if (task.status !== 'created') return refused('owned');
      return perform(task, event.files, now);
    case 'expired':
    case 'inputEnded':
      if (hasEnded(task)) return refused('ended');
      return ended(task, now, {
        status: 'failed',
        failure: event.failure,
        ...('input' in event ? { failedBy: event.input } : {}),
        ...used(task),
      });
    case 'canceled':
      if (hasEnded(task)) return refused('ended');
      return ended(task, now, { status: 'canceled', ...usedUntil(task, now) });
    case 'deleted':
      if (task.status === 'deleted') return refused('ended');
      // The tombstone schedules itself, because its job may have ended and be off the schedule.
      return ended(task, now, { status: 'deleted', dueAt: nextCheck(now), ...usedUntil(task, now) });
    case 'settled':
      return settled(task, event.status);
  }
}

type RunEvent = Extract<TaskEvent, { type: 'progressed' | 'completed' | 'failed' | 'returned' }>;

type PartsEvent = Extract<TaskEvent, { type: 'partsStarted' | 'partsExtended' | 'partsAborted' }>;

/** Records an upload in parts. Clients do not see it in the task, so its revision stays. */
function changeParts(task: Task, event: PartsEvent): Decision {
  if (hasEnded(task)) return refused('ended');
  const { upload, ...rest } = task;
  const isCurrent = event.type === 'partsStarted' || event.id === upload?.id;
  if (task.status !== 'processing' || !task.form || !isCurrent) return refused('not-started');
  const version = task.version + 1;
  switch (event.type) {
    case 'partsStarted':
      return { outcome: 'changed', task: { ...task, upload: event.parts, version } };
    case 'partsExtended':
      return { outcome: 'changed', task: { ...task, formUntil: event.formUntil, version } };
    case 'partsAborted':
      return { outcome: 'changed', task: { ...rest, version } };
  }
}

/** Refuses an event of a run that does not own the task. */
function refusalOf(task: Task, attempt: number): Decision | undefined {
  if (hasEnded(task)) return refused('ended');
  if (task.status !== 'processing') return refused('not-started');
  if (task.attempt !== attempt) return refused('owned');
  // A task that waits for its upload has no run; the function that reads the file speaks for it.
  return task.heartbeatAt === undefined && !task.form ? refused('not-started') : undefined;
}

function afterRun(task: Task, event: RunEvent, now: number): Decision {
  switch (event.type) {
    case 'progressed':
      return changed(task, now, {
        heartbeatAt: now,
        ...defined({ meter: event.meter, parts: event.parts }),
        ...(event.percent === undefined ? {} : { progress: Math.max(task.progress ?? 0, event.percent) }),
      });
    case 'completed':
      return ended(task, now, {
        status: 'completed',
        files: event.files,
        progress: 100,
        ...defined({ details: event.details }),
        ...used(task, event.engine),
      });
    case 'failed':
      return ended(task, now, { status: 'failed', failure: event.failure, ...used(task, event.engine) });
    case 'returned':
      return returned(task, event, now);
  }
}

/**
 * Releases a task from its run, whose time is charged only if its work goes on. The next run keeps the reservation. The status
 * stays.
 */
function returned(
  { heartbeatAt: _heartbeat, ...task }: Task,
  { resumesAt, goesOn = false }: Extract<TaskEvent, { type: 'returned' }>,
  now: number,
): Decision {
  const { since: _since, ...meter } = task.meter ?? {};
  return changed(task, now, {
    returns: (task.returns ?? 0) + 1,
    ...defined({ resumesAt }),
    ...(task.meter ? { meter: goesOn ? task.meter : meter } : {}),
  });
}

/** Returns whether a task has lost too many runs to be started again. */
export function isExhausted({ attempt, returns = 0 }: Task): boolean {
  return attempt - returns >= maxAttempts;
}

function settled(task: Task, status: TaskStatus): Decision {
  // A task that was deleted meanwhile has other consequences, and its tombstone stays due until they are carried out.
  if (task.status !== status || task.dueAt === undefined) return refused('ended');
  const { dueAt: _dueAt, ...rest } = task;
  return { outcome: 'changed', task: { ...rest, version: task.version + 1 } };
}

function start(task: Task, now: number, reserveMs?: number): Decision {
  if (hasEnded(task)) return refused('ended');
  // A task with a form gets its file from the client, never from a worker.
  if (task.form) return refused('waiting');
  if (task.status === 'processing' && (task.heartbeatAt ?? 0) + heartbeatWindowMs > now) return refused('owned');
  const { resumesAt = 0, ...rest } = task;
  if (now < resumesAt - clockMs) return refused('owned');
  return changed(rest, now, {
    status: 'processing',
    attempt: task.attempt + 1,
    heartbeatAt: now,
    startedAt: task.startedAt ?? new Date(now).toISOString(),
    ...(task.meter ? { meter: startMeter(task.meter, now, reserveMs) } : {}),
  });
}

/** Returns the engine time of a task that ends. Runs that were lost by a fault of the service are not charged. */
function used(task: Task, engine: EngineTime = { ms: 0 }): Pick<Task, 'meter'> {
  const { since, reservedMs } = task.meter ?? {};
  return task.meter && (since ?? reservedMs) !== undefined ? { meter: endMeter(task.meter, engine) } : {};
}

/** Returns the engine time of a task that its client ends: the time until now. */
function usedUntil(task: Task, now: number): Pick<Task, 'meter'> {
  return task.meter ? used(task, elapsed(task.meter, now)) : {};
}

/** Starts and completes a task in one write, which counts as two visible changes. */
function perform(task: Task, files: StoredFile[], now: number): Decision {
  const revision = revisionOf(task) + 1;
  const startedAt = new Date(now).toISOString();
  return ended({ ...task, revision }, now, { status: 'completed', files, progress: 100, startedAt, isPerformed: true });
}

function changed(task: Task, now: number, change: Partial<Task>): Decision {
  return {
    outcome: 'changed',
    task: {
      ...task,
      ...change,
      updatedAt: new Date(now).toISOString(),
      version: task.version + 1,
      revision: revisionOf(task) + 1,
    },
  };
}

function ended(task: Task, now: number, change: Partial<Task>): Decision {
  // A deleted task keeps the time of its first end.
  const { form: _form, heartbeatAt: _heartbeat, resumesAt: _resumes, parts: _parts, ...rest } = task;
  return changed(rest, now, {
    ...change,
    endedAt: task.endedAt ?? new Date(now).toISOString(),
  });
}
