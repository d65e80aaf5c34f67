import { Logger } from '@aws-lambda-powertools/logger';
import type { Context } from 'aws-lambda';
import { deleteFilesBefore } from '../../shared/aws/objects.ts';
import { records } from '../../shared/aws/records.ts';
import { objectPrefixes } from '../../shared/files/keys.ts';
import { firstIdAt } from '../../shared/ids.ts';
import { deliveries } from '../wiring/deliveries.ts';
import { lifecycle } from '../wiring/lifecycle.ts';
import { settings } from '../wiring/settings.ts';

const logger = new Logger({ serviceName: 'lathe' });
const batch = 400;
const reserveMs = 10_000;

/** Recovers lost and overdue work, and deletes expired files. */
export async function handler(_event: unknown, context: Context): Promise<void> {
  const seen = new Set<string>();
  const isNew = ({ id }: { id: string }) => !seen.has(id) && seen.add(id);
  for (let found = true; found && context.getRemainingTimeInMillis() > reserveMs; ) {
    const due = await records.due(Date.now(), batch);
    const tasks = due.tasks.filter(isNew);
    const jobs = due.jobs.filter(isNew);
    for (const task of tasks)
      await attemptRecovery(
        { taskId: task.id, jobId: task.job },
        () => lifecycle.recover(task),
        () => lifecycle.recoveryFailed(task),
      );
    for (const job of jobs)
      await attemptRecovery(
        { jobId: job.id },
        () => lifecycle.recoverJob(job),
        () => lifecycle.jobRecoveryFailed(job),
      );
    const calls = due.deliveries.filter(({ webhook, delivery }) => isNew({ id: `${webhook} ${delivery}` }));
    for (const ref of calls)
      await attemptRecovery(
        ref,
        () => deliveries.recover(ref),
        () => deliveries.recoveryFailed(ref),
      );
    found = tasks.length + jobs.length + calls.length > 0;
  }
  const firstIdToKeep = firstIdAt(Date.now() - settings.fileSeconds * 1000);
  const deleted = await Promise.all(
    Object.values(objectPrefixes).map((prefix) => deleteFilesBefore(prefix, firstIdToKeep)),
  );
  logger.info('swept', { recovered: seen.size, filesDeleted: deleted.reduce((sum, count) => sum + count, 0) });
}

/** Recovers one record. One that fails must not delay the others: it is due again later, and given up after a few attempts. */
async function attemptRecovery(ids: object, work: () => Promise<void>, failed: () => Promise<boolean>): Promise<void> {
  try {
    await work();
    logger.info('recovered', { ...ids });
  } catch (error) {
    try {
      if (await failed()) logger.error('a record could not be recovered and was given up', { ...ids, error });
      else logger.warn('a record could not be recovered and is due again later', { ...ids, error });
    } catch (cause) {
      logger.error('a failed recovery could not be recorded', { ...ids, error, cause });
    }
  }
}
