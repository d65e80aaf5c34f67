import { Logger } from '@aws-lambda-powertools/logger';
import type { Context } from 'aws-lambda';
import { deleteFilesBefore, objectExists } from '../../shared/aws/objects.ts';
import { sendUploadNotification } from '../../shared/aws/queues.ts';
import { records } from '../../shared/aws/records.ts';
import { deliveries } from '../../shared/aws/webhook-deliveries.ts';
import { mapAtOnce } from '../../shared/concurrency.ts';
import { objectPrefixes, uploadKey } from '../../shared/files/keys.ts';
import { firstIdAt } from '../../shared/ids.ts';
import type { Job } from '../../shared/jobs/job.ts';
import type { PostedFiles } from '../../shared/lifecycle/recover.ts';
import { writeMetrics } from '../../shared/metrics.ts';
import { isTask, type Task } from '../../shared/tasks/task.ts';
import { pingConnections, sweepsBetweenPings } from '../events/websocket/pings.ts';
import { lifecycle } from '../wiring/lifecycle.ts';
import { settings } from '../wiring/settings.ts';
import { settleDeadLetters } from './dead-letters.ts';

const logger = new Logger({ serviceName: 'lathe' });
const batch = 400;
const reserveMs = 10_000;
const looksAtOnce = 16;
/** Imported by the function that posts are notified to: a sweep may have no time left to copy a large file. */
const posted: PostedFiles = {
  exists: ({ id }) => objectExists(uploadKey(id)),
  importAgain: ({ id }) => {
    logger.warn('the notification of a posted file was lost', { taskId: id });
    return sendUploadNotification(uploadKey(id));
  },
};

/** Links end by the clock and not by this, and a list of every prefix in each minute of a month would cost more than a dollar. */
const deleteFiles = inEvery(10, deleteOldFiles);
/** Looking for dead letters takes a second, in which an idle sweep has nothing else to do, and makes up most of what it costs. */
const settleUnexpected = inEvery(5, settleDeadLetters);

const ping = inEvery(sweepsBetweenPings, pingConnections);

/** Recovers lost and overdue work, settles dead letters, deletes expired files, and keeps idle connections open. */
export async function handler(_event: unknown, context: Context): Promise<void> {
  const hasTime = () => context.getRemainingTimeInMillis() > reserveMs;
  // A part that fails does not stop the others.
  const [recovered, filesDeleted, pinged] = await Promise.allSettled([
    recoverDue(hasTime),
    deleteFiles(),
    ping(logger),
  ]);
  // A task whose workers died is due, and its message may be a dead letter by now.
  const settle = countOf(recovered) === 0 ? settleUnexpected : settleDeadLetters;
  const [settled] = await Promise.allSettled([settle(logger, hasTime)]);
  logger.info('swept', {
    recovered: countOf(recovered),
    deadLettersSettled: countOf(settled),
    filesDeleted: countOf(filesDeleted),
    connectionsPinged: countOf(pinged),
  });
  const errors = [recovered, settled, filesDeleted, pinged].flatMap((part) =>
    part.status === 'rejected' ? part.reason : [],
  );
  if (errors.length > 0) throw new AggregateError(errors, `The sweep failed: ${errors.join('; ')}`);
}

function countOf(part: PromiseSettledResult<number>): number | undefined {
  return part.status === 'fulfilled' ? part.value : undefined;
}

/** Limits a part of the sweep to every so many runs, and the first of each environment. */
function inEvery<Args extends unknown[]>(
  runs: number,
  part: (...args: Args) => Promise<number>,
): (...args: Args) => Promise<number> {
  // Half a run less, since schedules are not exact.
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
    const heads = due.heads.filter(isNew);
    const calls = due.deliveries.filter(({ webhook, delivery }) => isNew({ id: `${webhook} ${delivery}` }));
    await mapAtOnce(heads, looksAtOnce, lookAt);
    for (const ref of calls)
      await attemptRecovery(
        ref,
        () => deliveries.recover(ref),
        () => deliveries.recoveryFailed(ref),
      );
    found = heads.length + calls.length > 0;
  }
  return seen.size;
}

/** Looks at a group that is due. One that fails must not delay the others: it is due again later, and given up after a few attempts. */
async function lookAt(head: Task | Job): Promise<void> {
  const ids = isTask(head) ? { taskId: head.id, jobId: head.job } : { jobId: head.id };
  try {
    const { late, errors, isGivenUp } = await lifecycle.recover(head, posted);
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
  return deleted.reduce((sum, count) => sum + count, 0);
}

/** Recovers a delivery, as the groups above are. */
async function attemptRecovery(ids: object, work: () => Promise<void>, failed: () => Promise<boolean>): Promise<void> {
  try {
    await work();
    logger.info('recovered', { ...ids });
  } catch (error) {
    try {
      reportFailure(ids, error, await failed());
    } catch (cause) {
      logger.error('a failed recovery could not be recorded', { ...ids, error, cause });
    }
  }
}

function reportFailure(ids: object, error: unknown, isGivenUp: boolean): void {
  if (isGivenUp) logger.error('a record could not be recovered and was given up', { ...ids, error });
  else logger.warn('a record could not be recovered and is due again later', { ...ids, error });
}
