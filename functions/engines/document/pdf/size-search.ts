/** A way from a small file to a large one: sizes at 0 to 1, growing but for small leaps. */
export type Way = (quality: number) => Promise<number>;

/** A result this close below the target is as good as the target. */
export const closeEnough = 0.95;
/** Where in the tolerated range to aim. */
const aim = 0.98;
const maxAttempts = 14;
/** Below this two settings are the same, so that a leap between them is one no setting falls into. */
const finestStep = 1e-4;

/** Says whether a size is no larger than a target and close below it. */
export function lands(size: number, target: number): boolean {
  return size <= target && size >= target * closeEnough;
}

/**
 * Searches a way for a size that lands on a target, by interpolation between the nearest sizes known, and by halving
 * where that is slow. Returns the best quality found that is no larger than the target, if there is one.
 */
export async function searchWay(way: Way, target: number, inTime: () => boolean): Promise<number | undefined> {
  let high = { quality: 1, size: await way(1) };
  if (high.size <= target) return 1;
  let low = { quality: 0, size: await way(0) };
  if (low.size > target) return undefined;
  for (let tries = 0; tries < maxAttempts && !lands(low.size, target) && inTime(); tries++) {
    const width = high.quality - low.quality;
    if (width < finestStep) break;
    const share = Math.log((target * aim) / low.size) / Math.log(high.size / low.size);
    // A leap would hold interpolation at one of its ends.
    const inside = tries % 3 === 2 || !Number.isFinite(share) ? 0.5 : Math.min(0.95, Math.max(0.05, share));
    const quality = low.quality + width * inside;
    const size = await way(quality);
    if (size <= target) low = { quality, size };
    else high = { quality, size };
  }
  return low.quality;
}
