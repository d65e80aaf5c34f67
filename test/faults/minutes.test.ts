import { expect, test } from 'vitest';
import { convertAtOnce, inMilliseconds, usageOf, usedBy } from '../support/metered-jobs.ts';
import { startAlteredStack } from '../support/running-stack.ts';

test('No second is lost or counted twice where workers die and DynamoDB refuses, repeats and loses responses', async () => {
  const LATHE_LOCAL_FAULTS = 'kills,conflicts,lost-responses,errors,deliveries:7';
  await using service = await startAlteredStack(() => {}, { LATHE_LOCAL_FAULTS, LATHE_MINUTES_PER_MONTH: '100' });
  const { client } = service;
  const jobs = await convertAtOnce(client, 20);

  expect(jobs.map(({ status }) => status)).toEqual(jobs.map(() => 'completed'));
  const { conversionSeconds, tasks, month } = await usageOf(client);
  expect(tasks).toBe(20);
  expect(inMilliseconds(conversionSeconds)).toBe(usedBy(jobs));
  expect(Math.round((month.remainingMinutes ?? 0) * 60_000)).toBe(100 * 60_000 - usedBy(jobs));
});
