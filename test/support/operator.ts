import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { GetQueueAttributesCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { makeCredentials } from '../../packages/local-aws/src/iam/credentials.ts';
import type { LocalStack } from '../../packages/local-aws/src/template/model.ts';
import { toAttributes } from '../../shared/aws/table.ts';

interface Service {
  url: string;
  dataDirectory: string;
  stack: LocalStack;
}

/** Sends a message to a queue as the stack's operator, who may redrive dead letters. */
export async function sendAsOperator(service: Service, queue: RegExp, message: object): Promise<void> {
  const sqs = await clientOf(service);
  await sqs.send(new SendMessageCommand({ QueueUrl: urlOf(service, queue), MessageBody: JSON.stringify(message) }));
}

/** Counts the messages of a queue, including hidden ones. */
export async function countMessages(service: Service, queue: RegExp): Promise<number> {
  const sqs = await clientOf(service);
  const request = { QueueUrl: urlOf(service, queue), AttributeNames: ['All' as const] };
  const { Attributes = {} } = await sqs.send(new GetQueueAttributesCommand(request));
  return (
    Number(Attributes.ApproximateNumberOfMessages ?? 0) + Number(Attributes.ApproximateNumberOfMessagesNotVisible ?? 0)
  );
}

/** Writes an item of the table as the stack's operator. */
export async function putAsOperator(service: Service, item: object): Promise<void> {
  const put = new PutItemCommand({ TableName: service.stack.tables[0]?.name, Item: toAttributes(item) });
  await new DynamoDBClient(await settingsFor(service, 'dynamodb')).send(put);
}

async function clientOf(service: Service): Promise<SQSClient> {
  return new SQSClient(await settingsFor(service, 'sqs'));
}

async function settingsFor({ url, dataDirectory, stack }: Service, name: string) {
  const { masterSecret } = JSON.parse(await readFile(join(dataDirectory, 'identity.json'), 'utf8'));
  return {
    region: stack.region,
    endpoint: `http://127.0.0.1:${new URL(url).port}/_aws/${name}`,
    credentials: makeCredentials(masterSecret, { logicalId: 'Operator', arn: '', statements: [] }),
  };
}

function urlOf({ stack }: Service, queue: RegExp): string {
  const found = stack.queues.find(({ logicalId }) => queue.test(logicalId));
  if (!found) throw new Error(`The stack has no queue ${queue}.`);
  return found.url;
}
