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
    if (!task) continue;
    // What follows from an end and fails is left to the sweep; the message would be redelivered for days.
    const onError = (error: unknown) => logger.warn('left to the sweep', { taskId, error });
    if (hasEnded(task)) await lifecycle.settle(task).catch(onError);
    // A duplicate of a message whose first delivery is being processed.
    else if (task.status === 'processing' && (task.heartbeatAt ?? 0) + heartbeatWindowMs > Date.now()) continue;
    else {
      logger.error('no worker could finish the task', { taskId, operation: task.operation, attempt: task.attempt });
      await lifecycle.commit(taskId, { type: 'expired', failure: workersLost }, onError);
    }
  }
}
