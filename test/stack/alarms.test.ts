import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import {
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { marshall } from '@aws-sdk/util-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeCredentials } from '../../packages/local-aws/src/iam/credentials.ts';
import type { LocalFunction, LocalQueue, PolicyStatement } from '../../packages/local-aws/src/template/model.ts';
import { queueTimeoutMs } from '../../shared/tasks/transitions.ts';
import { type Behaviour, startReceiver } from '../events/receiver.ts';
import { startStack, type TestStack } from '../events/stack.ts';
import { dataUri, type JobView } from '../support/client.ts';
import { keyOfTask } from '../support/records.ts';
import { clientAs } from '../support/roles.ts';
import { readRunbook } from '../support/runbook.ts';
import { functionOf } from '../support/running-stack.ts';
import { skipBecause } from '../support/skip.ts';
import { until } from '../support/until.ts';

/** A minute of the alarms passes in a second. */
const alarmSpeed = 60;
const timeout = { seconds: 400, everyMs: 250 };
const minutes = 15;

const runbook = readRunbook();
const gone: Behaviour = (res) => res.writeHead(410).end();

let stack: TestStack;
let sqs: SQSClient;
let receiver: Awaited<ReturnType<typeof startReceiver>>;

/** The injected fault, and how the commands of the runbook undo it. */
let fault: {
  function?: LocalFunction;
  mapping?: string;
  rule?: string;
  deadLetters?: LocalQueue;
  lostPermissions?: { fn: LocalFunction; statements: PolicyStatement[] };
  delivery?: { webhook: string; id: string };
};

beforeAll(async () => {
  receiver = await startReceiver(gone);
  stack = await startStack(
    { LATHE_ALLOW_HOSTS: receiver.host, LATHE_SWEEP_SECONDS: '1' },
    {
      alarmSpeed,
      // The operator who follows the runbook may move messages.
      alter: ({ functions, queues }) => {
        functionOf({ functions }, 'functions/lifecycle/sweep.ts').role.statements.push({
          effect: 'Allow',
          actions: ['sqs:SendMessage', 'sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'],
          resources: queues.map(({ arn }) => arn),
          conditions: {},
        });
      },
    },
  );
  const { masterSecret } = JSON.parse(await readFile(join(stack.dataDirectory, 'identity.json'), 'utf8'));
  sqs = new SQSClient({
    region: stack.stack.region,
    endpoint: `http://127.0.0.1:${new URL(stack.url).port}/_aws/sqs`,
    credentials: makeCredentials(masterSecret, functionOf(stack.stack, 'functions/lifecycle/sweep.ts').role),
  });
});

afterAll(async () => {
  await stack?.[Symbol.asyncDispose]();
  await receiver?.[Symbol.asyncDispose]();
});

/** Runbook commands that only read, and are not run here. */
const looks =
  /^(?:aws (?:logs tail|lambda (?:get|list)-|events describe-rule|cloudformation describe-)|git checkout |npm run redrive -- --stack Lathe$)/;

/** What the other commands do to the resources of the fault. */
const actions: [command: RegExp, act: () => Promise<unknown> | unknown][] = [
  [/^npm run deploy$/, () => fault.lostPermissions?.fn.role.statements.push(...fault.lostPermissions.statements)],
  [
    /^aws lambda delete-function-concurrency --function-name <\w+>$/,
    () => {
      if (fault.function) fault.function.reservedConcurrency = undefined;
    },
  ],
  [/^aws events enable-rule --name <rule>$/, () => stack.switches.get(fault.rule ?? '')?.turnOn()],
  [
    /^aws lambda update-event-source-mapping --uuid <uuid of the mapping> --enabled$/,
    () => stack.switches.get(fault.mapping ?? '')?.turnOn(),
  ],
  [/^aws sqs start-message-move-task --source-arn <arn of the dead-letter queue>$/, moveDeadLetters],
  [/^curl -X POST <url of the API>\/v1\/account\/webhooks\/<webhook>\/deliveries\/<delivery>\/replay /, replay],
];

async function follow(name: string): Promise<void> {
  for (const command of runbook.get(name) ?? []) {
    if (looks.test(command)) continue;
    const [, act] = actions.find(([form]) => form.test(command)) ?? [];
    if (!act) throw new Error(`The runbook has a command that this test cannot follow: ${command}`);
    await act();
  }
}

const fires = (name: string, provoke: () => unknown = () => undefined) =>
  until(
    `${name} fires`,
    async () => {
      await provoke();
      return stack.alarms()[name] === 'ALARM';
    },
    timeout,
  );

const clears = (name: string) => until(`${name} clears`, () => stack.alarms()[name] === 'OK', timeout);

/** Checks that an alarm fires by its fault and clears by its entry, and that both are printed. */
async function check(name: string, provoke?: () => unknown): Promise<void> {
  await fires(name, provoke);
  await follow(name);
  await clears(name);
  const lines = stack.reports.filter((line) => line.startsWith(`alarm: ${name} `));
  expect(lines[0]).toContain('fires');
  expect(lines.at(-1)).toContain('has cleared');
}

const callAtOnce = (count: number, path: string) =>
  Promise.all(Array.from({ length: count }, () => stack.client.call('GET', path)));

function queueOf(entry: string): { queue: LocalQueue; mapping: string } {
  const source = stack.stack.queueSources.find(({ function: fn }) => fn === functionOf(stack.stack, entry));
  if (!source) throw new Error(`No queue is read by ${entry}.`);
  return { queue: source.queue, mapping: source.logicalId };
}

function send(queue: LocalQueue, message: object): Promise<unknown> {
  const fifo = queue.attributes.FifoQueue === 'true';
  return sqs.send(
    new SendMessageCommand({
      QueueUrl: queue.url,
      MessageBody: JSON.stringify(message),
      ...(fifo ? { MessageGroupId: 'test', MessageDeduplicationId: String(performance.now()) } : {}),
    }),
  );
}

/** Redrives each message to its source queue, as SQS does in AWS. */
async function moveDeadLetters(): Promise<void> {
  const { deadLetters } = fault;
  const from = stack.stack.queues.find(({ attributes }) => attributes.RedrivePolicy?.includes(`"${deadLetters?.arn}"`));
  if (!deadLetters || !from) throw new Error('There are no dead letters to move.');
  const { Messages = [] } = await sqs.send(
    new ReceiveMessageCommand({ QueueUrl: deadLetters.url, MaxNumberOfMessages: 10 }),
  );
  expect(Messages).toHaveLength(1);
  for (const { Body = '', ReceiptHandle } of Messages) {
    await send(from, JSON.parse(Body));
    await sqs.send(new DeleteMessageCommand({ QueueUrl: deadLetters.url, ReceiptHandle }));
  }
}

/** Makes a task old enough that the sweep counts it as late. */
async function makeLate(id: string): Promise<void> {
  const dynamodb = new DynamoDBClient(await clientAs(stack, 'LifecycleSweep', 'dynamodb'));
  const past = Date.now() - queueTimeoutMs;
  await dynamodb.send(
    new UpdateItemCommand({
      TableName: stack.stack.tables[0]?.name,
      Key: marshall(keyOfTask(id)),
      UpdateExpression: 'SET dueAt = :due, createdAt = :created ADD version :one',
      ConditionExpression: 'attribute_exists(dueShard)',
      ExpressionAttributeValues: marshall({ ':due': past, ':created': new Date(past).toISOString(), ':one': 1 }),
    }),
  );
}

async function replay(): Promise<void> {
  const { webhook, id } = fault.delivery ?? { webhook: '', id: '' };
  const { status } = await stack.client.call('POST', `/v1/account/webhooks/${webhook}/deliveries/${id}/replay`);
  // Because the receiver responded with 410 Gone, as the entry says.
  expect(status).toBe(409);
}

const skipped = process.env.LATHE_TEST_ALARMS ? undefined : 'npm run test:alarms waits for each of them, for minutes';
const options = { timeout: minutes * 60_000, ...skipBecause(skipped) };

describe('an alarm fires by a fault and clears by its entry in the runbook:', options, () => {
  test('there is an entry for each, and an alarm for each entry', () => {
    expect([...runbook.keys()].sort()).toEqual(stack.stack.alarms.map(({ name }) => name).sort());
  });

  test('endpoints that lost a permission in a release', async () => {
    const fn = functionOf(stack.stack, 'functions/api/tasks/list-tasks.ts');
    fault = { lostPermissions: { fn, statements: fn.role.statements.splice(0) } };
    await check('ApiErrors', () => callAtOnce(6, '/v1/process/tasks'));
    expect((await stack.client.call('GET', '/v1/process/tasks')).status).toBe(200);
  });

  test('a disabled function', async () => {
    const fn = functionOf(stack.stack, 'functions/api/tasks/list-tasks.ts');
    fn.reservedConcurrency = 0;
    fault = { function: fn };
    await check('Throttles', () => callAtOnce(12, '/v1/process/tasks'));
    expect((await stack.client.call('GET', '/v1/process/tasks')).status).toBe(200);
  });

  test('a disabled schedule', async () => {
    const [schedule] = stack.stack.schedules;
    fault = { rule: schedule?.logicalId ?? '' };
    await stack.switches.get(fault.rule ?? '')?.turnOff();
    await check('SweepFailing');
  });

  test('receivers that are gone', async () => {
    const jobs = await Promise.all(
      Array.from({ length: 5 }, () =>
        stack.client.create<JobView & { webhook: { id: string } }>('/v1/process/jobs', {
          tasks: { import: { operation: 'import/base64', file: dataUri(Buffer.from('hello')), filename: 'note.txt' } },
          webhook_url: receiver.url,
        }),
      ),
    );
    const [first] = jobs;
    if (!first) throw new Error('There is no job.');
    fault = { delivery: { webhook: first.webhook.id, id: `${first.id}_created` } };
    await fires('WebhooksFailing');
    receiver.behave = (res) => res.writeHead(204).end();
    await check('WebhooksFailing');
  });

  test.for([
    ['Events', 'functions/events/relay/relay.ts', { type: 'opened', connection: 'gone' }],
    ['Progress', 'functions/events/relay/progress.ts', { type: 'opened', connection: 'gone' }],
    ['Webhooks', 'functions/events/webhooks/deliver.ts', { webhook: 'gone', delivery: 'gone' }],
  ] as const)('a dead letter of %s', async ([name, consumer, message]) => {
    const { queue } = queueOf(consumer);
    const { deadLetterTargetArn } = JSON.parse(queue.attributes.RedrivePolicy ?? '{}');
    const deadLetters = stack.stack.queues.find(({ arn }) => arn === deadLetterTargetArn);
    if (!deadLetters) throw new Error(`${queue.name} has no dead-letter queue.`);
    fault = { deadLetters };
    await send(deadLetters, message);
    await check(`${name}DeadLetters`);
  });

  test('tasks that wait because of a disabled mapping', async () => {
    const { mapping } = queueOf('functions/transfers/handler.ts');
    fault = { mapping };
    await stack.switches.get(mapping)?.turnOff();
    const task = await stack.client.createTask('import/url', { url: receiver.url });
    // Repeatedly, because each sweep resets it.
    await check('TasksWaiting', () => makeLate(task.id));
    expect((await stack.client.waitForTask(task.id)).status).not.toBe('created');
  });

  test('queues with disabled mappings', async () => {
    const queues = [
      { name: 'UploadsWaiting', message: {}, ...queueOf('functions/lifecycle/uploaded.ts') },
      {
        name: 'EventsWaiting',
        message: { type: 'opened', connection: 'gone' },
        ...queueOf('functions/events/relay/relay.ts'),
      },
    ];
    await Promise.all(
      queues.map(async ({ queue, mapping, message }) => {
        await stack.switches.get(mapping)?.turnOff();
        await send(queue, message);
      }),
    );
    for (const { name } of queues) await fires(name);
    for (const { name, mapping } of queues) {
      fault = { mapping };
      await check(name);
    }
    for (const { queue } of queues) {
      const { Attributes } = await sqs.send(
        new GetQueueAttributesCommand({ QueueUrl: queue.url, AttributeNames: ['ApproximateNumberOfMessages'] }),
      );
      expect(Attributes?.ApproximateNumberOfMessages, queue.name).toBe('0');
    }
  });
});
