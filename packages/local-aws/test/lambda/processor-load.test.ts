import { expect, test } from 'vitest';
import { ProcessorLoad } from '../../src/lambda/processor-load.ts';

/** Returns a load meter of two processors, and a function that lets time pass with some of it idle. */
function machine() {
  const times = { idle: 0, all: 0 };
  let now = 0;
  const load = new ProcessorLoad(
    () => ({ ...times }),
    () => now,
  );
  const pass = (milliseconds: number, idlePart: number) => {
    now += milliseconds;
    times.all += 2 * milliseconds;
    times.idle += 2 * milliseconds * idlePart;
    return load.isBusy;
  };
  return { pass };
}

test('processors are busy while hardly any of their time is left', () => {
  const { pass } = machine();

  expect(pass(500, 0.05)).toBe(true);
  expect(pass(500, 0.5)).toBe(false);
  expect(pass(500, 0)).toBe(true);
});

test('a moment is too short to measure, and old measurements are dropped', () => {
  const { pass } = machine();

  expect(pass(50, 0)).toBe(false);
  expect(pass(500, 0)).toBe(true);
  expect(pass(50, 1)).toBe(true);
  expect(pass(60_000, 0)).toBe(false);
});
