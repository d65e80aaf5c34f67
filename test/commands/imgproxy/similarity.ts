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

/** Returns the structural similarity of two pictures of the same size: the mean over windows of 8 × 8 pixels and channels. */
export function similarity(one: Decoded, other: Decoded): number {
  const height = one.height * one.frames;
  const scores = one.planes.map((plane, index) => ssim(plane, other.planes[index] ?? plane, one.width, height));
  return Math.min(...scores);
}

function ssim(one: Buffer, other: Buffer, width: number, height: number): number {
  const channels = one.length / width / height;
  if (one.length !== other.length) throw new Error(`${one.length} values came for ${other.length}.`);
  const [across, down] = [Math.min(window, width), Math.min(window, height)];
  let [total, count] = [0, 0];
  for (let top = 0; top + down <= height; top += stride) {
    for (let left = 0; left + across <= width; left += stride) {
      for (let channel = 0; channel < channels; channel++) {
        let [sumA, sumB, squareA, squareB, both] = [0, 0, 0, 0, 0];
        for (let y = top; y < top + down; y++) {
          for (let x = left; x < left + across; x++) {
            const at = (y * width + x) * channels + channel;
            const [a, b] = [one[at] ?? 0, other[at] ?? 0];
            sumA += a;
            sumB += b;
            squareA += a * a;
            squareB += b * b;
            both += a * b;
          }
        }
        const n = across * down;
        const [meanA, meanB] = [sumA / n, sumB / n];
        const covariance = both / n - meanA * meanB;
        const variances = squareA / n - meanA ** 2 + squareB / n - meanB ** 2;
        total +=
          ((2 * meanA * meanB + c1) * (2 * covariance + c2)) / ((meanA ** 2 + meanB ** 2 + c1) * (variances + c2));
        count += 1;
      }
    }
  }
  return total / count;
}
