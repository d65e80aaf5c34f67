import { readFile } from 'node:fs/promises';
import type { OptionValues } from '../../../../shared/catalogue/options.ts';
import { EngineError, type InputFile } from '../../runtime/engine.ts';
import type { LinearPicture } from '../codecs/linear-light.ts';
import { type MagickReading, pingMagick, readMagick, writeMagick } from '../codecs/magick.ts';
import { readBmp } from '../decoders/bmp.ts';
import { isComplete } from '../decoders/completeness.ts';
import { correctTones, invertMonochrome } from '../decoders/corrections.ts';
import { readDds } from '../decoders/dds.ts';
import type { Decoded, SizeCheck } from '../decoders/decoding.ts';
import { readGreyAlphaTga } from '../decoders/tga.ts';
import { tooManyPixels } from '../failures.ts';
import { imageFormat, type Reading } from '../formats.ts';
import { maxMagickBytes } from '../limits.ts';
import { checkSize, fromFrames, fromLinear, type Opening, type Picture, sizeCheck } from './opened.ts';
import { openWithSharp } from './sharp.ts';

/** Decoders for kinds of a format that ImageMagick rejects or gets wrong. They return undefined for other kinds. */
const ownDecoders: Record<string, (file: Buffer, check: SizeCheck) => Decoded | LinearPicture | undefined> = {
  bmp: readBmp,
  dds: readDds,
  tga: readGreyAlphaTga,
};

/** Opens a format that ImageMagick decodes. */
export async function openWithMagick(
  input: InputFile,
  read: Reading<'magick'>,
  { options, several: takesSeveral }: Opening,
): Promise<Picture> {
  const bytes = await readFile(input.path);
  const decoded = ownDecoders[input.format]?.(bytes, sizeCheck(input));
  if (decoded) return 'data' in decoded ? fromLinear(decoded) : fromFrames(decoded.frames, decoded);
  if (!isComplete(bytes, input.format)) throw new Error('The file is shorter than its header declares.');
  const { camera = false } = imageFormat(input.format);
  const take = framesToTake(read, options, takesSeveral);
  const picture = await decodeWithMagick(input, bytes, {
    format: read.format,
    take,
    autoOrient: options['auto-orient'] !== false,
    camera,
  });
  let { frames } = picture;
  if (camera) for (const { data } of frames) correctTones(data);
  invertMonochrome(bytes, input.format, frames);
  if (read.several === 'sizes' && options.page === undefined) {
    frames = [...frames].sort((one, other) => other.width * other.height - one.width * one.height).slice(0, 1);
  }
  const { exif, xmp } = picture.profiles;
  const [only] = frames;
  if (options.strip === false && (exif || xmp) && only && frames.length === 1) {
    // Raw pixels cannot carry metadata into libvips; a PNG can.
    const png = await writeMagick([only], {
      format: 'PNG',
      quality: 10,
      density: picture.density,
      profiles: picture.profiles,
    });
    return openWithSharp(input, {}, { options }, Buffer.from(png));
  }
  // The warning about omitted frames needs their number.
  const isFirst = typeof take === 'object' && read.several === 'frames';
  const total = isFirst ? (await pingMagick(bytes, read.format)).frames.length : frames.length;
  return fromFrames(frames, { ...picture, total, several: read.several });
}

function framesToTake(
  { several, planes }: Reading<'magick'>,
  options: OptionValues,
  takesSeveral: boolean,
): MagickReading['take'] {
  if (planes) return 'planes';
  if (several === 'layers') return options.page === undefined ? 'merged' : 'all';
  if (several === 'sizes') return 'all';
  return several === 'pages' || (several && (takesSeveral || options.page !== undefined)) ? 'all' : { frame: 0 };
}

/** Decodes bytes with ImageMagick, within the limits of size. */
export async function decodeWithMagick(input: InputFile, bytes: Buffer, reading: MagickReading) {
  if (bytes.length > maxMagickBytes) {
    throw new EngineError(
      `The file ${JSON.stringify(input.name)} is larger than ${maxMagickBytes / 1024 / 1024} MB, the maximum for its format.`,
    );
  }
  try {
    // LibRaw allocates memory by the size in the header.
    if (reading.camera) checkSize(input, { ...(await pingMagick(bytes, reading.format)), frames: 1 });
    return await readMagick(bytes, reading);
  } catch (error) {
    if (
      error instanceof Error &&
      /exceeds? limit|ResourceLimit|CacheResourcesExhausted|width or height/i.test(error.message)
    ) {
      throw tooManyPixels(input, error.message);
    }
    throw error;
  }
}
