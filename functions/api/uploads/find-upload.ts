import { records } from '../../../shared/aws/stores/records.ts';
import type { NoChange } from '../../../shared/lifecycle/change-record.ts';
import {
  hasEnded,
  isDeletedOrExpired,
  type PartsUpload,
  type Task,
  type UploadForm,
} from '../../../shared/tasks/task.ts';
import type { Decision } from '../../../shared/tasks/transitions.ts';
import { sameToken } from '../files/same-token.ts';
import { conflict, notFound } from '../http/errors.ts';

type Path = { taskId: string; token: string };

/** Returns the task of an upload address. Throws the same 404 for unknown and expired tasks and for wrong tokens. */
export async function findTask({ taskId, token }: Path): Promise<Task> {
  const task = await records.task(taskId);
  if (!task?.uploadToken || isDeletedOrExpired(task, Date.now()) || !sameToken(task.uploadToken, token))
    throw notFound('There is no such upload: the address is wrong, or the task was deleted or has expired.');
  return task;
}

/** Returns the task of an upload address while it waits for its file, or throws. */
export async function findWaitingTask(path: Path): Promise<Task & { form: UploadForm }> {
  return requireWaiting(await findTask(path));
}

/** Throws unless a task waits for its file. */
export function requireWaiting(task: Task): Task & { form: UploadForm } {
  const { form, formUntil = 0 } = task;
  if (hasEnded(task) || !form) throw hasEndedConflict(task);
  if (formUntil <= Date.now()) throw conflict('The time for the upload is over. Create another task.');
  return { ...task, form };
}

/** Returns the upload in parts of a task, or throws the 404. */
export function partsOf({ upload }: Task, uploadId: string): PartsUpload {
  if (upload?.id !== uploadId) throw noSuchUpload(uploadId);
  return upload;
}

/** Builds the 404 for an upload that was aborted or replaced, or never existed. */
export function noSuchUpload(uploadId: string) {
  return notFound(`There is no upload ${uploadId}: it was aborted, or another one was started.`);
}

/** Throws unless a change of the upload was written. */
export function assertChanged(decision: Decision | NoChange, task: Task): void {
  if (decision.outcome === 'missing') throw notFound('There is no such upload: the task was deleted.');
  if (decision.outcome !== 'changed') throw hasEndedConflict(task);
}

function hasEndedConflict({ status }: Task) {
  return conflict(`The task no longer waits for its file: its status is ${status}.`);
}
