/** Returns the file size for a quality from 0 to 1. It grows with the quality, apart from small jumps. */
export type SizeOf = (quality: number) => Promise<number>;

/** A result this close below the target is as good as the target. */
export const closeEnough = 0.95;
/** The point in the tolerated range to aim for. */
const aim = 0.98;
const maxAttempts = 14;
/** Settings that differ by less than this are the same. */
const finestStep = 1e-4;

/** Returns whether a size is at most the target and close to it. */
export function meetsTarget(size: number, target: number): boolean {
  return size <= target && size >= target * closeEnough;
}

/**
 * Searches for a quality that meets a target size, by interpolation between the nearest known sizes, or by bisection if that is
 * slow. Returns the best quality with a size no larger than the target, if there is one.
 */
export async function searchQuality(
  sizeOf: SizeOf,
  target: number,
  inTime: () => boolean,
): Promise<number | undefined> {
  let high = { quality: 1, size: await sizeOf(1) };
  if (high.size <= target) return 1;
  let low = { quality: 0, size: await sizeOf(0) };
  if (low.size > target) return undefined;
  for (let attempt = 0; attempt < maxAttempts && !meetsTarget(low.size, target) && inTime(); attempt++) {
    const width = high.quality - low.quality;
    if (width < finestStep) break;
    const share = Math.log((target * aim) / low.size) / Math.log(high.size / low.size);
    // A jump would keep interpolation at one of its ends.
    const inside = attempt % 3 === 2 || !Number.isFinite(share) ? 0.5 : Math.min(0.95, Math.max(0.05, share));
    const quality = low.quality + width * inside;
    const size = await sizeOf(quality);
    if (size <= target) low = { quality, size };
    else high = { quality, size };
  }
  return low.quality;
}
