import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { firstIdAt, groupOfId, isId, newGroup, newId, timeOfId } from '../../shared/ids.ts';

const noon = Date.UTC(2026, 0, 1, 12);

describe('ids', () => {
  it('are 24 hexadecimal digits that carry their second', () => {
    const id = newId(noon + 250);

    expect(isId(id)).toBe(true);
    expect(timeOfId(id)).toBe(noon);
  });

  it('made within one millisecond are unique and in order', () => {
    const ids = Array.from({ length: 70_000 }, () => newId(noon + 1_000));

    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toEqual(ids.toSorted());
  });

  it('stay in order when the clock goes back', () => {
    const before = newId(noon + 60_000);

    expect(newId(noon + 30_000) > before).toBe(true);
  });

  it('made later in the same second by another process are greater: the fraction comes before anything random', () => {
    const [early, late] = [firstIdAt(noon + 100), firstIdAt(noon + 101)];

    expect(early < late).toBe(true);
    expect(early.slice(0, 8)).toBe(late.slice(0, 8));
  });

  it('are never less than the first id of their time, nor more than the first id of the next millisecond', () => {
    let time = noon + 120_000;
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100_000 }), (later) => {
        time += later;
        const id = newId(time);
        expect(firstIdAt(time) <= id && id < firstIdAt(time + 1)).toBe(true);
      }),
    );
  });

  it('begin at zero for times before the epoch', () => {
    expect(firstIdAt(-5)).toBe('0'.repeat(24));
    expect(firstIdAt(0)).toBe('0'.repeat(24));
  });

  it.each(['', 'a'.repeat(23), 'a'.repeat(25), 'A'.repeat(24), 'g'.repeat(24), `${'a'.repeat(24)}\n`, ' '.repeat(24)])(
    'do not look like %j',
    (text) => {
      expect(isId(text)).toBe(false);
    },
  );
});

describe('ids of a group', () => {
  // Beyond every id that was made above: ids never go back.
  const nextDay = noon + 86_400_000;
  const isAscending = (ids: string[]) => ids.every((id, index) => index === 0 || (ids[index - 1] ?? '') < id);

  it.each([0, 1, 500, 511])('of a job with %i tasks all name the job, and follow it in order', (count) => {
    const { job, tasks } = newGroup(count, nextDay + 200_000);

    expect(tasks).toHaveLength(count);
    expect([job, ...tasks].every(isId)).toBe(true);
    expect(isAscending([job, ...tasks])).toBe(true);
    expect(new Set([job, ...tasks].map(groupOfId))).toEqual(new Set([job]));
  });

  it('are refused for more tasks than a group has room for', () => {
    expect(() => newGroup(512, nextDay + 200_000)).toThrow('A group has fewer than 512 tasks, but 512 were requested.');
  });

  it('carry their second, as others do', () => {
    const { job, tasks } = newGroup(2, nextDay + 300_250);

    expect([job, ...tasks].map(timeOfId)).toEqual([nextDay + 300_000, nextDay + 300_000, nextDay + 300_000]);
  });

  it('made within one millisecond name a group each, and are in order', () => {
    // A millisecond has room for 128 groups; the others borrow from the next ones.
    const groups = Array.from({ length: 300 }, () => newGroup(3, nextDay + 400_000));

    const ids = groups.flatMap(({ job, tasks }) => [job, ...tasks]);
    expect(isAscending(ids)).toBe(true);
    expect(new Set(ids.map(groupOfId)).size).toBe(groups.length);
  });

  it('never name the group of an id that was made before or after them in the same millisecond', () => {
    let time = nextDay + 500_000;
    const size = fc.option(fc.integer({ min: 0, max: 511 }), { nil: undefined });
    fc.assert(
      fc.property(fc.array(size, { minLength: 1, maxLength: 40 }), (sizes) => {
        time += 1_000;
        const made = sizes.map((tasks) => (tasks === undefined ? [newId(time)] : groupIds(tasks, time)));

        expect(isAscending(made.flat())).toBe(true);
        const groups = made.filter(([, second]) => second !== undefined).map(([job = '']) => job);
        for (const group of groups) {
          const members = made.flat().filter((id) => groupOfId(id) === group);
          expect(members).toEqual(made.find(([job]) => job === group));
        }
      }),
    );
  });

  it('made by two processes in the same millisecond differ in the random part, which the id of a group keeps', () => {
    const mine = newGroup(1, nextDay + 900_000).job;
    const theirs = mine.slice(0, 16) + (mine.endsWith('0') ? '1' : '0').repeat(8);

    expect(groupOfId(theirs)).toBe(theirs);
    expect(groupOfId(theirs)).not.toBe(groupOfId(mine));
  });

  it('without a job are groups of their own', () => {
    const ids = Array.from({ length: 2_000 }, () => newId(nextDay + 1_000_000));

    expect(new Set(ids.map(groupOfId)).size).toBe(ids.length);
  });
});

function groupIds(count: number, time: number): string[] {
  const { job, tasks } = newGroup(count, time);
  return [job, ...tasks];
}
