import { defined } from '../defined.ts';
import { required } from '../settings.ts';
import { type JsonObject, revisionOf, type StoredFile, type Task, type TaskParts } from './task.ts';

/** Returns the download link of a file. It is a link of the service, valid as long as the task, without credentials. */
function linkTo(task: Task, file: StoredFile): string {
  return `${required('LATHE_URL')}/v1/files/${task.id}/${file.token}/${encodeURIComponent(file.name)}`;
}

/** Returns a task as the API presents it. */
export function presentTask(task: Task): JsonObject {
  return {
    id: task.id,
    version: revisionOf(task),
    name: task.name,
    operation: task.operation,
    status: task.status,
    payload: task.payload,
    dependsOn: task.dependsOn,
    ...(task.job ? { job: task.job } : {}),
    user: task.user,
    result: presentResult(task),
    ...defined({ progress: task.progress }),
    createdAt: task.createdAt,
    startedAt: task.startedAt ?? null,
    endedAt: task.endedAt ?? null,
    updatedAt: task.updatedAt,
    expiresAt: task.expiresAt,
  };
}

/** Fields of a result that only the service sets, never an engine. */
export const resultFields = [
  ...['url', 'files', 'form', 'errorCode', 'msg', 'conversionSeconds'],
  ...['parts', 'estimate', 'split_reason'],
] as const;

function presentResult(task: Task): JsonObject {
  const { usedMs } = task.meter ?? {};
  return { ...outcomeOf(task), ...(usedMs === undefined ? {} : { conversionSeconds: usedMs / 1000 }) };
}

function presentParts({ total, done, running, secondsLeft }: TaskParts): JsonObject {
  return { total, done, running, ...defined({ seconds_left: secondsLeft }) };
}

function outcomeOf(task: Task): JsonObject {
  if (task.failure) return { ...task.failure };
  if (task.form) {
    const { url, parameters } = task.form;
    const endpoint = task.uploadToken && `${required('LATHE_URL')}/v1/uploads/${task.id}/${task.uploadToken}`;
    return { form: { url, parameters, ...(endpoint ? { endpoint } : {}) } };
  }
  const [first] = task.files;
  if (!first) return task.parts ? { parts: presentParts(task.parts) } : {};
  return {
    ...task.details,
    url: linkTo(task, first),
    files: task.files.map((file) => ({
      url: linkTo(task, file),
      filename: file.name,
      size: file.size,
      format: file.format,
      media_type: file.mediaType,
    })),
  };
}
