import { Logger } from '@aws-lambda-powertools/logger';
import type { SQSEvent } from 'aws-lambda';
import type { WorkMessage } from '../../shared/aws/queues.ts';
import { workersLost } from '../../shared/lifecycle/lifecycle.ts';
import { hasEnded } from '../../shared/tasks/task.ts';
import { heartbeatWindowMs } from '../../shared/tasks/transitions.ts';
import { lifecycle } from '../wiring/lifecycle.ts';

const logger = new Logger({ serviceName: 'lathe' });

/** Fails the tasks of messages that no worker could finish. */
export async function handler(event: SQSEvent): Promise<void> {
  for (const record of event.Records) {
    const { taskId }: WorkMessage = JSON.parse(record.body);
    const task = await lifecycle.read(taskId);
    // What follows from an end is due until it is done, so the sweep resumes it.
    if (!task || hasEnded(task)) continue;
    // A duplicate of a message whose first delivery is being processed.
    if (task.status === 'processing' && (task.heartbeatAt ?? 0) + heartbeatWindowMs > Date.now()) continue;
    logger.error('no worker could finish the task', {
      taskId,
      jobId: task.job,
      operation: task.operation,
      attempt: task.attempt,
    });
    // Left to the sweep, too, where it fails; the message would be redelivered for days.
    const onError = (error: unknown) => logger.warn('left to the sweep', { taskId, error });
    await lifecycle.commit(taskId, { type: 'expired', failure: workersLost }, onError);
  }
}
