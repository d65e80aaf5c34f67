import { type Duration, Names } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IEventSource, IFunction } from 'aws-cdk-lib/aws-lambda';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';

export interface QueueSourceProps {
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
export class QueueSource implements IEventSource {
  readonly #queue: IQueue;
  readonly #props: QueueSourceProps;

  constructor(queue: IQueue, props: QueueSourceProps) {
    this.#queue = queue;
    this.#props = props;
  }

  bind(target: IFunction): void {
    const { hidesMessages, ...props } = this.#props;
    const { queueArn } = this.#queue;
    // The library's name for it, by which a deployed stack knows it.
    target.addEventSourceMapping(`SqsEventSource:${Names.nodeUniqueId(this.#queue.node)}`, {
      ...props,
      eventSourceArn: queueArn,
    });
    const actions = [...pollerActions, ...(hidesMessages ? ['sqs:ChangeMessageVisibility'] : [])];
    target.addToRolePolicy(new PolicyStatement({ actions, resources: [queueArn] }));
  }
}
