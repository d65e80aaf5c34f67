import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { startFauxqs } from 'fauxqs';
import { describe, expect, test } from 'vitest';
import { projectRoot } from '../../infra/bundling.ts';
import { ageOf, causeIn, subjectOf } from '../../infra/redrive/describe.ts';
import { startStack, type TestStack } from '../events/stack.ts';
import { compileCache } from '../support/compile-cache.ts';
import { sendAsOperator } from '../support/operator.ts';
import { roleOf, takeAway } from '../support/roles.ts';
import { until } from '../support/until.ts';
import { startCloudWatchLogs } from './cloudwatch-logs.ts';

const run = promisify(execFile);

function redrive({ url, dataDirectory }: TestStack, ...options: string[]): Promise<{ stdout: string }> {
  const args = [join(projectRoot, 'infra/redrive/main.ts'), '--url', url, '--data', dataDirectory, ...options];
  return run(process.execPath, args);
}

test('redrive lists dead letters with their causes, sends nothing unless requested, and then only what was selected', async () => {
  const webhooks = /^EventsWebhooksQueue[0-9A-F]{8}$/;
  await using stack = await startStack(
    {},
    {
      alter: (altered) => {
        takeAway(roleOf(altered, 'EventsDeliver'), 'events:PutEvents', 'EventsBus');
        const queue = altered.queues.find(({ logicalId }) => webhooks.test(logicalId));
        if (!queue) throw new Error('The stack has no queue of webhooks.');
        // A dead letter after the first failure.
        queue.attributes.VisibilityTimeout = '1';
        const redrivePolicy = JSON.parse(queue.attributes.RedrivePolicy ?? '{}');
        queue.attributes.RedrivePolicy = JSON.stringify({ ...redrivePolicy, maxReceiveCount: 1 });
      },
    },
  );
  const received: unknown[] = [];
  stack.buses.onEvent(({ detailType, detail }) => received.push([detailType, detail]));
  const role = roleOf(stack.stack, 'EventsDeliver');
  expect((await redrive(stack)).stdout).toBe('No dead letters.\n');
  await sendAsOperator(stack, webhooks, { busEvent: { name: 'job_completed', detail: '{"user":"x"}' } });

  const listed = await until('it is a dead letter, and its failure is logged', async () => {
    const { stdout } = await redrive(stack, '--queue', 'EventsWebhooks');
    return stdout.includes('The bus refused') ? stdout : undefined;
  });
  expect(listed).toMatch(/^EventsWebhooksQueue\w+: 1 of about 1$/m);
  expect(listed).toMatch(/event for the bus, job_completed \| .*The bus refused an event: job_completed\./);
  expect(listed).toContain('Nothing was sent.');
  await expect(redrive(stack, '--send')).rejects.toThrow('Usage: npm run redrive');
  expect((await redrive(stack, '--send', '--queue', 'EventsProgress')).stdout).toBe('No dead letters.\n');
  expect(received).toEqual([]);

  const [bus] = stack.stack.eventBuses;
  role.statements.push({ effect: 'Allow', actions: ['events:PutEvents'], resources: [bus?.arn ?? ''], conditions: {} });
  const [id = ''] = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(listed) ?? [];
  expect((await redrive(stack, '--send', '--message', id)).stdout).toContain(`sent again ${id}`);
  await until('the bus has it', () => received.length > 0);
  expect(received).toEqual([['job_completed', { user: 'x' }]]);
  expect((await redrive(stack)).stdout).toBe('No dead letters.\n');
});

/** Starts queues like those of a deployed stack, and of another stage, with one dead letter each. */
async function startQueues() {
  const server = await startFauxqs({ port: 0, logger: false, host: '127.0.0.1' });
  const sqs = new SQSClient({ endpoint: server.address, region: 'us-east-1', credentials });
  const send = async (stack: string, name: string, body: object) => {
    const dead = server.createQueue(`${stack}-${name}DeadLetters-2B`, { region: 'us-east-1' });
    const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: dead.queueArn, maxReceiveCount: 5 });
    server.createQueue(`${stack}-${name}-1A`, { region: 'us-east-1', attributes: { RedrivePolicy } });
    const command = new SendMessageCommand({ QueueUrl: dead.queueUrl, MessageBody: JSON.stringify(body) });
    return (await sqs.send(command)).MessageId ?? '';
  };
  return {
    url: server.address,
    send,
    ready: (name: string) => server.inspectQueue(name)?.messages.ready.length,
    async [Symbol.asyncDispose]() {
      sqs.destroy();
      await server.stop();
    },
  };
}

const credentials = { accessKeyId: 'KEY', secretAccessKey: 'SECRET' };

function redriveDeployed(sqs: string, logs: string, ...options: string[]): Promise<{ stdout: string }> {
  return run(process.execPath, [join(projectRoot, 'infra/redrive/main.ts'), '--stack', 'Lathe', ...options], {
    env: {
      ...compileCache,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      AWS_ENDPOINT_URL_SQS: sqs,
      AWS_ENDPOINT_URL_CLOUDWATCH_LOGS: logs,
    },
  });
}

