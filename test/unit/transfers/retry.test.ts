import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { backoff, retry } from '../../../shared/retry.ts';

/** Returns work that fails a number of times, each time with another error, before it succeeds. */
function failing(times: number) {
  let calls = 0;
  return vi.fn(async () => {
    calls += 1;
    if (calls <= times) throw new Error(`failure ${calls}`);
    return 'done';
  });
}

describe('retrying work', () => {
  it('returns the first success without calling for a delay', async () => {
    const delayMs = vi.fn(() => 0);

    expect(await retry(failing(0), delayMs)).toBe('done');
    expect(delayMs).not.toHaveBeenCalled();
  });

  it('asks for a delay with each error and the number of the attempt', async () => {
    const work = failing(2);
    const delayMs = vi.fn((_error: unknown, _attempt: number) => 1);

    expect(await retry(work, delayMs)).toBe('done');
    expect(work).toHaveBeenCalledTimes(3);
    expect(delayMs.mock.calls).toEqual([
      [new Error('failure 1'), 1],
      [new Error('failure 2'), 2],
    ]);
  });

  it('gives up with the error that the delay throws', async () => {
    const work = failing(9);
    const giveUp = (error: unknown, attempt: number) => {
      if (attempt === 3) throw new Error('Gave up.', { cause: error });
      return 0;
    };

    await expect(retry(work, giveUp)).rejects.toThrow('Gave up.');
    expect(work).toHaveBeenCalledTimes(3);
  });

  it('waits for as long as the delay says', async () => {
    const started = performance.now();

    await retry(failing(1), () => 30);

    expect(performance.now() - started).toBeGreaterThan(25);
  });

  it('does not retry after an abort, and throws the error of the work', async () => {
    const controller = new AbortController();
    const work = vi.fn(async () => {
      controller.abort();
      throw new Error('broken off');
    });

    await expect(retry(work, () => 0, controller.signal)).rejects.toThrow('broken off');
    expect(work).toHaveBeenCalledTimes(1);
  });

  it('stops waiting when it is aborted', async () => {
    const controller = new AbortController();
    const work = failing(1);
    const retrying = retry(work, () => 60_000, controller.signal);
    setImmediate(() => controller.abort());

    await expect(retrying).rejects.toThrow(expect.objectContaining({ name: 'AbortError' }));
    expect(work).toHaveBeenCalledTimes(1);
  });
});

describe('the backoff', () => {
  beforeEach(() => void vi.spyOn(Math, 'random'));
  afterEach(() => vi.restoreAllMocks());

  it.each([
    [0, [50, 100, 200, 200]],
    [1, [100, 200, 400, 400]],
  ])('doubles up to its maximum, with up to half of it cut off at random (%d)', (random, expected) => {
    vi.mocked(Math.random).mockReturnValue(random);

    expect([1, 2, 3, 4].map((attempt) => backoff(attempt, 100, 400))).toEqual(expected);
  });
});
