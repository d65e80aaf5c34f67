import { readFile } from 'node:fs/promises';
import { PDFDocument } from '@cantoo/pdf-lib';
import type { MagickFormat } from '@imagemagick/magick-wasm';
import sharp from 'sharp';
import { type Frame, readMagick } from '../../../functions/engines/image/codecs/magick.ts';
import { imageFormat } from '../../../functions/engines/image/formats.ts';
import { openPicture } from '../../../functions/engines/image/picture.ts';
import { compare, type Fidelity, squared } from '../../engines/image/compare.ts';
import { original } from '../../engines/image/samples.ts';
import { quietContext } from '../../support/sandboxed.ts';

/** ImageMagick's names of libvips' output formats, so that each reads what the other wrote. */
const writtenBySharp: Record<string, MagickFormat> = {
  jpg: 'JPEG',
  png: 'PNG',
  webp: 'WEBP',
  gif: 'GIF',
  avif: 'AVIF',
  tiff: 'TIFF',
  apng: 'PNG',
};

const postScript = ['eps', 'epsi', 'ept'];
const inputFidelity: Record<string, Fidelity> = {
  pbm: 'bilevel',
  wbmp: 'bilevel',
  xbm: 'bilevel',
  fits: 'grey',
  pgm: 'grey',
  pgx: 'grey',
  vicar: 'grey',
};
/** Mean differences that lossy coding, palettes and dithering explain; a wrong picture is far beyond them. */
const tolerated: Record<Fidelity, number> = { colour: 12, grey: 12, bilevel: 30 };

/**
 * Checks with npm packages alone that an output is the picture it was made from or, if none reads the format, that its
 * signature is correct. Returns how it was checked, or throws what is wrong.
 */
export async function verifyOutput(
  path: string,
  { from, to, operation }: { from: string; to: string; operation: string },
): Promise<'picture' | 'header'> {
  const bytes = await readFile(path);
  if (postScript.includes(to)) return header(bytes.subarray(0, 64).includes('%!PS-Adobe'), to);
  if (to === 'sixel') return header(bytes[0] === 0x1b && bytes[1] === 0x50, to);
  if (to === 'rgf') return header((bytes[0] ?? 0) > 0 && (bytes[1] ?? 0) > 0, to);
  if (to === 'pdf')
    return header((await PDFDocument.load(bytes)).getPageCount() === (operation === 'merge' ? 2 : 1), to);
  const actual = await toPng(path, bytes, to);
  const picture = operation === 'crop' ? await square() : await original();
  const expected = to === 'ico' ? await squared(actual, picture) : picture;
  const fidelity = fidelityOf(from, to);
  const { difference } = await compare(actual, expected, fidelity);
  if (difference > tolerated[fidelity]) throw new Error(`The output differs by ${difference.toFixed(1)} of 255.`);
  return 'picture';
}

function header(isRight: boolean, format: string): 'header' {
  if (!isRight) throw new Error(`The ${format} does not begin as it must.`);
  return 'header';
}

function fidelityOf(from: string, to: string): Fidelity {
  const { colours } = imageFormat(to).write ?? {};
  const given = inputFidelity[from] ?? 'colour';
  if (given === 'bilevel' || colours === 'bilevel') return 'bilevel';
  return given === 'grey' || colours === 'grey' ? 'grey' : 'colour';
}

async function square(): Promise<Buffer> {
  const whole = await original();
  const { width, height } = await sharp(whole).metadata();
  const side = Math.min(width, height);
  const [left, top] = [Math.floor((width - side) / 2), Math.floor((height - side) / 2)];
  return sharp(whole).extract({ left, top, width: side, height: side }).png().toBuffer();
}

async function toPng(path: string, bytes: Buffer, format: string): Promise<Buffer> {
  const { write } = imageFormat(format);
  const magickFormat = writtenBySharp[format] ?? (format === 'ptif' ? undefined : write?.format);
  if (magickFormat) {
    const { frames } = await readMagick(bytes, { format: magickFormat, take: { frame: 0 }, autoOrient: true });
    return framePng(frames[0]);
  }
  if (format === 'ptif') return sharp(bytes, { page: 0 }).png().toBuffer();
  const input = { path, name: path, format, size: bytes.length };
  const opening = { ...quietContext(), options: {}, several: false, tolerant: false, folder: '' };
  const picture = await openPicture(input, opening);
  return picture.frame(0).png().toBuffer();
}

async function framePng(frame: Frame | undefined): Promise<Buffer> {
  if (!frame) throw new Error('There is no picture in the output.');
  const { data, width, height, channels } = frame;
  return sharp(data, { raw: { width, height, channels } }).png().toBuffer();
}
