import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { firstIdAt, isId, newId, timeOfId } from '../../shared/ids.ts';

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
