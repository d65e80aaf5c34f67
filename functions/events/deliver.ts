import { BatchProcessor, EventType, processPartialResponse } from '@aws-lambda-powertools/batch';
import type { Context, SQSEvent, SQSRecord } from 'aws-lambda';
import type { DeliveryRef } from '../../shared/webhooks/deliveries.ts';
import { deliveries } from './webhooks.ts';

const processor = new BatchProcessor(EventType.SQS);

/** Calls the webhooks whose deliveries have come up. */
export const handler = (event: SQSEvent, context: Context) =>
  processPartialResponse(event, deliver, processor, { context });

async function deliver({ body }: SQSRecord): Promise<void> {
  const ref: DeliveryRef = JSON.parse(body);
  await deliveries.attempt(ref);
}
