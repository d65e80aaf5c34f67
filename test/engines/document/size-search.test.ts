import { describe, expect, it } from 'vitest';
import { lands, searchWay } from '../../../functions/engines/document/pdf/size-search.ts';

const always = () => true;

/** Counts how often a way is tried, and keeps what came of it. */
function watched(size: (quality: number) => number) {
  const sizes: number[] = [];
  const way = async (quality: number) => {
    sizes.push(size(quality));
    return size(quality);
  };
  return { way, sizes };
}

describe('the search for a size', () => {
  it.each([1500, 20_000, 400_000, 980_000])(
    'lands on %s within a few tries where sizes grow evenly',
    async (target) => {
      const { way, sizes } = watched((quality) => Math.round(1000 * 1000 ** quality));

      await searchWay(way, target, always);

      expect(sizes.some((size) => lands(size, target))).toBe(true);
      expect(sizes.length).toBeLessThan(8);
    },
  );

  it('lands where sizes grow late and steeply', async () => {
    const { way, sizes } = watched((quality) => 1000 + 1_000_000 * quality ** 12);

    await searchWay(way, 300_000, always);

    expect(sizes.some((size) => lands(size, 300_000))).toBe(true);
  });

  it('stops at the lower edge of a leap over the target', async () => {
    const { way, sizes } = watched((quality) => (quality < 0.6 ? 1000 + quality : 9000 + quality));

    const quality = await searchWay(way, 5000, always);

    expect(quality).toBeGreaterThan(0.59);
    expect(quality).toBeLessThan(0.6);
    expect(sizes.length).toBeLessThan(18);
  });

  it('takes the best quality where all of a way is small enough, and nothing where all is too large', async () => {
    expect(await searchWay(async () => 10, 100, always)).toBe(1);
    expect(await searchWay(async () => 1000, 100, always)).toBeUndefined();
  });

  it('tries nothing more when its time is over', async () => {
    const { way, sizes } = watched((quality) => 1000 * 1000 ** quality);

    await searchWay(way, 20_000, () => false);

    expect(sizes).toHaveLength(2);
  });
});
