import type { Pixels } from './stages.ts';

/** Replaces blocks of pixels by their average. Blocks at the right and bottom edges are completed by reflection. */
export function pixelate({ data, width, height, channels }: Pixels, side: number): Pixels {
  const block = Math.min(side, Math.max(width, height));
  const result = Buffer.alloc(data.length);
  const columns = reflections(width, block);
  const rows = reflections(height, block);
  const sums = new Float64Array(channels);
  for (let top = 0; top < height; top += block) {
    for (let left = 0; left < width; left += block) {
      sums.fill(0);
      for (let y = top; y < top + block; y++) {
        const line = (rows[y] ?? 0) * width;
        for (let x = left; x < left + block; x++) {
          const at = (line + (columns[x] ?? 0)) * channels;
          for (let channel = 0; channel < channels; channel++)
            sums[channel] = (sums[channel] ?? 0) + (data[at + channel] ?? 0);
        }
      }
      const average = sums.map((sum) => Math.round(sum / block ** 2));
      for (let y = top; y < Math.min(top + block, height); y++)
        for (let x = left; x < Math.min(left + block, width); x++) result.set(average, (y * width + x) * channels);
    }
  }
  return { data: result, width, height, channels };
}

/** Returns the position inside for each position up to a whole number of blocks. */
function reflections(size: number, block: number): number[] {
  return Array.from({ length: Math.ceil(size / block) * block }, (_, at) => {
    const within = at % (2 * size);
    return within < size ? within : 2 * size - 1 - within;
  });
}
