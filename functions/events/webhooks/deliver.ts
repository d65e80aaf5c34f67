import { BatchProcessor, EventType, processPartialResponse } from '@aws-lambda-powertools/batch';
import { Logger } from '@aws-lambda-powertools/logger';
import type { Context, SQSEvent, SQSRecord } from 'aws-lambda';
import type { BusEvent, DeliveryMessage } from '../../../shared/aws/queues.ts';
import { deliveries } from '../../../shared/aws/stores/webhook-deliveries.ts';
import { parseAllowHosts } from '../../../shared/net/addresses.ts';
import { callReceiver } from './call.ts';
import { signedHeaders } from './sign.ts';

const logger = new Logger({ serviceName: 'lathe' });
const processor = new BatchProcessor(EventType.SQS);
const allow = parseAllowHosts(process.env.LATHE_ALLOW_HOSTS);
const busTimeoutMs = 10_000;

/** Calls the webhooks of due deliveries, and retries events that the bus rejected. */
export const handler = (event: SQSEvent, context: Context) =>
  processPartialResponse(event, deliver, processor, { context });

async function deliver({ messageId, body }: SQSRecord): Promise<void> {
  try {
    await handle(JSON.parse(body));
  } catch (error) {
    logger.error('a delivery could not be attempted', { messageId, error });
    throw error;
  }
}

async function handle(message: DeliveryMessage): Promise<void> {
  if ('busEvent' in message) return putOnBus(message.busEvent);
  await deliveries.attempt(message, async ({ url, secret }, delivery) => {
    const outcome = await callReceiver(url, signedHeaders(delivery, secret, Date.now()), delivery.body, allow);
    logger.info('called a webhook', { jobId: delivery.job, ...message, ...outcome });
    return outcome;
  });
}

/** Puts an event on the bus. After repeated failures it becomes a dead letter, which an operator can redrive. */
async function putOnBus(event: BusEvent): Promise<void> {
  // Loaded on demand: the bus rarely rejects an event, and its client would slow down every start.
  const { putEvents } = await import('../../../shared/aws/bus.ts');
  const [refused] = await putEvents([event], busTimeoutMs);
  if (refused) throw new Error(`The bus refused an event: ${event.name}.`, { cause: refused.cause });
}
