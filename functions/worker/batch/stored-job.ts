import { get, type Item, remove, update, updateOrRead } from '../../../shared/aws/table.ts';
import { partitions } from '../../../shared/aws/table-schema.ts';
import type { JsonObject, Task } from '../../../shared/tasks/task.ts';

/** A job that was submitted for a task. */
export interface SubmittedJob {
  /** The id that Batch gave it. */
  id: string;
  /** Unguessable part of the keys of its objects. */
  token: string;
  /** In milliseconds. */
  submittedAt: number;
}

/** What is known about a task that runs on AWS Batch. */
export interface BatchRecord {
  /** How many jobs were submitted and counted. */
  count: number;
  /** How many of them broke off. */
  failures: number;
  job?: SubmittedJob;
  /** Details of the result that are known before the run. */
  details: JsonObject;
}

const sk = 'job';

/** Reads the job of a task; undefined if the task does not run on AWS Batch. */
export async function readBatch(id: string): Promise<BatchRecord | undefined> {
  const item = await get(keyOf(id));
  return item && recordOf(item);
}

/** Records that a task has to run on AWS Batch, unless it already does. */
export async function needBatch(
  { id, expiresAt }: Pick<Task, 'id' | 'expiresAt'>,
  details: JsonObject = {},
): Promise<BatchRecord> {
  const { item } = await updateOrRead(
    keyOf(id),
    'SET #count = :zero, #failures = :zero, #details = :details, #ttl = :ttl',
    {
      names: { '#count': 'count', '#failures': 'failures', '#details': 'details', '#ttl': 'ttl' },
      values: { ':zero': 0, ':details': JSON.stringify(details), ':ttl': Math.ceil(Date.parse(expiresAt) / 1000) },
      condition: 'attribute_not_exists(pk)',
    },
  );
  if (!item) throw new Error(`DynamoDB returned no item for the job of the task ${id}.`);
  return recordOf(item);
}

/** Makes a submitted job the one of its task. Returns undefined if another worker was faster; that job does not count. */
export async function keepJob(
  taskId: string,
  { count }: BatchRecord,
  job: SubmittedJob,
): Promise<BatchRecord | undefined> {
  const item = await update(keyOf(taskId), 'SET #count = :next, #job = :job', {
    names: { '#count': 'count', '#job': 'job' },
    values: { ':next': count + 1, ':job': job, ':count': count },
    condition: '#count = :count AND attribute_not_exists(#job)',
    returns: 'ALL_NEW',
  });
  return item && recordOf(item);
}

/** Drops the job of a task, so that another one follows. Returns undefined if another worker was faster. */
export async function dropJob(
  taskId: string,
  { count, failures }: BatchRecord,
  { hasFailed }: { hasFailed: boolean },
): Promise<BatchRecord | undefined> {
  const item = await update(keyOf(taskId), 'SET #failures = :failures REMOVE #job', {
    names: { '#count': 'count', '#job': 'job', '#failures': 'failures' },
    values: { ':count': count, ':failures': failures + (hasFailed ? 1 : 0) },
    condition: '#count = :count AND attribute_exists(#job)',
    returns: 'ALL_NEW',
  });
  return item && recordOf(item);
}

/** Removes what is known about a task that has ended. */
export async function removeBatch(id: string): Promise<void> {
  await remove(keyOf(id));
}

function keyOf(id: string) {
  return { pk: `${partitions.batchJob}${id}`, sk };
}

function recordOf({ count, failures, job, details }: Item): BatchRecord {
  const { id, token, submittedAt } = Object(job);
  return {
    count: Number(count),
    failures: Number(failures),
    ...(job ? { job: { id: String(id), token: String(token), submittedAt: Number(submittedAt) } } : {}),
    details: JSON.parse(String(details)),
  };
}
