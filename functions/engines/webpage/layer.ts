import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress } from 'node:zlib';
import { warmFolder } from '../runtime/warm-folder.ts';

/** The content of the function's layers. */
export interface Layers {
  /** The browser, compressed. */
  archive: string;
  libraries: string;
  /** Configuration of the fonts. */
  fonts: string;
}

/** Finds the browser in the function's layers, or in the folder that LATHE_LAYERS names. */
export function findLayers(): Layers | undefined {
  const folder = process.env.LATHE_LAYERS ?? '/opt';
  const archive = join(folder, 'chromium', 'chromium.br');
  if (!existsSync(archive)) return undefined;
  return { archive, libraries: join(folder, 'chromium', 'lib'), fonts: join(folder, 'fonts', 'fonts.conf') };
}

/** Unpacks the browser once per environment and returns its path. */
export async function unpackChromium({ archive }: Layers): Promise<string> {
  const path = join(warmFolder(), 'chromium');
  if (existsSync(path)) return path;
  const draft = `${path}.${process.pid}`;
  try {
    await pipeline(
      createReadStream(archive, { highWaterMark: 2 ** 20 }),
      createBrotliDecompress({ chunkSize: 2 ** 21 }),
      createWriteStream(draft, { mode: 0o700 }),
    );
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  return path;
}
