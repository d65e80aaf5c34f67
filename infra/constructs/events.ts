import { Duration } from 'aws-cdk-lib';
import { EventBus } from 'aws-cdk-lib/aws-events';
import { SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources';
import { DeduplicationScope, FifoThroughputLimit, Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { Permission } from '../../shared/permissions.ts';
import { type Resources, statementsFor, variablesFor } from '../permissions.ts';
import { ZipFunction } from './function.ts';

const relayTimeout = Duration.seconds(10);
/** A relay that died holds back the events of the jobs it had in hand for this long: its time-out, after a slow start. */
const relayHold = Duration.seconds(15);
/** As many as SQS takes: nobody hears of an event that is given up, so the relay may fail for hours before one is. */
const mostRelayReceives = 1000;
const progressTimeout = Duration.seconds(30);
/** Longer than a batch of receivers that all hang until they are given up. */
const deliverTimeout = Duration.seconds(60);
const mostReceives = 10;

/** What tells the world of changes: the queue that keeps the order within each job, the relay, webhooks, and the bus. */
export class Events extends Construct {
  readonly queue: Queue;
  readonly progress: Queue;
  readonly webhooks: Queue;
  readonly bus: EventBus;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.queue = new Queue(this, 'Queue', {
      encryption: QueueEncryption.SQS_MANAGED,
      fifo: true,
      deduplicationScope: DeduplicationScope.MESSAGE_GROUP,
      fifoThroughputLimit: FifoThroughputLimit.PER_MESSAGE_GROUP_ID,
      retentionPeriod: Duration.days(4),
      visibilityTimeout: relayHold,
      deadLetterQueue: {
        maxReceiveCount: mostRelayReceives,
        queue: new Queue(this, 'DeadLetters', {
          encryption: QueueEncryption.SQS_MANAGED,
          fifo: true,
          retentionPeriod: Duration.days(14),
        }),
      },
    });
    // Progress is worth nothing when it is old.
    this.progress = this.#standardQueue('ProgressQueue', progressTimeout, Duration.minutes(5));
    this.webhooks = this.#standardQueue('WebhooksQueue', deliverTimeout, Duration.days(14));
    this.bus = new EventBus(this, 'Bus', { description: 'What happens to the jobs and tasks of Lathe' });
  }

  /** Adds the functions, which come after everything they tell. */
  addConsumers(resources: Resources, environment: Record<string, string>): void {
    const relay = this.#add(
      'relay',
      'Relay',
      'Shows what was announced to sockets, and passes it on to webhooks and the bus',
      relayTimeout,
      ['records:read', 'records:write', 'records:query', 'sockets:manage', 'bus:put', 'events:send', 'webhooks:send'],
      resources,
      environment,
    );
    relay.function.addEventSource(
      new SqsEventSource(this.queue, { batchSize: 10, reportBatchItemFailures: true, maxConcurrency: 100 }),
    );
    const progress = this.#add(
      'relay',
      'Progress',
      'Thins out the progress of tasks',
      progressTimeout,
      ['records:read', 'bus:put', 'events:send'],
      resources,
      environment,
    );
    progress.function.addEventSource(
      new SqsEventSource(this.progress, {
        batchSize: 1000,
        maxBatchingWindow: Duration.seconds(1),
        maxConcurrency: 2,
      }),
    );
    const deliver = this.#add(
      'webhooks',
      'Deliver',
      'Calls webhooks',
      deliverTimeout,
      ['records:read', 'records:write', 'webhooks:send'],
      resources,
      environment,
    );
    deliver.function.addEventSource(
      new SqsEventSource(this.webhooks, { batchSize: 10, reportBatchItemFailures: true, maxConcurrency: 50 }),
    );
  }

  #standardQueue(id: string, visibilityTimeout: Duration, retentionPeriod: Duration): Queue {
    return new Queue(this, id, {
      encryption: QueueEncryption.SQS_MANAGED,
      retentionPeriod,
      visibilityTimeout,
      deadLetterQueue: {
        maxReceiveCount: mostReceives,
        queue: new Queue(this, `${id}DeadLetters`, {
          encryption: QueueEncryption.SQS_MANAGED,
          retentionPeriod: Duration.days(14),
        }),
      },
    });
  }

  #add(
    folder: string,
    id: string,
    description: string,
    timeout: Duration,
    permissions: Permission[],
    resources: Resources,
    environment: Record<string, string>,
  ): ZipFunction {
    return new ZipFunction(this, id, {
      entry: `functions/events/${folder}/${id.toLowerCase()}.ts`,
      description,
      timeout,
      memoryMegabytes: 512,
      environment: { ...environment, ...variablesFor(permissions, resources) },
      statements: statementsFor(permissions, resources),
    });
  }
}
