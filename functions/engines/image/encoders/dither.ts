import type { Frame } from '../codecs/magick.ts';

/** Reduces greys to black and white and keeps the brightness of areas (Floyd–Steinberg dithering). */
export function dither({ data, width, height, ...rest }: Frame): Frame {
  const result = new Uint8Array(width * height);
  let current = new Float32Array(width + 2);
  let below = new Float32Array(width + 2);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const wanted = (data[y * width + x] ?? 0) + (current[x + 1] ?? 0);
      const given = wanted < 128 ? 0 : 255;
      const error = (wanted - given) / 16;
      result[y * width + x] = given;
      current[x + 2] = (current[x + 2] ?? 0) + error * 7;
      below[x] = (below[x] ?? 0) + error * 3;
      below[x + 1] = (below[x + 1] ?? 0) + error * 5;
      below[x + 2] = (below[x + 2] ?? 0) + error;
    }
    [current, below] = [below, current.fill(0)];
  }
  return { ...rest, data: result, width, height };
}
