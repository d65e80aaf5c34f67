import { Logger } from '@aws-lambda-powertools/logger';
import type { Context } from 'aws-lambda';
import { abortParts, listIncompleteUploads } from '../../shared/aws/incomplete-uploads.ts';
import { deleteFilesBefore, objectExists } from '../../shared/aws/objects.ts';
import { sendUploadNotification } from '../../shared/aws/queues.ts';
import { records } from '../../shared/aws/stores/records.ts';
import { deliveries } from '../../shared/aws/stores/webhook-deliveries.ts';
import { mapAtOnce } from '../../shared/concurrency.ts';
import { objectPrefixes, taskOfKey, uploadKey } from '../../shared/files/keys.ts';
import { firstIdAt } from '../../shared/ids.ts';
import type { GroupRecord } from '../../shared/lifecycle/dependencies.ts';
import type { PostedFiles } from '../../shared/lifecycle/recover.ts';
import { writeMetrics } from '../../shared/metrics.ts';
import { hasEnded, isTask, type Task } from '../../shared/tasks/task.ts';
import type { DeliveryRef } from '../../shared/webhooks/deliveries.ts';
import { pingConnections, sweepsBetweenPings } from '../events/websocket/pings.ts';
import { lifecycle } from '../wiring/lifecycle.ts';
import { settings } from '../wiring/settings.ts';
import { resolveDeadLetters } from './dead-letters.ts';

const logger = new Logger({ serviceName: 'lathe' });
const batch = 400;
const reserveMs = 10_000;
const groupsAtOnce = 16;
/** Longer than a function runs. */
const lostUploadMs = 20 * 60_000;
/** The function that receives the notifications imports the files: a sweep may have no time left to copy a large one. */
const posted: PostedFiles = {
  exists: async (task) => (await postedKeyOf(task)) !== undefined,
  importAgain: async (task) => {
    const key = await postedKeyOf(task);
    logger.warn('the notification of a posted file was lost', { taskId: task.id });
    if (key !== undefined) await sendUploadNotification(key);
  },
};

/** Returns the key of the file that a client has posted, or has completely uploaded in parts. */
async function postedKeyOf({ id, upload }: Task): Promise<string | undefined> {
  for (const key of [uploadKey(id), ...(upload ? [upload.key] : [])]) if (await objectExists(key)) return key;
  return undefined;
}

/** Links expire by the clock and not by the deletion. Listing every prefix each minute would cost more than a dollar a month. */
const deleteFiles = inEvery(20, deleteOldFiles);
/** Receiving dead letters takes a second and makes up most of the cost of an idle sweep. */
const resolveUnexpected = inEvery(10, resolveDeadLetters);

const ping = inEvery(sweepsBetweenPings, pingConnections);

/** Recovers lost and overdue work, resolves dead letters, deletes expired files, and keeps idle connections open. */
export async function handler(_event: unknown, context: Context): Promise<void> {
  const hasTime = () => context.getRemainingTimeInMillis() > reserveMs;
  // A failure of one does not stop the others.
  const [recovered, filesDeleted, pinged] = await Promise.allSettled([
    recoverDue(hasTime),
    deleteFiles(),
    ping(logger),
  ]);
  // A task whose workers died is due, and its message may be a dead letter by now.
  const resolve = countOf(recovered) === 0 ? resolveUnexpected : resolveDeadLetters;
  const [resolved] = await Promise.allSettled([resolve(logger, hasTime)]);
  logger.info('swept', {
    recovered: countOf(recovered),
    deadLettersResolved: countOf(resolved),
    filesDeleted: countOf(filesDeleted),
    connectionsPinged: countOf(pinged),
  });
  const errors = [recovered, resolved, filesDeleted, pinged].flatMap((part) =>
    part.status === 'rejected' ? part.reason : [],
  );
  if (errors.length > 0) throw new AggregateError(errors, `The sweep failed: ${errors.join('; ')}`);
}

