import { expect, test } from 'vitest';
import { startSchedule } from '../../src/eventbridge/schedule.ts';
import { FunctionError } from '../../src/lambda/function-error.ts';
import type { Schedule } from '../../src/template/model.ts';
import { eventually } from '../lambda/fixtures/eventually.ts';
import { fixtureFunction } from '../lambda/fixtures/functions.ts';

const schedule: Schedule = {
  logicalId: 'Sweep',
  everySeconds: 60,
  function: fixtureFunction('echo'),
  arn: 'arn:aws:events:eu-central-1:000000000000:rule/sweep',
};

const runtimeOf = (invoke: (event: unknown) => Promise<unknown>) => ({
  invoke: (_: unknown, event: unknown) => invoke(event),
  stop: async () => {},
});

test('a schedule invokes its function repeatedly with the event of EventBridge, despite errors', async () => {
  const events: unknown[] = [];
  const lines: string[] = [];
  const runtime = runtimeOf(async (event) => {
    events.push(event);
    throw new FunctionError('Error', 'no');
  });

  const { stop } = startSchedule(schedule, { runtime, log: (line) => lines.push(line), everySeconds: 0.01 });
  await eventually(() => events.length >= 3);
  stop();

  expect(events[0]).toEqual({
    version: '0',
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    'detail-type': 'Scheduled Event',
    source: 'aws.events',
    account: '000000000000',
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
    region: 'eu-central-1',
    resources: [schedule.arn],
    detail: {},
  });
  expect(lines[0]).toContain('no');
});

test('runs do not overlap', async () => {
  let running = 0;
  let max = 0;
  let runs = 0;
  const runtime = runtimeOf(async () => {
    running += 1;
    max = Math.max(max, running);
    await new Promise((resolve) => setTimeout(resolve, 30));
    running -= 1;
    runs += 1;
  });

  const { stop } = startSchedule(schedule, { runtime, log: () => {}, everySeconds: 0.005 });
  await eventually(() => runs >= 3);
  stop();

  expect(max).toBe(1);
});
