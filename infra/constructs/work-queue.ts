import { Duration } from 'aws-cdk-lib';
import { Queue, QueueEncryption, type QueueProps } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';

/**
 * Deliveries before a message moves to the dead-letter queue: the minimum that AWS advises, since a throttled
 * invocation counts as one.
 */
export const maxReceives = 5;

/**
 * Returns the visibility timeout that AWS advises: six times the function's timeout, plus the batching window. While
 * the function is throttled, Lambda keeps the message and retries. A message that becomes visible meanwhile is received
 * again, which brings it closer to the dead-letter queue.
 */
export function advisedVisibility(consumerTimeout: Duration, batchingWindow = Duration.seconds(0)): Duration {
  return Duration.seconds(6 * consumerTimeout.toSeconds() + batchingWindow.toSeconds());
}

/** Creates an encrypted queue that refuses requests without TLS. */
export function protectedQueue(scope: Construct, id: string, props: QueueProps): Queue {
  return new Queue(scope, id, { encryption: QueueEncryption.SQS_MANAGED, enforceSSL: true, ...props });
}

/** A queue with its dead-letter queue. */
export class WorkQueue extends Construct {
  readonly queue: Queue;
  readonly deadLetters: Queue;

  constructor(scope: Construct, id: string, props: { consumerTimeout: Duration }) {
    super(scope, id);
    this.deadLetters = protectedQueue(this, 'DeadLetters', {
      retentionPeriod: Duration.days(14),
      // Longer than a sweep, which reads them.
      visibilityTimeout: Duration.minutes(6),
    });
    this.queue = protectedQueue(this, 'Queue', {
      retentionPeriod: Duration.days(4),
      // Workers shorten it after receiving a message.
      visibilityTimeout: advisedVisibility(props.consumerTimeout),
      deadLetterQueue: { queue: this.deadLetters, maxReceiveCount: maxReceives },
    });
  }
}
