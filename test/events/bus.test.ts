import { expect, test } from 'vitest';
import type { LocalStack } from '../../packages/local-aws/src/template/model.ts';
import { sendAsOperator } from '../support/operator.ts';
import { fileOf, roleOf, takeAway } from '../support/roles.ts';
import { until } from '../support/until.ts';
import { makeTask } from '../unit/tasks/factory.ts';
import { startStack } from './stack.ts';

test('a bus that refuses the relay fails no message, and receives the ends of jobs later, by the queue of deliveries', async () => {
  await using stack = await startStack(
    { LATHE_ALLOW_HOSTS: '127.0.0.1' },
    { alter: (altered) => refuse(altered, 'EventsRelay') },
  );
  const received: string[] = [];
  stack.buses.onEvent(({ detailType, detail }) => received.push(`${detailType} ${idOf(detail)}`));
  const { id: webhook } = await stack.client.create<{ id: string }>('/v1/account/webhooks', {
    url: 'http://127.0.0.1:9/',
  });

  const job = await stack.client.createJob({ import: { operation: 'import/base64', ...fileOf('png') } });

  await until('the webhook has a delivery', async () => {
    const path = `/v1/account/webhooks/${webhook}/deliveries`;
    const { body } = await stack.client.call<{ docs: { event: string }[] }>('GET', path);
    return body.docs.find(({ event }) => event === 'job.completed');
  });
  await until('the end is on the bus', () => received.length > 0 || undefined);
  expect(received).toEqual([`job_completed ${job.id}`]);
  expect(stack.reports.filter((line) => /EventsRelay\w* failed/.test(line))).toEqual([]);
  expect(stack.reports.filter((line) => line.startsWith('refused: ') && !line.includes('EventsRelay'))).toEqual([]);
});

test('a bus that refuses progress, which it was asked for, receives it later', async () => {
  await using stack = await startStack(
    { LATHE_BUS_EVENTS: 'all' },
    { alter: (altered) => refuse(altered, 'EventsProgress') },
  );
  const received: string[] = [];
  stack.buses.onEvent(({ detailType, detail }) => received.push(`${detailType} ${idOf(detail)}`));
  const task = makeTask({ status: 'processing', progress: 50 });
  await sendAsOperator(stack, /^EventsProgressQueue[0-9A-F]{8}$/, { type: 'changed', change: { type: 'task', task } });
  await until('the progress is on the bus', () => received.length > 0 || undefined);
  expect(received).toEqual([`task_updated ${task.id}`]);
});

function refuse(stack: LocalStack, name: string): void {
  takeAway(roleOf(stack, name), 'events:PutEvents', 'EventsBus');
}

function idOf(detail: unknown): string {
  return String(JSON.parse(JSON.stringify(detail)).data.id);
}
