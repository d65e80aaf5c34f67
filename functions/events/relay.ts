import { Logger } from '@aws-lambda-powertools/logger';
import type { SQSBatchItemFailure, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { putOnBus } from '../../shared/events/bus.ts';
import type { EventMessage } from '../../shared/events/queue.ts';
import { presentWhole, relay } from '../../shared/events/relay.ts';
import { deliveries } from './webhooks.ts';

const logger = new Logger({ serviceName: 'lathe' });

/** Shows what was announced to the sockets that follow it, and passes it on to the bus. */
export async function handler(event: SQSEvent): Promise<SQSBatchResponse> {
  const groups = Map.groupBy(event.Records, ({ attributes, messageId }) => attributes.MessageGroupId ?? messageId);
  const failures = await Promise.all([...groups.values()].map(inOrder));
  return { batchItemFailures: failures.flat() };
}

/** Handles the messages of one job; after one that fails, those behind it wait, or they would overtake it. */
async function inOrder(messages: SQSRecord[]): Promise<SQSBatchItemFailure[]> {
  for (const [index, { body }] of messages.entries()) {
    try {
      await handle(JSON.parse(body));
    } catch (error) {
      logger.error('an event could not be passed on', { error });
      return messages.slice(index).map(({ messageId: itemIdentifier }) => ({ itemIdentifier }));
    }
  }
  return [];
}

async function handle(message: EventMessage): Promise<void> {
  await relay(message, logger);
  if (message.type !== 'announced') return;
  const { announcement } = message;
  await Promise.all([
    putOnBus([announcement]),
    announcement.type === 'job'
      ? deliveries.plan(announcement.job, announcement.news, () => presentWhole(announcement.job))
      : undefined,
  ]);
}
