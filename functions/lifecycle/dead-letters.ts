import type { Logger } from '@aws-lambda-powertools/logger';
import type { S3Event } from 'aws-lambda';
import {
  deadLettersOf,
  deleteMessages,
  queueVariable,
  receiveMessages,
  type WorkMessage,
} from '../../shared/aws/queues.ts';
import { taskOfKey } from '../../shared/files/keys.ts';
import { workersLost } from '../../shared/lifecycle/ends.ts';
import { required } from '../../shared/settings.ts';
import { hasEnded } from '../../shared/tasks/task.ts';
import { heartbeatWindowMs } from '../../shared/tasks/transitions.ts';
import { engineCatalogues } from '../catalogue/catalogues.ts';
import { lifecycle } from '../wiring/lifecycle.ts';

/** Receives of one queue in a run, of up to ten messages each: a flood of dead letters must not delay the rest of the sweep. */
const maxReceives = 10;

const sources = [...engineCatalogues.map(({ engine }) => engine), 'uploads'];
/** Asked for once by each environment: they never change while it lives. */
let deadLetterQueues: string[] | undefined;

/**
 * Settles dead letters of tasks, and deletes those that are settled. What cannot be settled stays, for the alarm and for
 * whoever sends it again by hand. Returns how many were settled.
 */
export async function settleDeadLetters(logger: Logger, hasTime: () => boolean): Promise<number> {
  // A set, since engines may share one queue.
  deadLetterQueues ??= await Promise.all(
    [...new Set(sources.map((name) => required(queueVariable(name))))].map(deadLettersOf),
  );
  const counts = await Promise.all(deadLetterQueues.map((queue) => settleQueue(queue, logger, hasTime)));
  return counts.reduce((sum, count) => sum + count, 0);
}

async function settleQueue(queue: string, logger: Logger, hasTime: () => boolean): Promise<number> {
  let count = 0;
  for (let receive = 0; receive < maxReceives && hasTime(); receive++) {
    const messages = await receiveMessages(queue);
    if (messages.length === 0) break;
    const settled = [];
    for (const message of messages) if (await isSettled(message.Body ?? '', logger)) settled.push(message);
    await deleteMessages(queue, settled);
    count += settled.length;
  }
  return count;
}

async function isSettled(body: string, logger: Logger): Promise<boolean> {
  try {
    const message: WorkMessage | Partial<S3Event> = JSON.parse(body);
    return 'taskId' in message ? await failTask(message.taskId, logger) : await hasNoUse(message);
  } catch (error) {
    logger.error('a dead letter could not be settled', { body, error });
    return false;
  }
}

/** Fails the task of a message that no worker could finish. */
async function failTask(taskId: string, logger: Logger): Promise<true> {
  const task = await lifecycle.read(taskId);
  if (!task) return true;
  // No worker could do all that follows from the end.
  if (hasEnded(task)) {
    await lifecycle.settle(task);
    return true;
  }
  // A duplicate of a message whose first delivery is being processed.
  if (task.status === 'processing' && (task.heartbeatAt ?? 0) + heartbeatWindowMs > Date.now()) return true;
  logger.error('no worker could finish the task', {
    taskId,
    jobId: task.job,
    operation: task.operation,
    attempt: task.attempt,
  });
  // Left to the sweep, too, where it fails; the message would be redelivered for days.
  const onError = (error: unknown) => logger.warn('left to the sweep', { taskId, error });
  await lifecycle.commit(taskId, { type: 'expired', failure: workersLost }, onError);
  return true;
}

/**
 * Returns whether the tasks of a notification have all ended. Until then it stays: it can be sent again, and when the form of
 * its task expires the sweep has the file imported.
 */
async function hasNoUse({ Records = [] }: Partial<S3Event>): Promise<boolean> {
  for (const { s3 } of Records) {
    const task = await lifecycle.read(taskOfKey(s3.object.key) ?? '');
    if (task && !hasEnded(task)) return false;
  }
  return true;
}
