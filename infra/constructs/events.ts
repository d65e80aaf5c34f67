import { Duration } from 'aws-cdk-lib';
import { EventBus } from 'aws-cdk-lib/aws-events';
import { DeduplicationScope, FifoThroughputLimit, type Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { Permission } from '../../shared/permissions.ts';
import { type Resources, statementsFor, variablesFor } from '../permissions.ts';
import { presetOf, queueConcurrency } from '../sizes.ts';
import { ZipFunction } from './function.ts';
import { consume } from './queue-source.ts';
import { advisedVisibility, maxReceives, protectedQueue } from './work-queue.ts';

const relayTimeout = Duration.seconds(10);
/**
 * How long a relay that died blocks the events of the jobs in its batch: its timeout, after a slow start. AWS advises
 * six times the timeout, so that throttled messages do not become dead letters. This queue has no dead letters before
 * the thousandth receive, and subscribers notice a minute without events.
 */
const relayVisibilityTimeout = Duration.seconds(15);
/** The maximum of SQS. A dropped event reaches no subscriber, so the relay may fail for hours first. */
const maxRelayReceives = 1000;
const progressTimeout = Duration.seconds(30);
const progressWindow = Duration.seconds(1);
/** Longer than a batch in which every receiver times out. */
const deliverTimeout = Duration.seconds(60);

/** Publishes changes: the queue that keeps the order within each job, the relay, webhooks, and the event bus. */
export class Events extends Construct {
  readonly queue: Queue;
  /** Absent if progress is sent with the events: throttling it only pays off with many concurrent tasks. */
  readonly progress: Queue | undefined;
  readonly webhooks: Queue;
  readonly bus: EventBus;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.queue = protectedQueue(this, 'Queue', {
      fifo: true,
      deduplicationScope: DeduplicationScope.MESSAGE_GROUP,
      fifoThroughputLimit: FifoThroughputLimit.PER_MESSAGE_GROUP_ID,
      retentionPeriod: Duration.days(4),
      visibilityTimeout: relayVisibilityTimeout,
      deadLetterQueue: {
        maxReceiveCount: maxRelayReceives,
        queue: protectedQueue(this, 'DeadLetters', {
          fifo: true,
          retentionPeriod: Duration.days(14),
        }),
      },
    });
    // Old progress is worthless, but it is kept long enough for repeated failures to become dead letters.
    this.progress = presetOf(this).isShared
      ? undefined
      : this.#standardQueue('ProgressQueue', advisedVisibility(progressTimeout, progressWindow), Duration.minutes(20));
    this.webhooks = this.#standardQueue('WebhooksQueue', advisedVisibility(deliverTimeout), Duration.days(14));
    this.bus = new EventBus(this, 'Bus', { description: 'Events of the jobs and tasks of Lathe' });
  }

  /** Adds the functions. Called after everything they publish to exists. */
  addConsumers(resources: Resources, environment: Record<string, string>): void {
    const add = (folder: string, id: string, description: string, timeout: Duration, permissions: Permission[]) =>
      new ZipFunction(this, id, {
        entry: `functions/events/${folder}/${id.toLowerCase()}.ts`,
        description,
        timeout,
        memoryMegabytes: 512,
        environment: { ...environment, ...variablesFor(permissions, resources) },
        statements: statementsFor(permissions, resources),
      });
    const relaying = 'Publishes events to WebSocket subscribers, webhooks and the event bus';
    const relay = add('relay', 'Relay', relaying, relayTimeout, [
      'subscriber:query',
      'subscriber:put',
      'subscriber:update',
      'subscriber:delete',
      'connection:get',
      // Subscribers whose key or membership has ended receive nothing more.
      'apiKey:get',
      'account:get',
      'group:get',
      'group:batchGet',
      'webhook:query',
      'webhook:get',
      'delivery:get',
      'delivery:put',
      'sockets:post',
      'sockets:disconnect',
      'bus:put',
      'events:send',
      'webhooks:send',
    ]);
    const batches = { batchSize: 10, reportBatchItemFailures: true };
    consume(relay, this.queue, { ...batches, maxConcurrency: queueConcurrency(this, 100) });
    if (this.progress) {
      const throttles = 'Throttles progress events of tasks';
      const sends: Permission[] = ['subscriber:batchGet', 'bus:put', 'events:send', 'webhooks:send'];
      const progress = add('relay', 'Progress', throttles, progressTimeout, sends);
      consume(progress, this.progress, { batchSize: 1000, maxBatchingWindow: progressWindow, maxConcurrency: 2 });
    }
    const delivering = 'Delivers events to webhooks, and to the event bus if it refused them';
    const deliver = add('webhooks', 'Deliver', delivering, deliverTimeout, [
      'delivery:get',
      'delivery:put',
      'webhook:get',
      'webhook:update',
      'webhooks:send',
      'bus:put',
    ]);
    consume(deliver, this.webhooks, { ...batches, maxConcurrency: queueConcurrency(this, 50) });
  }

  #standardQueue(id: string, visibilityTimeout: Duration, retentionPeriod: Duration): Queue {
    return protectedQueue(this, id, {
      retentionPeriod,
      visibilityTimeout,
      deadLetterQueue: {
        maxReceiveCount: maxReceives,
        queue: protectedQueue(this, `${id}DeadLetters`, {
          retentionPeriod: Duration.days(14),
        }),
      },
    });
  }
}
