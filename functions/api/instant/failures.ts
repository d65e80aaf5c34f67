import type { TaskFailure } from '../../../shared/tasks/task.ts';
import { HttpError } from '../http/errors.ts';

/** Statuses of failures that a task would have; 422 for all others. */
const statuses: Partial<Record<TaskFailure['errorCode'], number>> = {
  insufficient_permission: 403,
  out_of_conversion_minutes: 403,
  out_of_conversion_minutes_per_task: 403,
  engine_timeout: 504,
};

/** The failure of a request whose engine ended without a result. Tasks are retried instead. */
export const broken: TaskFailure = {
  errorCode: 'processing_failed',
  msg: 'The engine ended without a result: the file may be damaged, or too large for it. A job is retried automatically: POST /v1/process/jobs, or this request with Prefer: respond-async.',
};

/** Returns the error response for a failure that a task would have. */
export function failedRequest({ errorCode, msg }: TaskFailure): HttpError {
  return new HttpError(statuses[errorCode] ?? 422, errorCode, msg);
}

/** Returns the error response for a request that takes longer than it may. */
export function outOfTime(): HttpError {
  return new HttpError(
    504,
    'engine_timeout',
    'The conversion took longer than an instant request may. Create a job instead: POST /v1/process/jobs, or this request with Prefer: respond-async.',
  );
}
