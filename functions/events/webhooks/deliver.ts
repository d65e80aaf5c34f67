import { BatchProcessor, EventType, processPartialResponse } from '@aws-lambda-powertools/batch';
import { Logger } from '@aws-lambda-powertools/logger';
import type { Context, SQSEvent, SQSRecord } from 'aws-lambda';
import { parseAllowHosts } from '../../../shared/net/addresses.ts';
import type { DeliveryRef } from '../../../shared/webhooks/deliveries.ts';
import { deliveries } from '../../wiring/deliveries.ts';
import { callReceiver } from './call.ts';
import { signedHeaders } from './sign.ts';

const logger = new Logger({ serviceName: 'lathe' });
const processor = new BatchProcessor(EventType.SQS);
const allow = parseAllowHosts(process.env.LATHE_ALLOW_HOSTS);

/** Calls the webhooks whose deliveries are due. */
export const handler = (event: SQSEvent, context: Context) =>
  processPartialResponse(event, deliver, processor, { context });

async function deliver({ body }: SQSRecord): Promise<void> {
  const ref: DeliveryRef = JSON.parse(body);
  await deliveries.attempt(ref, async ({ url, secret }, delivery) => {
    const outcome = await callReceiver(url, signedHeaders(delivery, secret, Date.now()), delivery.body, allow);
    logger.info('called a webhook', { jobId: delivery.job, ...ref, ...outcome });
    return outcome;
  });
}
