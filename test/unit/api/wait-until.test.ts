import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { HttpError } from '../../../functions/api/http/errors.ts';
import { waitUntil } from '../../../functions/api/http/wait-until.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

interface Work {
  createdAt: string;
  startedAt: string;
  endedAt?: string;
}

/** Waits for work that ends after some time, and returns how often it was looked at and how late the end was found. */
async function waitFor(
  kind: string,
  workMs: number,
  { remainingMs = 29_000, holdMs = 25_000, createdBeforeMs = 0, startedBeforeMs = 0 } = {},
) {
  const start = Date.now();
  const startedAt = new Date(start - startedBeforeMs).toISOString();
  const createdAt = new Date(start - startedBeforeMs - createdBeforeMs).toISOString();
  let looks = 0;
  let unusedMs = 0;
  const waiting = waitUntil<Work, Work>({
    read: async () => {
      looks += 1;
      return Date.now() - start < workMs
        ? { createdAt, startedAt }
        : { createdAt, startedAt, endedAt: new Date(start + workMs).toISOString() };
    },
    present: (work) => work,
    kindOf: () => kind,
    isDone: ({ endedAt }) => endedAt !== undefined,
    remainingMs: () => remainingMs,
    hold: {
      milliseconds: holdMs,
      giveBack(milliseconds) {
        unusedMs += milliseconds;
      },
    },
  });
  await vi.runAllTimersAsync();
  const {
    body: { endedAt },
    headers,
  } = await waiting;
  return { looks, endedAt, unusedMs, retryAfter: headers['Retry-After'], lateMs: Date.now() - start - workMs };
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
  expect(await waitFor('endless', 60_000, { remainingMs: 10_000 })).toMatchObject({
    endedAt: undefined,
    lateMs: 6_000 - 60_000,
  });
});

test('what was created long before it started is looked at as often as what is new', async () => {
  expect(await waitFor('uploaded late', 300, { createdBeforeMs: 3_600_000 })).toMatchObject({ looks: 9, lateMs: 20 });
});

test('what has been going on for long is not looked at more often because somebody asks again', async () => {
  const { looks, lateMs } = await waitFor('asked for again', 10_000, { startedBeforeMs: 20_000 });
  expect(looks).toBeLessThan(8);
  expect(lateMs).toBeLessThanOrEqual(2_000);
});

test('what may not be held is looked at once, and the client told when to ask again', async () => {
  const once = { looks: 1, endedAt: undefined, unusedMs: 0 };
  expect(await waitFor('not held', 60_000, { holdMs: 0 })).toMatchObject({ ...once, retryAfter: '1' });
  await waitFor('held before', 3_000);
  expect(await waitFor('held before', 60_000, { holdMs: 0 })).toMatchObject({ ...once, retryAfter: '3' });
  await waitFor('long', 20_000);
  expect(await waitFor('long', 60_000, { holdMs: 0 })).toMatchObject({ ...once, retryAfter: '10' });
});

test('what was held in vain is asked for again after half of what it has taken, up to ten seconds', async () => {
  expect(await waitFor('held in vain', 60_000, { holdMs: 2_000 })).toMatchObject({ retryAfter: '1', unusedMs: 0 });
  expect(await waitFor('held in vain', 60_000, { holdMs: 8_000 })).toMatchObject({ retryAfter: '4', unusedMs: 0 });
  expect(await waitFor('held in vain', 60_000)).toMatchObject({ retryAfter: '10', unusedMs: 0 });
  expect(await waitFor('held in time', 100)).toMatchObject({ retryAfter: undefined });
});

test('the time that a wait did not need is given back', async () => {
  const { unusedMs, lateMs } = await waitFor('short', 5_000);
  expect(unusedMs).toBe(25_000 - 5_000 - lateMs);
});

/** Waits for work that never ends, by reads that respond as they do in their order, the last one for ever. */
async function waitByReads(reads: (() => Promise<{ createdAt: string }>)[]) {
  const start = Date.now();
  const waiting = waitUntil({
    read: () => (reads.length > 1 ? reads.shift() : reads[0])?.() ?? Promise.reject(new Error('There is no read.')),
    present: async ({ createdAt }) => ({ createdAt }),
    kindOf: () => 'read',
    isDone: () => false,
    remainingMs: () => start + 29_000 - Date.now(),
    hold: { milliseconds: 25_000, giveBack() {} },
  }).catch((error: unknown) => error);
  await vi.runAllTimersAsync();
  return { result: await waiting, seconds: (Date.now() - start) / 1_000 };
}

const createdAt = new Date().toISOString();
const read = async () => ({ createdAt });
const fail = () => Promise.reject(new Error('TimeoutError'));
const hang = () => new Promise<never>(() => {});

test('after reads that fail, or do not respond, the response is what was read before, and says when to ask again', async () => {
  const known = { body: { createdAt }, headers: { 'Retry-After': expect.stringMatching(/^\d+$/) } };
  expect(await waitByReads([read, fail])).toEqual({ result: known, seconds: 25 });
  expect(await waitByReads([read, hang])).toEqual({ result: known, seconds: 28 });
  expect(await waitByReads([fail, fail, read, hang])).toMatchObject({ result: known, seconds: 28 });
});

test('where no read ever succeeds, the wait fails before the function would', async () => {
  expect(await waitByReads([fail])).toEqual({ result: new Error('TimeoutError'), seconds: 25 });
  expect(await waitByReads([hang])).toEqual({ result: new Error('The read timed out.'), seconds: 28 });
});

test('what is not found, or was deleted meanwhile, is not read again', async () => {
  const missing = new HttpError(404, 'not_found', 'There is no such job.');
  expect(await waitByReads([read, () => Promise.reject(missing)])).toMatchObject({ result: missing });
});
