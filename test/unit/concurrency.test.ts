import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { atMost, mapAtOnce } from '../../shared/concurrency.ts';

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

it('does work at most so many at a time, also after one that failed', async () => {
  const inTurn = atMost(2);
  let running = 0;
  let most = 0;
  const results = await Promise.allSettled(
    [3, 1, 2, 0, 2].map((turns) =>
      inTurn(async () => {
        most = Math.max(most, ++running);
        for (let count = 0; count < turns; count++) await turn();
        running--;
        if (turns === 1) throw new Error('It failed.');
        return turns;
      }),
    ),
  );
  expect(most).toBe(2);
  expect(results.map((each) => (each.status === 'fulfilled' ? each.value : each.status))).toEqual([
    3,
    'rejected',
    2,
    0,
    2,
  ]);
});
