import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { messageBody } from '../queues/message-body.ts';
import { queueVariable } from '../queues/queues.ts';
import { required } from '../settings.ts';
import type { DeliveryRef } from './deliveries.ts';

const client = new SQSClient({});

/** Puts a delivery on the queue, to come out after so many seconds. */
export async function sendDelivery(ref: DeliveryRef, delaySeconds: number): Promise<void> {
  await client.send(
    new SendMessageCommand({
      QueueUrl: required(queueVariable('webhooks')),
      MessageBody: messageBody(ref),
      ...(delaySeconds > 0 ? { DelaySeconds: delaySeconds } : {}),
    }),
  );
}
