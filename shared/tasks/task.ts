import type { KeyLimits } from '../accounts/caller.ts';
import { groupOfId } from '../ids.ts';
import type { FileRole } from '../operations/operations.ts';
import type { Due } from './due.ts';
import type { Meter } from './meter.ts';

export const taskStatuses = ['created', 'processing', 'completed', 'canceled', 'failed', 'deleted'] as const;
export type TaskStatus = (typeof taskStatuses)[number];

export const taskErrorCodes = [
  'upload_timeout',
  'engine_timeout',
  'out_of_conversion_minutes',
  'out_of_conversion_minutes_per_task',
  'user_deleted_task',
  'insufficient_permission',
  'invalid_credentials',
  'processing_failed',
] as const;
export type TaskErrorCode = (typeof taskErrorCodes)[number];

/** A failure as the spec's `result` carries it. */
export interface TaskFailure {
  errorCode: TaskErrorCode;
  msg: string;
}

/** Returns the failure of a task that could not be processed. */
export function processingFailed(msg: string): TaskFailure {
  return { errorCode: 'processing_failed', msg };
}

export interface UploadForm {
  url: string;
  parameters: Record<string, string>;
}

/** The upload of a task's file in parts. */
export interface PartsUpload {
  /** The id of the multipart upload in S3. */
  id: string;
  key: string;
  /** The requested filename. */
  name: string;
  /** The declared size of the file, and when it was last modified in milliseconds; absent if the client did not declare it. */
  size?: number;
  modified?: number;
}

/** A file that a task imported or made. */
export interface StoredFile {
  key: string;
  name: string;
  size: number;
  /** Extension without a dot, detected from the content if possible. */
  format: string;
  /** The format of the content regardless of the name, see `Detected`; absent if the service made the file. */
  content?: string;
  mediaType: string;
  /** Unguessable part of the download link; a link is a capability, not a credential. */
  token: string;
}

/** A file of an input. */
export type GivenFile = StoredFile & {
  /** What it is for, if the task does not work on it. */
  role?: FileRole;
};

/** How far a split run is. */
export interface TaskParts {
  total: number;
  done: number;
  running: number;
  /** Estimated time until the end of the task; absent while nothing is known. */
  secondsLeft?: number;
}

export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };
export type JsonObject = { [key: string]: JsonValue };

/** A task. A task without a job is a group of its own, and schedules itself for the sweep. */
export interface Task extends Due {
  id: string;
  /** The account that owns it. */
  user: string;
  /** The id of the API key that created it; absent if a person did. */
  key?: string;
  /** Limits of that key that apply while the task runs. */
  limits?: KeyLimits;
  name: string;
  operation: string;
  status: TaskStatus;
  /** Parameters without `input` and `operation`, with secrets masked. */
  payload: JsonObject;
  /** Whether its secrets are stored in the bucket until it ends. Neither records nor messages contain them. */
  hasSecrets?: boolean;
  dependsOn: string[];
  /** The roles of its last inputs, if it has files in addition to those it works on. */
  roles?: FileRole[];
  /** Tasks to notify when this one ends: those of its group, and later tasks that use it as an input. */
  dependents: string[];
  job?: string;
  form?: UploadForm;
  /** When the form expires, in milliseconds. */
  formUntil?: number;
  /** Unguessable part of the address for uploading the file in parts; like the form, a capability. */
  uploadToken?: string;
  /** The upload of the file in parts, if one was started. */
  upload?: PartsUpload;
  failure?: TaskFailure;
  /** The input whose end failed the task. */
  failedBy?: string;
  files: StoredFile[];
  /** Facts about the result that the API shows with the links, such as sizes before and after. */
  details?: JsonObject;
  progress?: number;
  /** Its parts while it runs, if its run is split. */
  parts?: TaskParts;
  /** The run that owns the task; writes of earlier runs are refused. */
  attempt: number;
  /** How many runs returned the task to its queue. Those runs were not lost. */
  returns?: number;
  /**
   * When the next run of a returned task is due, in milliseconds; absent while a run owns the task. Until then the task is not
   * lost, and a message that is delivered twice starts no second run.
   */
  resumesAt?: number;
  /** When the owner last sent a heartbeat, in milliseconds; absent while no run owns the task. */
  heartbeatAt?: number;
  createdAt: string;
  startedAt?: string;
  endedAt?: string;
  updatedAt: string;
  expiresAt: string;
  /** Counts every write, so that no two overwrite each other. */
  version: number;
  /** Counts the visible changes, from 1 if absent. Subscribers order events by it. */
  revision?: number;
  /** Whether the function that completed its inputs performed it in the same step, without a worker of its own. */
  isPerformed?: boolean;
  /** Its engine time; absent if it needs no engine. */
  meter?: Meter;
  /** The part of its job's open set that holds the task, if the set is too large for one record. */
  openIn?: string;
}

/** Returns the files of the inputs of a task, with their roles. */
export function filesOf({ roles = [] }: Pick<Task, 'roles'>, inputs: Pick<Task, 'files'>[]): GivenFile[] {
  const first = inputs.length - roles.length;
  return inputs.flatMap(({ files }, index) => {
    const role = roles[index - first];
    return role === undefined ? files : files.map((file) => ({ ...file, role }));
  });
}

/** Returns whether a task is in a final state, from which it can only be deleted. */
export function hasEnded(task: Pick<Task, 'status'>): boolean {
  return task.status !== 'created' && task.status !== 'processing';
}

/** Returns how often a record has visibly changed. */
export function revisionOf(record: { revision?: number }): number {
  return record.revision ?? 1;
}

/** Returns whether a record is deleted or expired, although it may still exist. */
export function isDeletedOrExpired(record: { status: string; expiresAt: string }, now: number): boolean {
  return record.status === 'deleted' || Date.parse(record.expiresAt) <= now;
}

/** Returns whether a record is a task and not a job. */
export function isTask(record: Task | { tasks: string[] }): record is Task {
  return 'operation' in record;
}

/** Returns whether no task of the same job depends on a task. A job is complete when all such tasks are. */
export function isLastOfJob(task: Task): boolean {
  const group = groupOfId(task.id);
  return task.job !== undefined && !task.dependents.some((id) => groupOfId(id) === group);
}
