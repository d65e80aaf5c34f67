import type { PictureSpec } from '../../../../shared/pictures/picture.ts';
import type { Cut } from '../transform.ts';
import { openPixels, type Pixels, pixelsOf } from './stages.ts';

/** Stands for transparency, which is then trimmed like a colour. */
const transparent = '#ff00ff';

/** Returns the area without the uniform margins, or undefined if there is nothing to trim. */
export async function findTrim(pixels: Pixels, trim: NonNullable<PictureSpec['trim']>): Promise<Cut | undefined> {
  const { width, height } = pixels;
  // libvips compares each pixel with its neighbours.
  if (width < 3 || height < 3) return undefined;
  const flat = await pixelsOf(openPixels(pixels).flatten({ background: transparent }));
  const background = trim.color === null ? colourAt(flat) : `#${trim.color}`;
  const { info } = await openPixels(flat)
    .trim({ background, threshold: trim.threshold })
    .raw()
    .toBuffer({ resolveWithObject: true });
  if (info.width === width && info.height === height) return undefined;
  let [left, top] = [-(info.trimOffsetLeft ?? 0), -(info.trimOffsetTop ?? 0)];
  let [right, bottom] = [width - left - info.width, height - top - info.height];
  if (trim.equalHorizontal) left = right = Math.min(left, right);
  if (trim.equalVertical) top = bottom = Math.min(top, bottom);
  return { left, top, width: width - left - right, height: height - top - bottom };
}

function colourAt({ data }: Pixels): { r: number; g: number; b: number } {
  const [r = 0, g = 0, b = 0] = data;
  return { r, g, b };
}
