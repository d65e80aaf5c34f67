import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { remember } from '../../../functions/api/http/remember.ts';

describe('a read that remembers', () => {
  afterEach(() => void vi.useRealTimers());

  const stored = new Map<string, string>();
  let reads: string[] = [];
  const make = (max = 10) =>
    remember(
      async (key) => {
        reads.push(key);
        return stored.get(key);
      },
      { milliseconds: 1_000, max },
    );

  beforeEach(() => {
    vi.useFakeTimers();
    reads = [];
    stored.clear();
    stored.set('a', 'first').set('b', 'second').set('c', 'third');
  });

  it('reads once within its time, and again after it', async () => {
    const find = make();

    expect([await find('a'), await find('a')]).toEqual(['first', 'first']);
    expect(reads).toEqual(['a']);
    stored.delete('a');
    vi.advanceTimersByTime(999);
    expect(await find('a')).toBe('first');
    vi.advanceTimersByTime(1);
    expect(await find('a')).toBeUndefined();
  });

  it('does not remember that something is missing', async () => {
    const find = make();

    expect(await find('new')).toBeUndefined();
    stored.set('new', 'made');

    expect(await find('new')).toBe('made');
  });

  it('forgets the oldest beyond its number', async () => {
    const find = make(2);

    for (const key of ['a', 'b', 'c', 'b', 'a']) await find(key);

    expect(reads).toEqual(['a', 'b', 'c', 'a']);
  });
});
