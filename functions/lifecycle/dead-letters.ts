import type { Logger } from '@aws-lambda-powertools/logger';
import type { S3Event } from 'aws-lambda';
import {
  deadLettersOf,
  deleteMessages,
  queueUrlOf,
  receiveMessages,
  type WorkMessage,
} from '../../shared/aws/queues.ts';
import { taskOfKey } from '../../shared/files/keys.ts';
import { workersLost } from '../../shared/lifecycle/ends.ts';
import { hasEnded } from '../../shared/tasks/task.ts';
import { heartbeatWindowMs } from '../../shared/tasks/transitions.ts';
import { engineCatalogues } from '../catalogue/catalogues.ts';
import { lifecycle } from '../wiring/lifecycle.ts';

/** Receives per queue and run, of up to ten messages each. A flood of dead letters must not delay the rest of the sweep. */
const maxReceives = 10;

const sources = [...engineCatalogues.map(({ engine }) => engine), 'uploads'];
/** Read once per environment, because they never change during its life. */
let deadLetterQueues: string[] | undefined;

/**
 * Fails the tasks of dead letters, and deletes the messages that are resolved. The others stay for the alarm and for an operator
 * who sends them again. Returns the number of resolved messages.
 */
export async function resolveDeadLetters(logger: Logger, hasTime: () => boolean): Promise<number> {
  // A set, since engines may share one queue.
  deadLetterQueues ??= await Promise.all([...new Set(sources.map((name) => queueUrlOf(name)))].map(deadLettersOf));
  const counts = await Promise.all(deadLetterQueues.map((queue) => resolveQueue(queue, logger, hasTime)));
  return counts.reduce((sum, count) => sum + count, 0);
}

async function resolveQueue(queue: string, logger: Logger, hasTime: () => boolean): Promise<number> {
  let count = 0;
  for (let receive = 0; receive < maxReceives && hasTime(); receive++) {
    const messages = await receiveMessages(queue);
    if (messages.length === 0) break;
    const resolved = [];
    for (const message of messages) if (await isResolved(message.Body ?? '', logger)) resolved.push(message);
    await deleteMessages(queue, resolved);
    count += resolved.length;
  }
  return count;
}

async function isResolved(body: string, logger: Logger): Promise<boolean> {
  try {
    const message: WorkMessage | Partial<S3Event> = JSON.parse(body);
    return 'taskId' in message ? await failTask(message.taskId, logger) : await haveTasksEnded(message);
  } catch (error) {
    logger.error('a dead letter could not be resolved', { body, error });
    return false;
  }
}

/** Fails the task of a message that no worker could finish. */
async function failTask(taskId: string, logger: Logger): Promise<true> {
  const task = await lifecycle.read(taskId);
  if (!task) return true;
  // No worker could settle the end.
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
  // Consequences that fail are left to the sweep, because the message would be redelivered for days.
  const onError = (error: unknown) => logger.warn('left to the sweep', { taskId, error });
  await lifecycle.commit(taskId, { type: 'expired', failure: workersLost }, onError);
  return true;
}

/**
 * Returns whether the tasks of a notification have all ended. Until then the notification stays and can be sent again. When the
 * form of a task expires, the sweep imports its file.
 */
async function haveTasksEnded({ Records = [] }: Partial<S3Event>): Promise<boolean> {
  for (const { s3 } of Records) {
    const task = await lifecycle.read(taskOfKey(s3.object.key) ?? '');
    if (task && !hasEnded(task)) return false;
  }
  return true;
}
