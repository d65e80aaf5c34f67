import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { afterFailedRecovery, checkDelayMs, maxRecoveries, nextCheck } from '../../../shared/tasks/due.ts';
import { createdAt, makeJob, makeTask } from './factory.ts';

const now = createdAt + 100_000;
const minuteMs = 60_000;

describe('the next check', () => {
  it('is on a full minute, less than a minute after the delay', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 86_400_000 }),
        fc.integer({ min: 60_000, max: 3_600_000 }),
        (later, pause) => {
          const dueAt = nextCheck(createdAt + later, pause);
          expect(dueAt % minuteMs).toBe(0);
          expect(dueAt - (createdAt + later) - pause).toBeGreaterThanOrEqual(0);
          expect(dueAt - (createdAt + later) - pause).toBeLessThan(minuteMs);
        },
      ),
    );
  });

  it('is exactly after a delay of less than a minute', () => {
    expect(nextCheck(createdAt + 1, 5_000)).toBe(createdAt + 5_001);
  });

  it('defaults to a delay of two minutes', () => {
    expect(nextCheck(createdAt)).toBe(createdAt + 120_000);
    expect(checkDelayMs).toBe(120_000);
    expect(nextCheck(createdAt + 1)).toBe(createdAt + 180_000);
  });
});

describe.each([
  ['task', makeTask()],
  ['job', makeJob({ pendingEvents: ['created'] })],
])('a %s that the sweep could not recover', (_kind, record) => {
  it('is due again later, longer each time, and unchanged for a reader', () => {
    let latest: typeof record | undefined = record;
    const delays = Array.from({ length: maxRecoveries - 1 }, () => {
      latest = latest && afterFailedRecovery(latest, now, undefined);
      return (latest?.dueAt ?? 0) - now;
    });

    expect(delays).toEqual([1, 2, 4, 8].map((minutes) => minutes * minuteMs));
    expect(latest).toEqual({
      ...record,
      dueAt: now + 8 * minuteMs,
      failedRecoveries: maxRecoveries - 1,
      version: record.version + maxRecoveries - 1,
    });
  });

  it('is due no more after the last attempt', () => {
    const { dueAt: _dueAt, ...rest } = record;

    expect(afterFailedRecovery({ ...record, failedRecoveries: maxRecoveries - 1 }, now, undefined)).toEqual({
      ...rest,
      failedRecoveries: maxRecoveries,
      version: record.version + 1,
    });
  });

  it('is due after the last attempt if others of its group continue, and starts to count anew', () => {
    const last = { ...record, failedRecoveries: maxRecoveries - 1 };

    expect(afterFailedRecovery(last, now, now + 15 * minuteMs)).toEqual({
      ...record,
      dueAt: now + 15 * minuteMs,
      version: record.version + 1,
    });
  });

  it('is left alone when it is due no more', () => {
    const { dueAt: _dueAt, ...rest } = record;

    expect(afterFailedRecovery(rest, now, now + minuteMs)).toBeUndefined();
  });
});
