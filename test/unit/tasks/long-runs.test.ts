import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  expiredRuns,
  isShareTaken,
  type LongRuns,
  longRunWindowMs,
  returnDelaySeconds,
  runName,
} from '../../../shared/tasks/long-runs.ts';

const now = Date.UTC(2026, 0, 1);
const run = (id: string, attempt = 1) => runName({ id, attempt });

describe('the share of an account', () => {
  it.each<[string, LongRuns, boolean]>([
    ['nobody', {}, false],
    ['one of two others', { [run('b')]: now + 1 }, false],
    ['two others', { [run('b')]: now + 1, [run('c')]: now + 1 }, true],
    ['another that lives and one that died', { [run('b')]: now + 1, [run('c')]: now }, false],
    ['another and itself', { [run('b')]: now + 1, [run('a', 2)]: now + 1 }, false],
    ['another and an earlier run of its own', { [run('b')]: now + 1, [run('a', 1)]: now + 1 }, false],
    ['two runs whose names begin alike', { [run('ab')]: now + 1, [run('aa')]: now + 1 }, true],
  ])('of two runs is taken, or not, by %s', (_, runs, expected) => {
    expect(isShareTaken(runs, 'a', 2, now)).toBe(expected);
  });

  it('lets no more runs go on than it has, and no fewer, in whatever order and by whatever clocks they are recorded', () => {
    const worker = fc.record({ skewMs: fc.integer({ min: -150, max: 150 }), ends: fc.boolean() });
    fc.assert(
      fc.property(fc.array(worker, { maxLength: 30 }), fc.integer({ min: 1, max: 5 }), (workers, share) => {
        const runs: LongRuns = {};
        const goOn = new Set<string>();
        workers.forEach(({ skewMs, ends }, index) => {
          const clock = now + skewMs;
          // One write each, whose result holds all before it.
          runs[run(`t${index}`)] = clock + longRunWindowMs;
          if (isShareTaken(runs, `t${index}`, share, clock)) delete runs[run(`t${index}`)];
          else goOn.add(`t${index}`);
          expect(goOn.size).toBeLessThanOrEqual(share);
          expect(goOn.size).toBe(Object.keys(runs).length);
          const [oldest] = goOn;
          if (!ends || oldest === undefined) return;
          goOn.delete(oldest);
          delete runs[run(oldest)];
        });
      }),
    );
  });

  it('lists what has expired', () => {
    expect(expiredRuns({ [run('b')]: now, [run('c')]: now + 1 }, now)).toEqual([run('b')]);
  });
});

describe('a task that was given back', () => {
  it.each([
    [0, 2],
    [8_000, 2],
    [20_000, 5],
    [3_600_000, 20],
    [-100, 2],
  ])('is delivered again, after %i ms of waiting, in %i s', (waitedMs, seconds) => {
    expect(returnDelaySeconds(waitedMs)).toBe(seconds);
  });
});
