import { type Duration, Names } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import type { BaseFunction } from './function.ts';

interface QueueSourceProps {
  batchSize: number;
  maxBatchingWindow?: Duration;
  reportBatchItemFailures?: boolean;
  maxConcurrency?: number;
  /** Whether the function itself changes how long its message is hidden. */
  hidesMessages?: boolean;
}

/** What Lambda calls with the role of a function that it invokes with messages. */
const pollerActions = ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'];

/**
 * Invokes a function with the messages of a queue. In place of the library's own source, which allows every function to look
 * up the queue and to hide messages.
 */
export function consume(target: BaseFunction, queue: IQueue, { hidesMessages, ...props }: QueueSourceProps): void {
  const { queueArn } = queue;
  // The library's name for it, by which a deployed stack knows it.
  target.function.addEventSourceMapping(`SqsEventSource:${Names.nodeUniqueId(queue.node)}`, {
    ...props,
    eventSourceArn: queueArn,
  });
  const actions = [...pollerActions, ...(hidesMessages ? ['sqs:ChangeMessageVisibility'] : [])];
  target.allow(new PolicyStatement({ actions, resources: [queueArn] }));
}
