import sharp, { type Sharp } from 'sharp';
import type { Frame } from './codecs/magick.ts';

/** Opens the pixels of a frame. */
export function openFrame({ data, width, height, channels }: Frame): Sharp {
  return sharp(data, { limitInputPixels: false, raw: { width, height, channels } });
}

/** Centres frames of several sizes on a canvas that holds each of them unscaled. */
export async function toOneSize(frames: Frame[], background?: string): Promise<Frame[]> {
  const width = Math.max(...frames.map((frame) => frame.width));
  const height = Math.max(...frames.map((frame) => frame.height));
  const result: Frame[] = [];
  for (const frame of frames) {
    const [across, down] = [width - frame.width, height - frame.height];
    if (across === 0 && down === 0) result.push(frame);
    else {
      const [left, top] = [Math.floor(across / 2), Math.floor(down / 2)];
      const data = await openFrame(frame)
        .extend({
          ...{ left, top, right: across - left, bottom: down - top },
          background: background ?? { r: 255, g: 255, b: 255, alpha: 0 },
        })
        .raw()
        .toBuffer();
      result.push({ ...frame, data, width, height });
    }
  }
  return result;
}

/** Joins frames of the same size one below the other, the layout of animations in libvips. */
export function joinRoll(frames: Frame[]): Sharp {
  const [first] = frames;
  if (!first) throw new Error('An animation needs at least one frame.');
  const { width, height, channels } = first;
  const roll = Buffer.concat(frames.map(({ data }) => data));
  return sharp(roll, {
    limitInputPixels: false,
    raw: { width, height: height * frames.length, channels, pageHeight: height },
  });
}
