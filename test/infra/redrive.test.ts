import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { projectRoot } from '../../infra/bundling.ts';
import { ageOf, causeIn, subjectOf } from '../../infra/redrive/describe.ts';
import { startStack, type TestStack } from '../events/stack.ts';
import { sendAsOperator } from '../support/operator.ts';
import { roleOf, takeAway } from '../support/roles.ts';
import { until } from '../support/until.ts';

const run = promisify(execFile);

function redrive({ url, dataDirectory }: TestStack, ...options: string[]): Promise<{ stdout: string }> {
  const args = [join(projectRoot, 'infra/redrive/main.ts'), '--url', url, '--data', dataDirectory, ...options];
  return run(process.execPath, args);
}

test('redrive lists dead letters with their causes, sends nothing unless it is told to, and then what was chosen', async () => {
  const webhooks = /^EventsWebhooksQueue[0-9A-F]{8}$/;
  await using stack = await startStack(
    {},
    {
      alter: (altered) => {
        takeAway(roleOf(altered, 'EventsDeliver'), 'events:PutEvents', 'EventsBus');
        const queue = altered.queues.find(({ logicalId }) => webhooks.test(logicalId));
        if (!queue) throw new Error('The stack has no queue of webhooks.');
        // Its first failure makes a dead letter.
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
  await until('the bus has it', () => received.length > 0 || undefined);
  expect(received).toEqual([['job_completed', { user: 'x' }]]);
  expect((await redrive(stack)).stdout).toBe('No dead letters.\n');
});

describe('a dead letter', () => {
  test.for([
    [{ taskId: 'a1' }, 'task a1'],
    [{ Records: [{ s3: { object: { key: 'uploads/a1' } } }] }, 'file uploads/a1'],
    [{ webhook: 'w', delivery: 'd' }, 'delivery d to webhook w'],
    [{ type: 'changed', change: { type: 'job', job: { id: 'j', status: 'failed' } } }, 'job j, failed'],
    [{ type: 'opened', connection: 'c' }, 'connection c, opened'],
    ['?', 'message "?"'],
  ] as const)('says what it is about: %j', ([message, subject]) => {
    expect(subjectOf({ body: JSON.stringify(message) })).toBe(subject);
  });

  test('has the cause that was logged last, by its id or by its task', () => {
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

  test('has an age that people can read', () => {
    expect([90_000, 300_000, 3 * 3_600_000, 4 * 86_400_000].map(ageOf)).toEqual(['90 s', '5 min', '3 h', '4 d']);
  });
});
