import { ChangeMessageVisibilityCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { required } from '../settings.ts';
import type { DeliveryRef } from '../webhooks/deliveries.ts';
import { messageBody } from './message-body.ts';
import { sqs } from './sqs.ts';

/** The message of an engine's queue: the record holds everything else. */
export interface WorkMessage {
  taskId: string;
}

/** Returns the name of the environment variable that holds the URL of an engine's queue. */
export function queueVariable(engine: string): string {
  return `LATHE_QUEUE_${engine.toUpperCase()}`;
}

/** Queues a task for the workers of an engine. */
export async function enqueue(engine: string, taskId: string): Promise<void> {
  const message: WorkMessage = { taskId };
  await sqs().send(
    new SendMessageCommand({ QueueUrl: required(queueVariable(engine)), MessageBody: messageBody(message) }),
  );
}

/** Hides a message for a number of seconds from now; it is received again after that if its worker has died. */
export async function hideFor(queueUrl: string, receiptHandle: string, seconds: number): Promise<void> {
  await sqs().send(
    new ChangeMessageVisibilityCommand({
      QueueUrl: queueUrl,
      ReceiptHandle: receiptHandle,
      VisibilityTimeout: seconds,
    }),
  );
}

/** Queues a delivery with a delay. */
export async function sendDelivery(ref: DeliveryRef, delaySeconds: number): Promise<void> {
  await sqs().send(
    new SendMessageCommand({
      QueueUrl: required(queueVariable('webhooks')),
      MessageBody: messageBody(ref),
      ...(delaySeconds > 0 ? { DelaySeconds: delaySeconds } : {}),
    }),
  );
}
