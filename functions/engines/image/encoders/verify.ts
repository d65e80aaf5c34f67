import { readFile, stat } from 'node:fs/promises';
import type { MagickFormat } from '@imagemagick/magick-wasm';
import sharp from 'sharp';
import { parseApng } from '../codecs/apng.ts';
import { readStart } from '../codecs/bytes.ts';
import { pingMagick, readMagick } from '../codecs/magick.ts';
import type { ImageFormat } from '../formats.ts';

/** Enough for the signatures. */
const startBytes = 256;

const sharpNames: Record<string, string> = {
  jpg: 'jpeg',
  png: 'png',
  webp: 'webp',
  gif: 'gif',
  tiff: 'tiff',
  avif: 'heif',
};

/** Verifies the header of an output, so that a broken file is never returned. */
export async function verifyOutput(path: string, { ext, write }: ImageFormat): Promise<void> {
  if ((await stat(path)).size === 0) throw new Error(`The ${ext} output is empty.`);
  if (write?.by === 'sharp') {
    const { format, width, height } = await sharp(path, { limitInputPixels: false }).metadata();
    if (format !== sharpNames[ext] || width < 1 || height < 1) throw new Error(`The ${ext} output is ${format}.`);
  } else if (ext === 'apng') {
    if (parseApng(await readFile(path)).frames.length === 0) throw new Error('The apng output has no frames.');
  } else if (ext === 'ico') {
    const start = await readStart(path, startBytes);
    if (start.readUInt32LE(0) !== 0x1_0000 || start.readUInt16LE(4) === 0) throw new Error('The ico output is empty.');
  } else if (ext === 'exr' || ext === 'hdr') {
    const start = await readStart(path, startBytes);
    const mark = ext === 'exr' ? Buffer.from([0x76, 0x2f, 0x31, 0x01]) : Buffer.from('#?RADIANCE');
    if (!start.subarray(0, mark.length).equals(mark)) throw new Error(`The ${ext} output has no signature.`);
  } else if (write?.by === 'magick' && write.format) {
    if (['eps', 'epsi', 'ept', 'ps'].includes(ext)) {
      if (!(await readStart(path, startBytes)).includes('%!PS-Adobe'))
        throw new Error(`The ${ext} output has no signature.`);
      return;
    }
    const bytes = await readFile(path);
    // Its reader needs more than the header.
    const { width, height } =
      ext === 'mat' ? await readFirst(bytes, write.format) : await pingMagick(bytes, write.format);
    if (width < 1 || height < 1) throw new Error(`The ${ext} output has no pixels.`);
  }
}

async function readFirst(bytes: Buffer, format: MagickFormat): Promise<{ width: number; height: number }> {
  const { frames } = await readMagick(bytes, { format, take: { frame: 0 }, autoOrient: false });
  return frames[0] ?? { width: 0, height: 0 };
}
