import { expect, test } from 'vitest';
import { fileOf, roleOf, takeAway } from '../support/roles.ts';
import { until } from '../support/until.ts';
import { startStack } from './stack.ts';

test('a bus that refuses the relay fails no message, and receives the ends of jobs later, by the queue of deliveries', async () => {
  await using stack = await startStack(
    { LATHE_ALLOW_HOSTS: '127.0.0.1' },
    { alter: (altered) => takeAway(roleOf(altered, 'EventsRelay'), 'events:PutEvents', 'EventsBus') },
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

function idOf(detail: unknown): string {
  return String(JSON.parse(JSON.stringify(detail)).data.id);
}
