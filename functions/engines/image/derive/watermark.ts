import type { OverlayOptions } from 'sharp';
import type { PictureSpec } from '../../../../shared/pictures/picture.ts';
import type { Size } from '../decoders/decoding.ts';
import type { Picture } from '../openers/opened.ts';
import { scaledSize } from '../transform.ts';
import { isSideways, offsetPixels, place, roundEven, turnOf } from './gravity.ts';
import { openPixels, type Pixels, pixelsOf } from './stages.ts';

/** Opens a watermark. A drawing is rendered at this percentage of its size. */
export type OpenMark = (percentage?: number) => Promise<Picture>;

/** Returns the layer that puts a watermark on a result. */
export async function watermarkLayer(
  open: OpenMark,
  { opacity, position, x, y, scale }: NonNullable<PictureSpec['watermark']>,
  result: Size,
  dpr: number,
): Promise<OverlayOptions> {
  const pixels = await markPixels(open, scale, result);
  fade(pixels, opacity);
  if (position === 're') {
    const gap = { width: offsetPixels(x, result.width, dpr), height: offsetPixels(y, result.height, dpr) };
    const tile = repeatable(pixels, gap, result);
    return { ...layerOf(tile), tile: true, gravity: 'northwest' };
  }
  const { left, top } = place(result, pixels, { type: position, x, y }, dpr, true);
  const seen = {
    left: Math.max(0, -left),
    top: Math.max(0, -top),
    width: Math.min(pixels.width, result.width - left) - Math.max(0, -left),
    height: Math.min(pixels.height, result.height - top) - Math.max(0, -top),
  };
  const isWhole = seen.width === pixels.width && seen.height === pixels.height;
  const visible = isWhole ? pixels : await pixelsOf(openPixels(pixels).extract(seen));
  return { ...layerOf(visible), left: Math.max(0, left), top: Math.max(0, top) };
}

function layerOf({ data, width, height, channels }: Pixels): OverlayOptions {
  return { input: data, raw: { width, height, channels } };
}

/** Scales a watermark relative to the result and returns its pixels with opacity. */
async function markPixels(open: OpenMark, scale: number, result: Size): Promise<Pixels> {
  const mark = await open();
  const turn = turnOf(mark.orientation ?? 1, 0, { horizontal: false, vertical: false });
  let image = mark.frame(0);
  if (scale > 0) {
    const box = [result.width, result.height].map((side) => Math.max(1, roundEven(side * scale)));
    const [width = 1, height = 1] = isSideways(turn) ? box.reverse() : box;
    const factor = Math.min(width / mark.width, height / mark.height);
    image = (await open(factor * 100)).frame(0);
    image.resize({ ...scaledSize(mark, factor), fit: 'fill' });
  }
  return pixelsOf(image.flop(turn.flop).rotate(turn.angle).ensureAlpha());
}

function fade({ data }: Pixels, opacity: number): void {
  if (opacity < 1) for (let at = 3; at < data.length; at += 4) data[at] = Math.round((data[at] ?? 0) * opacity);
}

/** Returns a tile that, repeated from the top left corner, leaves gaps and has one watermark in the center. */
function repeatable(pixels: Pixels, gap: Size, result: Size): Pixels {
  const cell = { width: Math.max(1, pixels.width + gap.width), height: Math.max(1, pixels.height + gap.height) };
  const size = { width: Math.min(cell.width, result.width), height: Math.min(cell.height, result.height) };
  const data = Buffer.alloc(size.width * size.height * 4);
  const start = { x: centered(cell.width, result.width), y: centered(cell.height, result.height) };
  const before = { x: Math.trunc(gap.width / 2), y: Math.trunc(gap.height / 2) };
  for (let y = 0; y < size.height; y++) {
    const fromY = ((y + start.y) % cell.height) - before.y;
    if (fromY < 0 || fromY >= pixels.height) continue;
    for (let x = 0; x < size.width; x++) {
      const fromX = ((x + start.x) % cell.width) - before.x;
      if (fromX < 0 || fromX >= pixels.width) continue;
      const from = (fromY * pixels.width + fromX) * 4;
      pixels.data.copy(data, (y * size.width + x) * 4, from, from + 4);
    }
  }
  return { data, ...size, channels: 4 };
}

/** Returns the start of the result within an odd number of cells around its center. */
function centered(cell: number, size: number): number {
  const count = Math.ceil(size / cell);
  return Math.floor((cell * (count % 2 === 0 ? count + 1 : count) - size) / 2);
}
