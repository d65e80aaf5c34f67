import { Logger } from '@aws-lambda-powertools/logger';
import type { SQSBatchItemFailure, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import type { EventMessage } from '../../../shared/aws/events.ts';
import { deliveries } from '../../wiring/deliveries.ts';
import { putOnBus } from './bus.ts';
import { presentWhole, type Relay, relayFor } from './show-message.ts';

const logger = new Logger({ serviceName: 'lathe' });

/** Shows what was announced to the sockets that follow it, and passes it on to the bus. */
export async function handler(event: SQSEvent): Promise<SQSBatchResponse> {
  const groups = Map.groupBy(event.Records, ({ attributes, messageId }) => attributes.MessageGroupId ?? messageId);
  const relay = relayFor(logger);
  // Beside what is shown, so that nobody waits for the bus. Where it fails all comes again, and nobody is shown it twice.
  const [failures] = await Promise.all([
    Promise.all([...groups.values()].map((messages) => inOrder(messages, relay))),
    putOnBus(event.Records.flatMap(announcementIn)),
  ]);
  return { batchItemFailures: failures.flat() };
}

/** Handles the messages of one job; after one that fails, those behind it wait, or they would overtake it. */
async function inOrder(messages: SQSRecord[], relay: Relay): Promise<SQSBatchItemFailure[]> {
  for (const [index, { body }] of messages.entries()) {
    try {
      await handle(JSON.parse(body), relay);
    } catch (error) {
      logger.error('an event could not be passed on', { error });
      return messages.slice(index).map(({ messageId: itemIdentifier }) => ({ itemIdentifier }));
    }
  }
  return [];
}

async function handle(message: EventMessage, relay: Relay): Promise<void> {
  await relay(message);
  if (message.type !== 'announced' || message.announcement.type !== 'job') return;
  const { job, news } = message.announcement;
  await deliveries.plan(job, news, () => presentWhole(job));
}

function announcementIn({ body }: SQSRecord) {
  const message: EventMessage = JSON.parse(body);
  return message.type === 'announced' ? [message.announcement] : [];
}
