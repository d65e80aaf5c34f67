import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { mapAtOnce } from '../../shared/concurrency.ts';

it('works on so many items at a time and keeps their order', async () => {
  let running = 0;
  let most = 0;
  const results = await mapAtOnce([5, 1, 4, 2, 3, 0], 2, async (item, index) => {
    most = Math.max(most, ++running);
    for (let turns = 0; turns < item; turns++) await turn();
    running--;
    return `${index}:${item}`;
  });
  expect(results).toEqual(['0:5', '1:1', '2:4', '3:2', '4:3', '5:0']);
  expect(most).toBe(2);
});

it('begins nothing after a failure, and throws when what was under way has ended', async () => {
  const begun: number[] = [];
  const ended: number[] = [];
  const work = mapAtOnce([0, 1, 2, 3, 4], 2, async (item) => {
    begun.push(item);
    if (item === 1) throw new Error('It failed.');
    await turn();
    ended.push(item);
  });
  await expect(work).rejects.toThrow('It failed.');
  expect({ begun, ended }).toEqual({ begun: [0, 1], ended: [0] });
});
