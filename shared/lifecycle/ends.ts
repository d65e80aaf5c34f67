import type { JobErrorCode } from '../jobs/job.ts';
import { hasEnded, type Task, type TaskFailure } from '../tasks/task.ts';

/** The failure of a task that no worker survived. */
export const workersLost: TaskFailure = {
  errorCode: 'processing_failed',
  msg: 'The file could not be processed: every attempt ended without a result. It may be damaged or too large for the engine.',
};

/** Returns the failure of a task for which the month's engine time does not suffice. */
export function outOfMinutes(now: number): TaskFailure {
  const next = new Date(now);
  const renewal = new Date(Date.UTC(next.getUTCFullYear(), next.getUTCMonth() + 1)).toISOString().slice(0, 10);
  return {
    errorCode: 'out_of_conversion_minutes',
    msg: `The conversion minutes of this month are used up, or reserved by tasks that are running. They are renewed on ${renewal}.`,
  };
}

/** Returns the failure of a task that took longer than a single task may. */
export function outOfMinutesPerTask(limitMs: number): TaskFailure {
  const minutes = Math.round(limitMs / 600) / 100;
  return {
    errorCode: 'out_of_conversion_minutes_per_task',
    msg: `The task used up the ${minutes} conversion minutes that a single task may use. Split the file or choose faster options.`,
  };
}

/** Returns whether a task ended without being completed. */
export function endedBadly(task: Task): boolean {
  return hasEnded(task) && task.status !== 'completed';
}

function missingInput(id: string): TaskFailure {
  return { errorCode: 'processing_failed', msg: `The input task ${id} no longer exists.` };
}

/** Returns the failure of a task by one of its inputs: one that ended badly, or that has no record any more. */
export function failureBy(input: Task | undefined, id: string): TaskFailure | undefined {
  if (!input) return missingInput(id);
  if (!endedBadly(input)) return undefined;
  return {
    errorCode: input.status === 'deleted' ? 'user_deleted_task' : 'processing_failed',
    msg: `The input ${describeEnd(input)}`,
  };
}

/** Describes how a task ended that was not completed. */
export function describeEnd(task: Task): string {
  const which = `task "${task.name}" (${task.id})`;
  if (task.status === 'canceled') return `${which} was canceled.`;
  if (task.status === 'deleted') return `${which} was deleted.`;
  return `${which} failed: ${task.failure?.msg ?? task.failure?.errorCode ?? 'no reason was recorded.'}`;
}

/** Returns why a job failed whose task ended so. */
export function jobErrorOf(task: Task): JobErrorCode {
  if (task.status === 'canceled') return 'task_canceled';
  return task.status === 'deleted' ? 'task_deleted' : 'task_failed';
}
