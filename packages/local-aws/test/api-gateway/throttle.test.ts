import { expect, test } from 'vitest';
import { createThrottle } from '../../src/api-gateway/http/throttle.ts';

test('lets a burst through, then as many as the rate refills, and never more than a burst', () => {
  let now = 0;
  const isWithinRate = createThrottle({ rate: 10, burst: 3 }, () => now);
  const passed = (requests: number) => Array.from({ length: requests }, isWithinRate).filter(Boolean).length;

  expect(passed(5)).toBe(3);
  now += 200;
  expect(passed(5)).toBe(2);
  now += 10_000;
  expect(passed(5)).toBe(3);
});
