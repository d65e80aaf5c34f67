import { Logger } from '@aws-lambda-powertools/logger';
import type { SQSBatchItemFailure, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import type { EventMessage } from '../../../shared/aws/events.ts';
import { deliveries } from '../../../shared/aws/stores/webhook-deliveries.ts';
import type { ChangeEvent } from '../../../shared/events/change-event.ts';
import { presentFullJob, type Relay, relayFor } from './broadcast.ts';
import { putOnBus } from './bus.ts';

const logger = new Logger({ serviceName: 'lathe' });

/** A message of the queue, parsed once for subscribers, webhooks and the bus. */
type Received = {
  messageId: string;
  /** The message group: messages of one job stay in order. */
  group: string;
  // A message that cannot be parsed fails its group, not the whole batch.
} & ({ message: EventMessage } | { error: unknown });

/** Sends published changes to subscribed connections, webhooks and the bus. */
export async function handler(event: SQSEvent): Promise<SQSBatchResponse> {
  const received = event.Records.map(receive);
  const relay = relayFor(logger);
  // Concurrently, so that no subscriber waits for the bus. If the bus and its queue both fail, the batch is retried, and
  // subscribers do not receive events twice.
  const [failures] = await Promise.all([
    Promise.all([...Map.groupBy(received, ({ group }) => group).values()].map((messages) => inOrder(messages, relay))),
    putOnBus(received.flatMap(changeIn), logger),
  ]);
  return { batchItemFailures: failures.flat() };
}

function receive({ messageId, body, attributes }: SQSRecord): Received {
  const group = attributes.MessageGroupId ?? messageId;
  try {
    return { messageId, group, message: JSON.parse(body) };
  } catch (error) {
    return { messageId, group, error };
  }
}

/** Handles the messages of one job in order. After a failure the rest are retried too, to keep the order. */
async function inOrder(messages: Received[], relay: Relay): Promise<SQSBatchItemFailure[]> {
  for (const [index, received] of messages.entries()) {
    try {
      if ('error' in received) throw received.error;
      await handle(received.message, relay);
    } catch (error) {
      const { messageId, group } = received;
      logger.error('an event could not be passed on', { messageId, group, error });
      return messages.slice(index).map((message) => ({ itemIdentifier: message.messageId }));
    }
  }
  return [];
}

async function handle(message: EventMessage, relay: Relay): Promise<void> {
  // Concurrently, because the next messages of the job wait for both.
  await Promise.all([relay(message), planDeliveries(message)]);
  if (message.type === 'changed') logger.info('passed a change on', idsOf(message.change));
}

async function planDeliveries(message: EventMessage): Promise<void> {
  if (message.type !== 'changed' || message.change.type !== 'job') return;
  const { job, events } = message.change;
  await deliveries.plan(job, events, () => presentFullJob(job));
}

function idsOf(change: ChangeEvent): Record<string, unknown> {
  return change.type === 'task'
    ? { taskId: change.task.id, jobId: change.task.job, status: change.task.status }
    : { jobId: change.job.id, status: change.job.status, events: change.events };
}

function changeIn(received: Received): ChangeEvent[] {
  return 'message' in received && received.message.type === 'changed' ? [received.message.change] : [];
}