test('redrive finds the errors of a deployed stack in its logs, and reports functions that ended without logging any', async () => {
  await using queues = await startQueues();
  const taskId = '6af9126cc0830000f25c62d1';
  const webhook = await queues.send('Lathe', 'EventsWebhooksQueue', { webhook: 'w', delivery: 'd' });
  const task = await queues.send('Lathe', 'EngineimageWorkQueue', { taskId });
  const upload = await queues.send('Lathe', 'FilesUploadsQueue', {
    Records: [{ s3: { object: { key: 'uploads/a' } } }],
  });
  const other = await queues.send('Lathe-prod', 'EventsWebhooksQueue', { webhook: 'x', delivery: 'y' });
  const time = Date.now();
  const line = (fields: object) => ({
    time,
    text: JSON.stringify({ timestamp: new Date(time).toISOString(), ...fields }),
  });
  const report = (status: string) => line({ type: 'platform.report', record: { requestId: 'r', status } });
  await using logs = await startCloudWatchLogs({
    'Lathe-EventsDeliverLogs0A-9Z': [
      line({
        level: 'ERROR',
        message: 'a delivery could not be attempted',
        messageId: webhook,
        error: { message: 'why' },
      }),
      line({ level: 'INFO', message: 'called a webhook', messageId: webhook }),
    ],
    'Lathe-EngineimageWorkerLogs0A-9Z': [line({ level: 'ERROR', message: 'the run broke off', taskId })],
    'Lathe-LifecycleUploadedLogs0A-9Z': [report('timeout'), report('timeout'), report('success')],
    'Lathe-prod-EventsDeliverLogs0A-9Z': [line({ level: 'ERROR', message: 'of another stage', messageId: upload })],
  });

  const { stdout } = await redriveDeployed(queues.url, logs.url);

  expect(stdout).toMatch(new RegExp(`${webhook} .* \\| a delivery could not be attempted: why$`, 'm'));
  expect(stdout).toMatch(new RegExp(`${task} .* \\| task ${taskId} \\| the run broke off$`, 'm'));
  expect(stdout).toMatch(new RegExp(`${upload} .* \\| file uploads/a \\| no error was logged$`, 'm'));
  expect(stdout).toContain('Lathe-LifecycleUploadedLogs0A-9Z: timeout, 2 times');
  expect(stdout).not.toContain(other);
  expect(stdout).not.toContain('could not be searched');
  expect(queues.ready('Lathe-EventsWebhooksQueueDeadLetters-2B')).toBe(1);
  const searched = logs.calls.filter(([operation]) => operation === 'StartQuery').map(([, input]) => input);
  expect(searched.map(({ logGroupNames }) => logGroupNames)).toEqual(
    Array.from({ length: 2 }, () =>
      ['EngineimageWorker', 'EventsDeliver', 'LifecycleUploaded'].map((name) => `Lathe-${name}Logs0A-9Z`),
    ),
  );
});

test('redrive lists and sends even if the logs cannot be searched, and reports why', async () => {
  await using queues = await startQueues();
  const id = await queues.send('Lathe', 'EventsWebhooksQueue', { webhook: 'w', delivery: 'd' });
  // Without log groups no query is possible.
  await using logs = await startCloudWatchLogs({});

  const { stdout } = await redriveDeployed(queues.url, logs.url, '--send', '--message', id);

  expect(stdout).toContain(`sent again ${id}`);
  expect(stdout).toContain('the logs could not be searched: Error: The stack has no log groups');
  expect(queues.ready('Lathe-EventsWebhooksQueueDeadLetters-2B')).toBe(0);
  expect(queues.ready('Lathe-EventsWebhooksQueue-1A')).toBe(1);
});

describe('a dead letter', () => {
  test.for([
    [{ taskId: 'a1' }, 'task a1'],
    [{ Records: [{ s3: { object: { key: 'uploads/a1' } } }] }, 'file uploads/a1'],
    [{ webhook: 'w', delivery: 'd' }, 'delivery d to webhook w'],
    [{ type: 'changed', change: { type: 'job', job: { id: 'j', status: 'failed' } } }, 'job j, failed'],
    [{ type: 'opened', connection: 'c' }, 'connection c, opened'],
    ['?', 'message "?"'],
  ] as const)('describes its subject: %j', ([message, subject]) => {
    expect(subjectOf({ body: JSON.stringify(message) })).toBe(subject);
  });

  test('has the cause that was logged last, by its id or its task', () => {
    const line = (timestamp: string, text: string, more: object) =>
      JSON.stringify({ level: 'ERROR', timestamp, message: text, ...more });
    const lines = [
      'START m1',
      line('2026-01-02', 'late', { messageId: 'm1', error: { message: 'second', cause: { message: 'why' } } }),
      line('2026-01-01', 'early', { messageId: 'm1', error: { message: 'first' } }),
      line('2026-01-03', 'other', { taskId: 'a1' }),
      JSON.stringify({ level: 'INFO', timestamp: '2026-01-04', message: 'fine', messageId: 'm1' }),
    ];
    expect(causeIn(lines, { id: 'm1', body: '{}' })).toBe('late: second: why');
    expect(causeIn(lines, { id: 'm1', body: '{"taskId":"a1"}' })).toBe('other');
    expect(causeIn(lines, { id: 'm2', body: 'x' })).toBeUndefined();
  });

  test('has a readable age', () => {
    expect([90_000, 300_000, 3 * 3_600_000, 4 * 86_400_000].map(ageOf)).toEqual(['90 s', '5 min', '3 h', '4 d']);
  });
});
