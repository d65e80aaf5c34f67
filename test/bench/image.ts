import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp, { type Sharp } from 'sharp';
import { Sandbox } from '../../functions/engines/runtime/sandbox/sandbox.ts';
import { runSandboxed } from '../support/sandboxed.ts';
import { median, type Row, timed } from './table.ts';

const rounds = 7;
/** Pictures as taken by phones. */
const size = { width: 4032, height: 3024 };

interface Case {
  from: 'jpg' | 'png';
  to: 'jpg' | 'png' | 'webp';
  options: Record<string, number>;
  /** The equivalent with sharp alone. */
  bare: (image: Sharp) => Sharp;
}

const cases: Case[] = [
  { from: 'jpg', to: 'webp', options: {}, bare: (image) => image.webp({ quality: 80 }) },
  { from: 'jpg', to: 'png', options: {}, bare: (image) => image.png({ compressionLevel: 6 }) },
  { from: 'png', to: 'jpg', options: {}, bare: (image) => image.flatten({ background: '#ffffff' }).jpeg() },
  {
    from: 'jpg',
    to: 'jpg',
    options: { image_custom_width: 1600 },
    bare: (image) => image.resize({ width: 1600 }).jpeg(),
  },
];

/** Measures conversions of a photo by the worker's engine process against sharp alone, alternating, by the median. */
export async function benchImage(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-image-'));
  const module = new URL('../../functions/engines/image/run.ts', import.meta.url);
  const sandbox = new Sandbox({ module, memoryBytes: 4 * 1024 ** 3, network: false });
  // As in the engine's process, which does not cache pixels between conversions.
  sharp.cache(false);
  try {
    const sources = { jpg: join(folder, 'source.jpg'), png: join(folder, 'source.png') };
    await photo().jpeg({ quality: 92 }).toFile(sources.jpg);
    await photo().png().toFile(sources.png);
    const rows: Row[] = [];
    for (const { from, to, options, bare } of cases) {
      const path = sources[from];
      const input = { path, name: `photo.${from}`, format: from, size: (await stat(path)).size };
      const ours = () => runSandboxed(sandbox, { operation: 'convert', inputs: [input], outputFormat: to, options });
      const alone = () => bare(sharp(path, { sequentialRead: true }).autoOrient()).toFile(join(folder, `bare.${to}`));
      const [times, bareTimes]: number[][] = [[], []];
      await ours();
      for (let round = 0; round < rounds; round++) {
        bareTimes?.push(await timed(alone));
        times?.push(await timed(ours));
      }
      const resized = options.image_custom_width ? `, ${options.image_custom_width} wide` : '';
      rows.push({ name: `12 MP ${from} to ${to}${resized}`, ours: median(times ?? []), bare: median(bareTimes ?? []) });
    }
    return rows;
  } finally {
    sandbox.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Soft shapes and grain, which cost encoders about as much as a photo. */
function photo(): Sharp {
  const { width, height } = size;
  const shapes = Array.from({ length: 60 }, (_, index) => {
    const [x, y, radius] = [(index * 977) % width, (index * 613) % height, 90 + ((index * 131) % 500)];
    return `<circle cx="${x}" cy="${y}" r="${radius}" fill="hsl(${(index * 47) % 360} 60% 50%)" opacity="0.6"/>`;
  }).join('');
  const drawing = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${shapes}</svg>`;
  const grain = {
    create: {
      ...size,
      channels: 3 as const,
      background: '#808080',
      noise: { type: 'gaussian' as const, mean: 128, sigma: 12 },
    },
  };
  return sharp(Buffer.from(drawing))
    .flatten({ background: '#334455' })
    .composite([{ input: grain, blend: 'soft-light' }]);
}
