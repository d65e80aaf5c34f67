import { ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { GetQueueAttributesCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { taskPrefix } from '../../shared/files/keys.ts';
import type { Caller } from './running-stack.ts';

/** Lists the keys of everything that a task has stored. */
export async function storedFiles({ stack, client }: Caller, taskId: string): Promise<string[]> {
  const s3 = new S3Client(client('s3'));
  const { Contents = [] } = await s3.send(
    new ListObjectsV2Command({ Bucket: stack.buckets[0]?.name, Prefix: taskPrefix(taskId) }),
  );
  return Contents.flatMap(({ Key }) => Key ?? []);
}

/** Sends a message to the queue of the caller's own function. */
export async function sendToOwnQueue(caller: Caller, body: string): Promise<void> {
  const sqs = new SQSClient(caller.client('sqs'));
  await sqs.send(new SendMessageCommand({ QueueUrl: ownQueue(caller), MessageBody: body }));
}

/** Counts the messages in the queue of the caller's own function, including those in flight. */
export async function messagesInOwnQueue(caller: Caller): Promise<number> {
  const sqs = new SQSClient(caller.client('sqs'));
  const { Attributes = {} } = await sqs.send(
    new GetQueueAttributesCommand({ QueueUrl: ownQueue(caller), AttributeNames: ['All'] }),
  );
  return (
    Number(Attributes.ApproximateNumberOfMessages ?? 0) + Number(Attributes.ApproximateNumberOfMessagesNotVisible ?? 0)
  );
}

function ownQueue({ stack, fn }: Caller): string {
  const source = stack.queueSources.find((candidate) => candidate.function === fn);
  if (!source) throw new Error(`${fn.name} works on no queue.`);
  return source.queue.url;
}
