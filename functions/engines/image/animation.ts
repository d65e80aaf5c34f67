import sharp, { type Sharp } from 'sharp';
import type { Frame } from './codecs/magick.ts';

/** Opens the pixels of a frame. */
export function openFrame({ data, width, height, channels }: Frame): Sharp {
  return sharp(data, { limitInputPixels: false, raw: { width, height, channels } });
}

/** Centres frames of other sizes in frames of one size: that of the first, or the given one. */
export async function toOneSize(frames: Frame[], size = frames[0], background?: string): Promise<Frame[]> {
  if (!size) return frames;
  const { width, height } = size;
  const result: Frame[] = [];
  for (const frame of frames) {
    if (frame.width === width && frame.height === height) result.push(frame);
    else {
      const data = await openFrame(frame)
        .resize({ width, height, fit: 'contain', background: background ?? { r: 255, g: 255, b: 255, alpha: 0 } })
        .raw()
        .toBuffer();
      result.push({ ...frame, data, width, height });
    }
  }
  return result;
}

/** Joins frames of one size one below the other, as libvips takes animations. */
export function joinRoll(frames: Frame[]): Sharp {
  const [first] = frames;
  if (!first) throw new Error('An animation needs a frame.');
  const { width, height, channels } = first;
  const roll = Buffer.concat(frames.map(({ data }) => data));
  return sharp(roll, {
    limitInputPixels: false,
    raw: { width, height: height * frames.length, channels, pageHeight: height },
  });
}
