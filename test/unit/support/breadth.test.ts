import { expect, test } from 'vitest';
import { splitPairs } from '../../support/breadth.ts';

const pairs: [string, string][] = [
  ['a', 'b'],
  ['b', 'c'],
  ['c', 'd'],
  ['d', 'a'],
  ['e', 'a'],
  ['a', 'f'],
];

test('each format is read or written by the usual pairs, and by as few of them as it takes in their order', () => {
  const { usual } = splitPairs(pairs);

  expect(new Set(usual.flat())).toEqual(new Set(pairs.flat()));
  expect(usual).toEqual([
    ['a', 'b'],
    ['c', 'd'],
    ['e', 'a'],
    ['a', 'f'],
  ]);
});

test('no pair is left out of both', () => {
  const { usual, more } = splitPairs(pairs);

  expect([...usual, ...more].toSorted()).toEqual(pairs.toSorted());
});
