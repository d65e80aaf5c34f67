import { Duration } from 'aws-cdk-lib';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';

/** Deliveries after which a message goes to the dead-letter queue: as few as AWS advises, since a throttled invocation counts as one. */
export const maxReceives = 5;

/**
 * Returns how long a queue hides a received message, as AWS advises: six times as long as its function may run, and the
 * batching window. While the function is throttled Lambda holds the message and tries again; one that becomes visible
 * meanwhile is received again, which brings it closer to the dead letters.
 */
export function advisedVisibility(consumerTimeout: Duration, batchingWindow = Duration.seconds(0)): Duration {
  return Duration.seconds(6 * consumerTimeout.toSeconds() + batchingWindow.toSeconds());
}

/** A queue with its dead-letter queue. */
export class WorkQueue extends Construct {
  readonly queue: Queue;
  readonly deadLetters: Queue;

  constructor(scope: Construct, id: string, props: { consumerTimeout: Duration }) {
    super(scope, id);
    this.deadLetters = new Queue(this, 'DeadLetters', {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
      // Longer than a sweep, which reads them.
      visibilityTimeout: Duration.minutes(6),
    });
    this.queue = new Queue(this, 'Queue', {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(4),
      // Workers shorten it once they have received the message.
      visibilityTimeout: advisedVisibility(props.consumerTimeout),
      deadLetterQueue: { queue: this.deadLetters, maxReceiveCount: maxReceives },
    });
  }
}
