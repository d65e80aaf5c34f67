import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress } from 'node:zlib';

/** Returns the folder of the layer's browser: where Lambda puts layers, or where the local stack offers them. */
export function chromiumLayer(): string | undefined {
  const folder = join(process.env.LATHE_LAYERS ?? '/opt', 'chromium');
  return existsSync(join(folder, 'chromium.br')) ? folder : undefined;
}

/** Unpacks the browser of the layer, once for an environment, and returns its path. */
export async function unpackChromium(layer: string): Promise<string> {
  const path = join(process.env.LATHE_WARM ?? tmpdir(), 'chromium');
  if (existsSync(path)) return path;
  const draft = `${path}.${process.pid}`;
  try {
    await pipeline(
      createReadStream(join(layer, 'chromium.br'), { highWaterMark: 2 ** 20 }),
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
