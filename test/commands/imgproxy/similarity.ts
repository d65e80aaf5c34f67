import sharp from 'sharp';

export interface Decoded {
  format: string;
  width: number;
  /** Of one frame. */
  height: number;
  frames: number;
  delays: number[] | undefined;
  /** Red, green and blue on white, then on black, so that transparency counts too. */
  planes: Buffer[];
}

/** Decodes a picture. */
export async function decode(file: Buffer): Promise<Decoded> {
  const open = () => sharp(file, { pages: -1, limitInputPixels: false });
  const { format, width, height, pageHeight, pages = 1, delay } = await open().metadata();
  const planes = [];
  for (const background of ['#ffffff', '#000000'])
    planes.push(await open().flatten({ background }).toColourspace('srgb').raw().toBuffer());
  return { format, width, height: pageHeight ?? height, frames: pages, delays: delay, planes };
}

const window = 8;
const stride = 4;
const [c1, c2] = [(0.01 * 255) ** 2, (0.03 * 255) ** 2];

/**
 * Returns the structural similarity of the brightness of two pictures of the same size: the mean over windows of 8 × 8 pixels.
 */
export function similarity(one: Decoded, other: Decoded): number {
  const height = one.height * one.frames;
  const scores = one.planes.map((plane, index) =>
    ssim(brightness(plane), brightness(other.planes[index] ?? plane), one.width, height),
  );
  return Math.min(...scores);
}

/** Returns the mean difference of the channels, from 0 to 255. Similarity does not see a cast or another saturation. */
export function colourDifference(one: Decoded, other: Decoded): number {
  const differences = one.planes.map((plane, index) => {
    let sum = 0;
    for (let at = 0; at < plane.length; at++) sum += Math.abs((plane[at] ?? 0) - (other.planes[index]?.[at] ?? 0));
    return sum / plane.length;
  });
  return Math.max(...differences);
}

function brightness(colours: Buffer): Float64Array {
  return Float64Array.from({ length: colours.length / 3 }, (_, at) => {
    const [red = 0, green = 0, blue = 0] = [colours[at * 3], colours[at * 3 + 1], colours[at * 3 + 2]];
    return 0.299 * red + 0.587 * green + 0.114 * blue;
  });
}

function ssim(one: Float64Array, other: Float64Array, width: number, height: number): number {
  if (one.length !== other.length) throw new Error(`${one.length} values came for ${other.length}.`);
  const [across, down] = [Math.min(window, width), Math.min(window, height)];
  const count = across * down;
  const scores: number[] = [];
  for (let top = 0; top + down <= height; top += stride) {
    for (let left = 0; left + across <= width; left += stride) {
      let [sumA, sumB, squareA, squareB, both] = [0, 0, 0, 0, 0];
      for (let y = top; y < top + down; y++) {
        for (let at = y * width + left; at < y * width + left + across; at++) {
          const [a, b] = [one[at] ?? 0, other[at] ?? 0];
          sumA += a;
          sumB += b;
          squareA += a * a;
          squareB += b * b;
          both += a * b;
        }
      }
      const [meanA, meanB] = [sumA / count, sumB / count];
      const covariance = both / count - meanA * meanB;
      const variances = squareA / count - meanA ** 2 + squareB / count - meanB ** 2;
      const means = (2 * meanA * meanB + c1) / (meanA ** 2 + meanB ** 2 + c1);
      scores.push((means * (2 * covariance + c2)) / (variances + c2));
    }
  }
  return scores.reduce((sum, score) => sum + score, 0) / scores.length;
}
