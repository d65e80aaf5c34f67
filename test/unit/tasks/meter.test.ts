import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { chargesOf, usageOf } from '../../../shared/tasks/charges.ts';
import {
  elapsed,
  endMeter,
  extendedMeter,
  type Meter,
  newMeter,
  reservationEnd,
  smallReservationMs,
  startMeter,
} from '../../../shared/tasks/meter.ts';
import { decide, type TaskEvent } from '../../../shared/tasks/transitions.ts';
import { createdAt, makeTask } from './factory.ts';

const limits = { account: 600_000, key: 120_000 };

describe('A meter', () => {
  test('belongs to tasks that take an engine', () => {
    expect(newMeter('convert')).toEqual({});
    expect(newMeter('import/webpage', limits)).toEqual({ limits });
    expect(newMeter('import/url', limits)).toBeUndefined();
    expect(newMeter('export/url', limits)).toBeUndefined();
  });

  test('reserves nothing without a monthly limit', () => {
    expect(startMeter({ limits: { task: 5_000 } }, createdAt)).not.toHaveProperty('reservedMs');
    expect(startMeter({}, createdAt)).toEqual({ month: '2026-01', since: createdAt });
  });

  test('sets aside no more than a task may use, and goes on with what a dead run had set aside', () => {
    const first = startMeter({ limits: { ...limits, task: 4_000 } }, createdAt);
    expect(first.reservedMs).toBe(4_000);
    expect(startMeter({ ...first, reservedMs: 50_000 }, createdAt + 1)).toMatchObject({ reservedMs: 50_000 });
    expect(startMeter({ limits }, createdAt, smallReservationMs).reservedMs).toBe(smallReservationMs);
  });

  test('takes the allowance of the month in which it first started', () => {
    const before = startMeter({ limits }, Date.UTC(2026, 0, 31, 23, 59));
    expect(startMeter(before, Date.UTC(2026, 1, 1)).month).toBe('2026-01');
  });

  test('is always extended before it is used up, and never beyond what a task may use', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 3_600_000 }), fc.integer({ min: 1, max: 900_000 }), (task, runs) => {
        let meter: Meter = startMeter({ limits: { account: 1e9, task } }, createdAt);
        for (let now = createdAt; now < createdAt + Math.min(runs, task); now += 100) {
          meter = extendedMeter(meter, now) ?? meter;
          expect(reservationEnd(meter)).toBeGreaterThan(now);
          expect(meter.reservedMs).toBeLessThanOrEqual(task);
        }
      }),
      { numRuns: 20 },
    );
  });

  test('ends with what was used, at most what was set aside', () => {
    const meter = startMeter({ limits }, createdAt);
    expect(endMeter(meter, { ms: 1_234.4, formats: 'png>webp' })).toEqual({
      limits,
      month: '2026-01',
      usedMs: 1_234,
      formats: 'png>webp',
    });
    expect(endMeter(meter, { ms: 99_000 }).usedMs).toBe(10_000);
    expect(endMeter(meter, elapsed(meter, createdAt + 500)).usedMs).toBe(500);
  });
});

describe('What a task charges', () => {
  const created = makeTask({ operation: 'convert', key: 'k1', meter: { limits } });
  const changedBy = (task: typeof created, event: TaskEvent, now = createdAt) => {
    const decision = decide(task, event, now);
    if (decision.outcome !== 'changed') throw new Error(decision.reason);
    return decision.task;
  };
  const running = changedBy(created, { type: 'started' });

  test('is what is set aside at the start, of the account and of the key', () => {
    const charge = { user: created.user, month: '2026-01', ms: 10_000 };
    expect(chargesOf(created, running)).toEqual([
      { ...charge, max: 600_000 },
      { ...charge, key: 'k1', max: 120_000 },
    ]);
    expect(usageOf(created, running)).toBeUndefined();
  });

  test('is nothing for the start of a run after one that died', () => {
    expect(chargesOf(running, changedBy(running, { type: 'started' }, createdAt + 60_000))).toEqual([]);
  });

  test.for<[string, TaskEvent, number]>([
    ['completed', { type: 'completed', attempt: 1, files: [], engine: { ms: 700 } }, 700],
    ['failed by its file', failed({ ms: 300 }), 300],
    ['failed by us', { type: 'expired', failure: { errorCode: 'processing_failed', msg: '' } }, 0],
    ['canceled after a second', { type: 'canceled' }, 1_000],
    ['deleted after a second', { type: 'deleted' }, 1_000],
  ])('is what was used once it is %s', ([, event, used]) => {
    const ended = changedBy(running, event, createdAt + 1_000);
    expect(ended.meter?.usedMs).toBe(used);
    expect(chargesOf(running, ended).map(({ ms }) => ms)).toEqual([used - 10_000, used - 10_000]);
    expect(usageOf(running, ended)?.ms ?? 0).toBe(used);
  });

  test('stays when an ended task is deleted', () => {
    const ended = changedBy(running, { type: 'completed', attempt: 1, files: [], engine: { ms: 700 } });
    const deleted = changedBy(ended, { type: 'deleted' }, createdAt + 5_000);
    expect(chargesOf(ended, deleted)).toEqual([]);
    expect(usageOf(ended, deleted)).toBeUndefined();
  });

  test('is nothing for a task that never started', () => {
    const canceled = changedBy(created, { type: 'canceled' });
    expect(chargesOf(created, canceled)).toEqual([]);
    expect(usageOf(created, canceled)).toBeUndefined();
  });
});

function failed(engine: { ms: number }) {
  const failure = { errorCode: 'processing_failed', msg: 'The file is damaged.' } as const;
  return { type: 'failed', attempt: 1, failure, engine } as const;
}