function countOf(part: PromiseSettledResult<number>): number | undefined {
  return part.status === 'fulfilled' ? part.value : undefined;
}

/** Limits a part of the sweep to one of a number of runs, starting with the first of each environment. */
function inEvery<Args extends unknown[]>(
  runs: number,
  part: (...args: Args) => Promise<number>,
): (...args: Args) => Promise<number> {
  // Half a run less, because schedules are not exact.
  const pauseMs = (runs - 0.5) * settings.sweepSeconds * 1000;
  let last = 0;
  return async (...args) => {
    const now = Date.now();
    if (now - last < pauseMs) return 0;
    const count = await part(...args);
    last = now;
    return count;
  };
}

async function recoverDue(hasTime: () => boolean): Promise<number> {
  const seen = new Set<string>();
  const isNew = ({ id }: { id: string }) => !seen.has(id) && seen.add(id);
  for (let found = true; found && hasTime(); ) {
    const due = await records.due(Date.now(), batch);
    const groups = due.heads.filter(isNew);
    const calls = due.deliveries.filter(({ webhook, delivery }) => isNew({ id: `${webhook} ${delivery}` }));
    await mapAtOnce(groups, groupsAtOnce, recoverGroup);
    for (const ref of calls) await recoverDelivery(ref);
    found = groups.length + calls.length > 0;
  }
  return seen.size;
}

/** Recovers a group that is due. A failure does not delay the other groups: the group is due again later, and given up after a few attempts. */
async function recoverGroup(record: GroupRecord): Promise<void> {
  const ids = isTask(record) ? { taskId: record.id, jobId: record.job } : { jobId: record.id };
  try {
    const { late, errors, isGivenUp } = await lifecycle.recover(record, posted);
    for (const task of late) {
      writeMetrics({ LateTasks: 1 }, {}, { taskId: task.id, jobId: task.job, operation: task.operation });
      logger.warn('a task was queued again', { taskId: task.id, jobId: task.job });
    }
    if (errors.length > 0) reportFailure(ids, errors[0], isGivenUp);
  } catch (cause) {
    logger.error('a failed recovery could not be recorded', { ...ids, cause });
  }
}

async function deleteOldFiles(): Promise<number> {
  const firstIdToKeep = firstIdAt(Date.now() - settings.fileSeconds * 1000);
  const deleted = await Promise.all(
    Object.values(objectPrefixes).map((prefix) => deleteFilesBefore(prefix, firstIdToKeep)),
  );
  await abortLostUploads(firstIdToKeep);
  return deleted.reduce((sum, count) => sum + count, 0);
}

/**
 * Aborts the incomplete uploads that nobody continues: those of tasks that ended or expired, and those of a function that died.
 * A younger upload may belong to a run that has not recorded it yet.
 */
async function abortLostUploads(firstIdToKeep: string): Promise<void> {
  const startedBefore = Date.now() - lostUploadMs;
  await mapAtOnce(await listIncompleteUploads(), groupsAtOnce, async (upload) => {
    const taskId = taskOfKey(upload.key) ?? '';
    if (taskId >= firstIdToKeep) {
      if (upload.startedAt >= startedBefore) return;
      const task = await records.task(taskId);
      if (task && !hasEnded(task) && (!task.upload || task.upload.id === upload.id)) return;
    }
    await abortParts(upload);
  });
}

/** Recovers a delivery in the same way as a group. */
async function recoverDelivery(ref: DeliveryRef): Promise<void> {
  try {
    await deliveries.recover(ref);
    logger.info('recovered', { ...ref });
  } catch (error) {
    try {
      reportFailure(ref, error, await deliveries.recoveryFailed(ref));
    } catch (cause) {
      logger.error('a failed recovery could not be recorded', { ...ref, error, cause });
    }
  }
}

function reportFailure(ids: object, error: unknown, isGivenUp: boolean): void {
  if (isGivenUp) logger.error('a record could not be recovered and was given up', { ...ids, error });
  else logger.warn('a record could not be recovered and is due again later', { ...ids, error });
}
