import { Logger } from '@aws-lambda-powertools/logger';
import type { SQSEvent } from 'aws-lambda';
import type { WorkMessage } from '../../shared/aws/queues.ts';
import { workersLost } from '../../shared/lifecycle/lifecycle.ts';
import { hasEnded } from '../../shared/tasks/task.ts';
import { heartbeatWindowMs } from '../../shared/tasks/transitions.ts';
import { lifecycle } from '../wiring/lifecycle.ts';

const logger = new Logger({ serviceName: 'lathe' });

/** Turns messages that no worker could finish into failed tasks: nobody else reads a dead-letter queue. */
export async function handler(event: SQSEvent): Promise<void> {
  for (const record of event.Records) {
    const { taskId }: WorkMessage = JSON.parse(record.body);
    const task = await lifecycle.read(taskId);
    if (!task) continue;
    // What follows from an end and fails is the sweep's; the message would come again for days.
    const onError = (error: unknown) => logger.warn('left to the sweep', { taskId, error });
    if (hasEnded(task)) await lifecycle.settle(task).catch(onError);
    // A duplicate of a message whose first delivery is being worked on.
    else if (task.status === 'processing' && (task.heartbeatAt ?? 0) + heartbeatWindowMs > Date.now()) continue;
    else {
      logger.error('no worker could finish the task', { taskId, operation: task.operation, attempt: task.attempt });
      await lifecycle.commit(taskId, { type: 'expired', failure: workersLost }, onError);
    }
  }
}
