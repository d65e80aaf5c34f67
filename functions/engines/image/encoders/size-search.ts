import type { Sharp } from 'sharp';

/** An encoding whose size grows with a level. */
export interface Variant {
  /** Lowest and highest level. */
  levels: [number, number];
  encode(image: Sharp, level: number): Promise<Buffer>;
}

export interface Search {
  /** Encodings, the best-looking first; the others fill the gaps between its levels. */
  variants: Variant[];
  /** Opens the pixels again for each attempt. */
  image(): Promise<Sharp>;
  progress(share: number): void;
}

/** How much smaller than its target a file may be. */
const tolerance = 0.05;
const expectedAttempts = 12;

/**
 * Finds the largest encoding that is no larger than a target. Each is searched by bisection; the first that comes
 * within 5 % is used, otherwise the nearest of all.
 */
export async function searchSize(
  target: number,
  { variants, image, progress }: Search,
): Promise<{ best?: Buffer; smallest: number }> {
  let best: Buffer | undefined;
  let smallest = Number.POSITIVE_INFINITY;
  let attempts = 0;
  for (const [index, { levels, encode }] of variants.entries()) {
    let [low, high] = levels;
    const attempt = async (level: number) => {
      const bytes = await encode(await image(), level);
      attempts += 1;
      progress(Math.min(1, attempts / expectedAttempts));
      smallest = Math.min(smallest, bytes.length);
      if (bytes.length <= target && bytes.length > (best?.length ?? 0)) best = bytes;
      return bytes.length;
    };
    if ((await attempt(high)) <= target) {
      // The best quality is already small enough: the other encodings gain nothing.
      if (index === 0) break;
      continue;
    }
    high -= 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const length = await attempt(middle);
      if (length <= target && length >= target * (1 - tolerance)) break;
      if (length <= target) low = middle + 1;
      else high = middle - 1;
    }
    if (best && best.length >= target * (1 - tolerance)) break;
  }
  return { ...(best ? { best } : {}), smallest };
}
