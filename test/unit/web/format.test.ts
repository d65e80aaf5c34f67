import { expect, test } from 'vitest';
import { timeLeftText, wholeText } from '../../../web/src/format.ts';

test.for([
  [undefined, 60, ''],
  [0.01, 60, ''],
  [0.5, 1, ''],
  [1, 60, ''],
  [0.9, 30, 'a few seconds left'],
  [0.5, 21, 'about 25 seconds left'],
  [0.5, 56, 'about 1 minute left'],
  [0.25, 60, 'about 3 minutes left'],
  [0.1, 1_200, 'about 3.0 hours left'],
] as const)('the time left of a share of %s after %s seconds is "%s"', ([share, seconds, text]) => {
  expect(timeLeftText(share, seconds)).toBe(text);
});

test.for([
  [60, '1 minute'],
  [14_400, '4 hours'],
  [3_600, '1 hour'],
  [86_400, '24 hours'],
  [172_800, '2 days'],
] as const)('%s seconds are %s', ([seconds, text]) => {
  expect(wholeText(seconds)).toBe(text);
});
