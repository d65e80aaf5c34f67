import { type Duration, Names } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import type { BaseFunction } from './function.ts';

interface QueueSourceProps {
  batchSize: number;
  maxBatchingWindow?: Duration;
  reportBatchItemFailures?: boolean;
  maxConcurrency?: number;
  /** Whether the function changes the visibility timeout of its messages. */
  hidesMessages?: boolean;
}

/** The calls that Lambda makes with the role of a function with a queue as its event source. */
const pollerActions = ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'];

/**
 * Invokes a function with the messages of a queue. The CDK's own event source would also allow the function to look up
 * the queue and to hide messages.
 */
export function consume(target: BaseFunction, queue: IQueue, { hidesMessages, ...props }: QueueSourceProps): void {
  const { queueArn } = queue;
  // The CDK's id for it, which deployed stacks already have.
  target.function.addEventSourceMapping(`SqsEventSource:${Names.nodeUniqueId(queue.node)}`, {
    ...props,
    eventSourceArn: queueArn,
  });
  const actions = [...pollerActions, ...(hidesMessages ? ['sqs:ChangeMessageVisibility'] : [])];
  target.allow(new PolicyStatement({ actions, resources: [queueArn] }));
}
