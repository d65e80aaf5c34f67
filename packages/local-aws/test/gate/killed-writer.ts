/** Writes to every service continuously and prints what was acknowledged, until it is killed. */
import { writeSync } from 'node:fs';
import { PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { startLocalAws } from './fixture.ts';

const aws = await startLocalAws({ dataDirectory: process.argv[2] ?? '' });
const [dynamodb, s3, sqs] = [aws.dynamodb(), aws.s3(), aws.sqs()];
const QueueUrl = aws.stack.queues[1]?.url;
const acknowledge = (what: string) => writeSync(1, `${what}\n`);

async function write(lane: number): Promise<never> {
  for (let round = 0; ; round++) {
    const id = `${lane}-${round}`;
    const Key = { pk: { S: id }, sk: { S: 'a' } };
    await dynamodb.send(new PutItemCommand({ TableName: 'records', Item: { ...Key, state: { S: 'first' } } }));
    await dynamodb.send(
      new UpdateItemCommand({
        TableName: 'records',
        Key,
        UpdateExpression: 'SET #state = :state',
        ExpressionAttributeNames: { '#state': 'state' },
        ExpressionAttributeValues: { ':state': { S: 'second' } },
      }),
    );
    acknowledge(`item ${id}`);
    await s3.send(
      new PutObjectCommand({ Bucket: 'lathe-files', Key: `lane-${lane}`, Body: `${round % 10}`.repeat(200_000) }),
    );
    acknowledge(`object ${id}`);
    await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: id }));
    acknowledge(`message ${id}`);
  }
}

await Promise.all([0, 1, 2, 3].map(write));
