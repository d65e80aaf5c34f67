import { expect, test } from 'vitest';
import { outdatedFigures } from '../../second-opinions/opinion.ts';

const section = 'ministack\nIt creates 336 of 336 resources, and 364 of 364 tests pass.\n';

test('figures that are not those of the run are found, with what to write', () => {
  expect(outdatedFigures(section, ['388 of 388 resources', '364 of 364 tests pass'])).toEqual([
    { written: '336 of 336 resources', found: '388 of 388 resources' },
  ]);
});

test('a text without figures has none that are outdated', () => {
  expect(outdatedFigures('IAM\nNo decision differs.\n', ['9 of 9 tests pass'])).toEqual([]);
});
