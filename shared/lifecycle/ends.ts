import type { JobErrorCode } from '../jobs/job.ts';
import { hasEnded, type Task, type TaskFailure } from '../tasks/task.ts';

/** The failure of a task that no worker survived. */
export const workersLost: TaskFailure = {
  errorCode: 'processing_failed',
  msg: 'The file could not be processed: every attempt ended without a result. It may be damaged or too large for the engine.',
};

/** Returns the failure of a task whose account has no engine time left this month. */
export function outOfMinutes(now: number): TaskFailure {
  const next = new Date(now);
  const renewal = new Date(Date.UTC(next.getUTCFullYear(), next.getUTCMonth() + 1)).toISOString().slice(0, 10);
  return {
    errorCode: 'out_of_conversion_minutes',
    msg: `The conversion minutes of this month are used up, or reserved by tasks that are running. They are renewed on ${renewal}.`,
  };
}

/** Returns the failure of a task that exceeded the engine time of a single task. */
export function outOfMinutesPerTask(limitMs: number): TaskFailure {
  const minutes = Math.round(limitMs / 600) / 100;
  return {
    errorCode: 'out_of_conversion_minutes_per_task',
    msg: `The task used up the ${minutes} conversion minutes that a single task may use. Split the file or choose faster options.`,
  };
}

/** Returns whether a task ended without completing. */
export function endedBadly(task: Task): boolean {
  return hasEnded(task) && task.status !== 'completed';
}

/** Returns the failure that an input causes, because it ended badly or no longer exists; undefined if it causes none. */
export function failureBy(input: Task | undefined, id: string): TaskFailure | undefined {
  if (!input) return { errorCode: 'processing_failed', msg: `The input task ${id} no longer exists.` };
  if (!endedBadly(input)) return undefined;
  return {
    errorCode: input.status === 'deleted' ? 'user_deleted_task' : 'processing_failed',
    msg: `The input ${describeEnd(input)}`,
  };
}

/** Describes the end of a task that did not complete. */
export function describeEnd(task: Task): string {
  const which = `task "${task.name}" (${task.id})`;
  if (task.status === 'canceled') return `${which} was canceled.`;
  if (task.status === 'deleted') return `${which} was deleted.`;
  return `${which} failed: ${task.failure?.msg ?? task.failure?.errorCode ?? 'no reason was recorded.'}`;
}

/** Returns the error code of a job that a task failed by ending badly. */
export function jobErrorOf(task: Task): JobErrorCode {
  if (task.status === 'canceled') return 'task_canceled';
  return task.status === 'deleted' ? 'task_deleted' : 'task_failed';
}
