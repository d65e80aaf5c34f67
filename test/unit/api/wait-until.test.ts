import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { waitUntil } from '../../../functions/api/http/wait-until.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Waits for work that ends after some time, and returns how often it was looked at and how late the end was found. */
async function waitFor(kind: string, workMs: number, remainingMs = 29_000) {
  const start = Date.now();
  let looks = 0;
  const waiting = waitUntil<{ endedAt?: string }>({
    read: async () => {
      looks += 1;
      return Date.now() - start < workMs ? {} : { endedAt: new Date(start + workMs).toISOString() };
    },
    kindOf: () => kind,
    isDone: ({ endedAt }) => endedAt !== undefined,
    remainingMs: () => remainingMs,
  });
  await vi.runAllTimersAsync();
  const { endedAt } = await waiting;
  return { looks, endedAt, lateMs: Date.now() - start - workMs };
}

test('what was never waited for is looked at often, and found within a tenth of its time', async () => {
  expect(await waitFor('new and short', 300)).toMatchObject({ looks: 9, lateMs: 20 });
  const { looks, lateMs } = await waitFor('new and long', 5_000);
  expect(looks).toBeGreaterThan(30);
  expect(lateMs).toBeLessThanOrEqual(500);
});

test('what others waited for is looked at once a second until about the time that it took them', async () => {
  await waitFor('usual', 5_000);
  const { looks, lateMs } = await waitFor('usual', 5_000);
  expect(looks).toBeLessThan(10);
  expect(lateMs).toBeLessThanOrEqual(500);
});

test('what has become faster is found within a second, and in time after that', async () => {
  await waitFor('faster', 10_000);
  expect((await waitFor('faster', 200)).lateMs).toBeLessThanOrEqual(800);
  expect((await waitFor('faster', 200)).lateMs).toBeLessThanOrEqual(40);
});

test('it ends after 25 seconds, or before the function would, with what was read last', async () => {
  expect(await waitFor('endless', 60_000)).toMatchObject({ endedAt: undefined, lateMs: 25_000 - 60_000 });
  expect(await waitFor('endless', 60_000, 10_000)).toMatchObject({ endedAt: undefined, lateMs: 8_000 - 60_000 });
});
