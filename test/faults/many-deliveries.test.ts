import { DynamoDBClient, paginateQuery } from '@aws-sdk/client-dynamodb';
import { GetQueueAttributesCommand, SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import { expect, test } from 'vitest';
import type { LocalQueue, LocalStack, PolicyStatement } from '../../packages/local-aws/src/template/model.ts';
import { partitions } from '../../shared/aws/table-schema.ts';
import { newId } from '../../shared/ids.ts';
import { startReceiver } from '../events/receiver.ts';
import { startStack } from '../events/stack.ts';
import { actAs, functionOf } from '../support/running-stack.ts';
import { until } from '../support/until.ts';

// All 10,000 of them are `npm run test:events`.
const count = Number(process.env.LATHE_TEST_DELIVERIES ?? 100);
const maxFailures = count > 1_000 ? 2 : 1;

test(
  'of many deliveries to a receiver that fails, hangs, resets, redirects and is down none is lost, and no queue has dead letters',
  async () => {
    await using stack = await startStack(
      { LATHE_ALLOW_HOSTS: '127.0.0.1', LATHE_SWEEP_SECONDS: '10' },
      { alter: letWorkerLook },
    );
    const accepted = new Set<string>();
    let hung = 0;
    await using receiver = await startReceiver((res, earlier, req) => {
      const chance = earlier < maxFailures ? Math.random() : 1;
      if (chance < 0.1) res.writeHead(503).end();
      else if (chance < 0.15) res.socket?.resetAndDestroy();
      else if (chance < 0.2) res.writeHead(301, { location: '/elsewhere' }).end();
      // Few, since each holds a connection until the time-out of 15 seconds.
      else if (chance < 0.21) hung += 1;
      else {
        accepted.add(String(req.headers['webhook-id']));
        res.writeHead(200).end();
      }
    });
    const { user } = await stack.client.createTask('import/upload');
    const webhook = await stack.client.create<{ id: string }>('/v1/account/webhooks', {
      url: receiver.url,
      events: ['job.completed'],
    });
    const caller = await actAs(stack, 'functions/transfers/handler.ts');
    const sqs = new SQSClient(caller.client('sqs'));
    const ids = Array.from({ length: count }, () => newId());
    const began = performance.now();
    for (let start = 0; start < count; start += 10) {
      await sqs.send(
        new SendMessageBatchCommand({
          QueueUrl: caller.fn.environment.LATHE_QUEUE_EVENTS,
          Entries: ids.slice(start, start + 10).map((id) => ({
            Id: id,
            MessageBody: JSON.stringify({
              type: 'changed',
              change: { type: 'job', job: jobOf(id, user), events: ['ended'] },
            }),
            MessageGroupId: id,
            MessageDeduplicationId: id,
          })),
        }),
      );
    }
    await until('a third was accepted', () => accepted.size > count / 3, {
      seconds: 240 + count / 5,
    });
    await receiver.down();
    // Up again before the next attempt, so that being down costs a delivery one: each costs it a longer delay than the last.
    // From the table, since the API lists the newest hundred only.
    await until('a delivery finds it down', async () => {
      const deliveries = paginateQuery(
        { client: new DynamoDBClient(caller.client('dynamodb')) },
        {
          TableName: stack.stack.tables[0]?.name,
          KeyConditionExpression: 'pk = :pk',
          ExpressionAttributeValues: { ':pk': { S: `${partitions.delivery}${webhook.id}` } },
        },
      );
      for await (const { Items } of deliveries) if (JSON.stringify(Items).includes('ECONNREFUSED')) return true;
      return undefined;
    });
    await receiver.up();
    await until('each event was accepted', () => accepted.size === count, {
      seconds: 240 + count / 5,
      everyMs: 500,
    }).catch((error: Error) => {
      throw new Error(`${error.message} ${accepted.size} were. ${stack.reports.slice(-5).join('\n')}`);
    });
    const deadLetters = deadLettersOf(stack.stack);
    expect(deadLetters).toHaveLength(3);
    for (const { url } of deadLetters) {
      const { Attributes } = await sqs.send(
        new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ['ApproximateNumberOfMessages'] }),
      );
      expect(Attributes?.ApproximateNumberOfMessages).toBe('0');
    }
    const seconds = (performance.now() - began) / 1000;
    process.stdout.write(
      `${JSON.stringify({ deliveries: count, calls: receiver.calls.length, hung, lost: 0, seconds: Math.round(seconds) })}\n`,
    );
  },
  300_000 + count * 300,
);

function deadLettersOf({ queues }: LocalStack): LocalQueue[] {
  return queues.filter(({ logicalId }) => /^Events.*DeadLetters/.test(logicalId));
}

/** No function reads the queues of dead letters; the test does, and all deliveries, in the name of one. */
function letWorkerLook(stack: LocalStack): void {
  const allow = (action: string, resources: string[]): PolicyStatement => ({
    effect: 'Allow',
    actions: [action],
    resources,
    conditions: {},
  });
  functionOf(stack, 'functions/transfers/handler.ts').role.statements.push(
    allow(
      'sqs:GetQueueAttributes',
      deadLettersOf(stack).map(({ arn }) => arn),
    ),
    allow(
      'dynamodb:Query',
      stack.tables.map(({ arn }) => arn),
    ),
  );
}

function jobOf(id: string, user: string) {
  const now = new Date().toISOString();
  return {
    id,
    user,
    status: 'completed',
    tasks: [],
    open: [],
    createdAt: now,
    startedAt: now,
    endedAt: now,
    updatedAt: now,
    expiresAt: new Date(Date.now() + 86_400_000).toISOString(),
    version: 3,
  };
}
