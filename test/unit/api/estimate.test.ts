import { expect, test } from 'vitest';
import { isQuick, learn } from '../../../functions/api/instant/estimate.ts';
import type { InstantWork } from '../../../functions/api/instant/work.ts';
import { makeTask } from '../tasks/factory.ts';

function workOf(user: string): InstantWork {
  const file = { key: '', name: 'a.png', size: 1_000, format: 'png', mediaType: 'image/png', token: '' };
  const task = makeTask({ user, operation: 'convert', payload: { output_format: 'webp' } });
  return { engine: 'image', task, files: [file], secrets: [] };
}

test('Slow files of one account do not turn the conversions of another into jobs', () => {
  learn(workOf('slow'), 30_000);

  expect(isQuick(workOf('slow'), 25_000)).toBe(false);
  expect(isQuick(workOf('other'), 25_000)).toBe(true);
});
