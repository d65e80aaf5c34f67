import { Logger } from '@aws-lambda-powertools/logger';
import type { SQSBatchItemFailure, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import type { EventMessage } from '../../../shared/aws/events.ts';
import type { ChangeEvent } from '../../../shared/events/change-event.ts';
import { deliveries } from '../../wiring/deliveries.ts';
import { presentFullJob, type Relay, relayFor } from './broadcast.ts';
import { putOnBus } from './bus.ts';

const logger = new Logger({ serviceName: 'lathe' });

/** Sends published changes to the connections that subscribe to them, and passes them on to webhooks and the bus. */
export async function handler(event: SQSEvent): Promise<SQSBatchResponse> {
  const groups = Map.groupBy(event.Records, ({ attributes, messageId }) => attributes.MessageGroupId ?? messageId);
  const relay = relayFor(logger);
  // In parallel, so that no subscriber waits for the bus. Where neither it nor its queue takes an event the batch is retried,
  // and nobody receives it twice.
  const [failures] = await Promise.all([
    Promise.all([...groups.values()].map((messages) => inOrder(messages, relay))),
    putOnBus(event.Records.flatMap(changeIn), logger),
  ]);
  return { batchItemFailures: failures.flat() };
}

/** Handles the messages of one job in order; those behind one that fails wait, or they would overtake it. */
async function inOrder(messages: SQSRecord[], relay: Relay): Promise<SQSBatchItemFailure[]> {
  for (const [index, { body, messageId }] of messages.entries()) {
    try {
      await handle(JSON.parse(body), relay);
    } catch (error) {
      logger.error('an event could not be passed on', {
        messageId,
        group: messages[0]?.attributes.MessageGroupId,
        error,
      });
      return messages.slice(index).map((message) => ({ itemIdentifier: message.messageId }));
    }
  }
  return [];
}

async function handle(message: EventMessage, relay: Relay): Promise<void> {
  await relay(message);
  if (message.type === 'changed') logger.info('passed a change on', idsOf(message.change));
  if (message.type !== 'changed' || message.change.type !== 'job') return;
  const { job, events } = message.change;
  await deliveries.plan(job, events, () => presentFullJob(job));
}

function idsOf(change: ChangeEvent): Record<string, unknown> {
  return change.type === 'task'
    ? { taskId: change.task.id, jobId: change.task.job, status: change.task.status }
    : { jobId: change.job.id, status: change.job.status, events: change.events };
}

function changeIn({ body }: SQSRecord) {
  const message: EventMessage = JSON.parse(body);
  return message.type === 'changed' ? [message.change] : [];
}
