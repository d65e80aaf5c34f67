import type { Sharp } from 'sharp';

/** An encoding with a size that grows with a level. */
export interface Variant {
  /** Lowest and highest level. */
  levels: [number, number];
  /** Below this level, fewer pixels look better. */
  minLevel: number;
  encode(image: Sharp, level: number): Promise<Buffer>;
}

export interface Search {
  /** Encodings, the best-looking first. The others fill the gaps between its levels. */
  variants: Variant[];
  /** The level of the first encoding with hardly any loss, for an image with fewer pixels. */
  goodLevel: number;
  /** Opens the pixels again for each attempt, scaled down by a factor. */
  image(scale: number): Promise<Sharp>;
  /** Returns the similarity of an encoding to the image in decibels. */
  likeness(encoded: Buffer): Promise<number>;
  /** The smallest acceptable factor, or undefined if the image must keep its pixels. */
  minScale: number | undefined;
  progress(share: number): void;
}

interface Candidate {
  bytes: Buffer;
  scale: number;
  likeness: number;
}

export interface Found {
  best?: { bytes: Buffer; scale: number };
  smallest: number;
}

/** How much smaller than its target a file may be. */
const tolerance = 0.05;
const expectedAttempts = 12;
/** In decibels. Below it, the loss is obvious, and an image with fewer pixels may look better. */
const minLikeness = 30;
const maxScales = 10;

/**
 * Finds the best-looking encoding that is no larger than a target. Each is searched by bisection. The first that comes within
 * 5 % is used, otherwise the most similar one. If that is still not similar enough, fewer pixels of a good quality are tried.
 */
export async function searchSize(target: number, search: Search): Promise<Found> {
  const { variants, image, likeness, minScale } = search;
  let [smallest, largest] = [Number.POSITIVE_INFINITY, 0];
  let attempts = 0;
  const bisect = async ([low, high]: [number, number], encode: (level: number) => Promise<Buffer>) => {
    let best: Buffer | undefined;
    const attempt = async (level: number) => {
      const bytes = await encode(level);
      attempts += 1;
      search.progress(Math.min(1, attempts / expectedAttempts));
      smallest = Math.min(smallest, bytes.length);
      largest = Math.max(largest, bytes.length);
      if (bytes.length <= target && bytes.length > (best?.length ?? 0)) best = bytes;
      return bytes.length;
    };
    if ((await attempt(high)) <= target) return { bytes: best, isHighest: true };
    if ((await attempt(low)) > target) return { bytes: undefined, isHighest: false };
    high -= 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const length = await attempt(middle);
      if (length <= target && length >= target * (1 - tolerance)) break;
      if (length <= target) low = middle + 1;
      else high = middle - 1;
    }
    return { bytes: best, isHighest: false };
  };

  let best: Candidate | undefined;
  const tryVariants = async (lowest: (variant: Variant) => number) => {
    for (const [index, variant] of variants.entries()) {
      const range: [number, number] = [lowest(variant), variant.levels[1]];
      const { bytes, isHighest } = await bisect(range, async (level) => variant.encode(await image(1), level));
      // The best quality is already small enough.
      if (index === 0 && isHighest && bytes) return { bytes, scale: 1, likeness: Number.POSITIVE_INFINITY };
      if (!bytes) continue;
      // If all pixels must stay, the closest size is the best.
      best = better(best, { bytes, scale: 1, likeness: minScale === undefined ? minLikeness : await likeness(bytes) });
      if (!isHighest && best.bytes.length >= target * (1 - tolerance) && best.likeness >= minLikeness) break;
    }
    return best;
  };

  best = await tryVariants(({ levels, minLevel }) => (minScale === undefined ? levels[0] : minLevel));
  const [first] = variants;
  if (first && minScale !== undefined && (best?.likeness ?? 0) < minLikeness) {
    // Sizes are nearly proportional to the number of pixels, so a few attempts are enough.
    let [low, high, scale] = [minScale, 1, Math.sqrt(target / largest)];
    let fitting: { bytes: Buffer; scale: number } | undefined;
    for (let index = 0; index < maxScales && high - low > 1 / 512; index++) {
      scale = Math.min(high, Math.max(low, scale));
      const bytes = await first.encode(await image(scale), search.goodLevel);
      smallest = Math.min(smallest, bytes.length);
      if (bytes.length <= target) [fitting, low] = [{ bytes, scale }, scale];
      else high = scale;
      if (bytes.length <= target && bytes.length >= target * (1 - tolerance)) break;
      const next = scale * Math.sqrt((target * (1 - tolerance / 2)) / bytes.length);
      scale = next > low && next < high ? next : (low + high) / 2;
    }
    if (fitting) best = better(best, { ...fitting, likeness: await likeness(fitting.bytes) });
    best ??= await tryVariants(({ levels }) => levels[0]);
  }
  return { ...(best ? { best } : {}), smallest };
}

/** Returns the better-looking result. If both look good, returns the larger one. */
function better(one: Candidate | undefined, other: Candidate): Candidate {
  if (!one) return other;
  const areGood = one.likeness >= minLikeness && other.likeness >= minLikeness;
  const isBetter = areGood ? other.bytes.length > one.bytes.length : other.likeness > one.likeness;
  return isBetter ? other : one;
}
