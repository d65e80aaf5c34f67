import { ChangeMessageVisibilityCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { required } from '../settings.ts';
import type { DeliveryRef } from '../webhooks/deliveries.ts';
import { messageBody } from './message-body.ts';

const client = new SQSClient({});

/** What a queue of an engine carries: the record holds everything else. */
export interface WorkMessage {
  taskId: string;
}

/** Returns the name of the variable that holds the address of an engine's queue. */
export function queueVariable(engine: string): string {
  return `LATHE_QUEUE_${engine.toUpperCase()}`;
}

/** Hands a task to the workers of an engine. */
export async function enqueue(engine: string, taskId: string): Promise<void> {
  const message: WorkMessage = { taskId };
  await client.send(
    new SendMessageCommand({ QueueUrl: required(queueVariable(engine)), MessageBody: messageBody(message) }),
  );
}

/** Hides a message for so many seconds from now on; a worker that dies gives it back when they are over. */
export async function hideFor(queueUrl: string, receiptHandle: string, seconds: number): Promise<void> {
  await client.send(
    new ChangeMessageVisibilityCommand({
      QueueUrl: queueUrl,
      ReceiptHandle: receiptHandle,
      VisibilityTimeout: seconds,
    }),
  );
}

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
