import { describe, expect, it } from 'vitest';
import { meetsTarget, searchQuality } from '../../../functions/engines/runtime/size-search.ts';

const always = () => true;

/** Records the sizes of all attempts. */
function watched(size: (quality: number) => number) {
  const sizes: number[] = [];
  const sizeOf = async (quality: number) => {
    sizes.push(size(quality));
    return size(quality);
  };
  return { sizeOf, sizes };
}

describe('the search for a size', () => {
  it.each([1500, 20_000, 400_000, 980_000])('meets %s within a few attempts if sizes grow evenly', async (target) => {
    const { sizeOf, sizes } = watched((quality) => Math.round(1000 * 1000 ** quality));

    await searchQuality(sizeOf, target, always);

    expect(sizes.some((size) => meetsTarget(size, target))).toBe(true);
    expect(sizes.length).toBeLessThan(8);
  });

  it('meets a target if sizes grow late and steeply', async () => {
    const { sizeOf, sizes } = watched((quality) => 1000 + 1_000_000 * quality ** 12);

    await searchQuality(sizeOf, 300_000, always);

    expect(sizes.some((size) => meetsTarget(size, 300_000))).toBe(true);
  });

  it('stops at the lower edge of a leap over the target', async () => {
    const { sizeOf, sizes } = watched((quality) => (quality < 0.6 ? 1000 + quality : 9000 + quality));

    const quality = await searchQuality(sizeOf, 5000, always);

    expect(quality).toBeGreaterThan(0.59);
    expect(quality).toBeLessThan(0.6);
    expect(sizes.length).toBeLessThan(18);
  });

  it('returns the best quality if every size is small enough, and nothing if all are too large', async () => {
    expect(await searchQuality(async () => 10, 100, always)).toBe(1);
    expect(await searchQuality(async () => 1000, 100, always)).toBeUndefined();
  });

  it('starts no further attempt after its deadline', async () => {
    const { sizeOf, sizes } = watched((quality) => 1000 * 1000 ** quality);

    await searchQuality(sizeOf, 20_000, () => false);

    expect(sizes).toHaveLength(2);
  });
});
