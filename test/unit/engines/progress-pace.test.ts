import { describe, expect, test } from 'vitest';
import { ProgressPace } from '../../../functions/worker/progress-pace.ts';

const second = 1_000;

/** Lets an engine report every 100 ms, each time another percentage, and returns when it was written, in seconds. */
function writesOver(seconds: number, writeMs: number): number[] {
  const pace = new ProgressPace(0);
  const times: number[] = [];
  for (let now = 0; now <= seconds * second; now += 100) {
    if (!pace.isDue(now, now)) continue;
    pace.wrote(now, now, now + writeMs);
    times.push(now / second);
  }
  return times;
}

describe('progress', () => {
  test('is written every second at first, and at a tenth of the age later', () => {
    const times = writesOver(200, 5);
    expect(times.slice(0, 5)).toEqual([1, 2, 3, 4, 5]);
    const pauseAt = (age: number) =>
      (times.find((time) => time > age) ?? 0) - (times.findLast((time) => time <= age) ?? 0);
    expect(pauseAt(50)).toBeCloseTo(5, 0);
    expect(pauseAt(150)).toBeCloseTo(10, 0);
    expect(times.length).toBeLessThan(50);
  });

  test('that was written already is not written again', () => {
    const pace = new ProgressPace(0);
    expect(pace.isDue(7, second)).toBe(true);
    pace.wrote(7, second, second + 5);
    expect(pace.isDue(7, 60 * second)).toBe(false);
    expect(pace.isDue(8, 60 * second)).toBe(true);
  });

  test('is written less often if a write takes long, but at least every ten seconds', () => {
    expect(writesOver(10, 60)).toEqual([1, 4, 7, 10]);
    expect(writesOver(31, 5_000)).toEqual([1, 11, 21, 31]);
  });
});
