import { writeFile } from 'node:fs/promises';
import type { Sharp } from 'sharp';
import type { OptionValues } from '../../../../shared/catalogue/options.ts';
import { defined } from '../../../../shared/defined.ts';
import { EngineError } from '../../runtime/engine.ts';
import { openFrame } from '../animation.ts';
import { joinApng } from '../codecs/apng.ts';
import { int32 } from '../codecs/bytes.ts';
import { writeExr } from '../codecs/exr.ts';
import type { JpegQuality } from '../codecs/jpeg.ts';
import { toLinear } from '../codecs/linear-light.ts';
import { type Frame, type MagickWriting, writeMagick } from '../codecs/magick.ts';
import { writeRadiance } from '../codecs/radiance.ts';
import { type ImageFormat, imageFormat, type Writing } from '../formats.ts';
import type { Picture } from '../openers/opened.ts';
import { numberOption, textOption } from '../transform.ts';

/** Properties of the source that the output keeps unless an option changes them. */
export interface SourceFacts extends Partial<Pick<Picture, 'density' | 'isBilevel' | 'orientation'>> {
  /** Durations in milliseconds of an animation that was assembled here; others have their own. */
  timing?: { delay: number[]; loop: number };
  /** Quality of a JPEG that becomes another JPEG. */
  jpeg?: JpegQuality | undefined;
}

/** Configures a pipeline to write one of the formats that libvips encodes. */
export function encodeWithSharp(image: Sharp, format: string, options: OptionValues, source: SourceFacts = {}): Sharp {
  const { timing } = source;
  const quality = numberOption(options, 'quality');
  const lossless = options.lossless === true;
  const progressive = options.progressive === true;
  keepMetadata(image, format, options, source);
  switch (format) {
    case 'jpg': {
      const chosen = numberOption(options, 'jpg_convert_compression_level') ?? quality;
      const level = chosen ?? source.jpeg?.quality ?? 80;
      // Above this quality, a halved colour resolution would be the most visible loss.
      const isFine = chosen === undefined && source.jpeg ? source.jpeg.isFine : level >= 90;
      const chromaSubsampling = isFine ? '4:4:4' : '4:2:0';
      return image.jpeg({ quality: Math.max(1, Math.round(level)), progressive, chromaSubsampling });
    }
    case 'png':
      return encodePng(image, options, progressive, source.isBilevel);
    case 'webp':
      return image.webp({ quality: quality ?? 80, lossless, ...timing });
    case 'avif':
      // Effort 4, the default, takes eight times as long for the same size.
      return image.avif({ quality: quality ?? 80, lossless, effort: 3 });
    case 'gif':
      return image.gif(timing);
    case 'tiff': {
      const compression = textOption(options, 'tiff_compression');
      return image.tiff({
        compression:
          compression === 'none' || compression === 'deflate' || compression === 'jpeg' ? compression : 'lzw',
        predictor: source.isBilevel || compression === 'none' || compression === 'jpeg' ? 'none' : 'horizontal',
        quality: 90,
        ...(source.isBilevel && compression !== 'jpeg' ? { bitdepth: 1 } : {}),
      });
    }
    default:
      throw new Error(`The catalogue lists ${format}, which this engine does not write.`);
  }
}

function encodePng(image: Sharp, options: OptionValues, progressive: boolean, isBilevel = false): Sharp {
  // A palette of black and white, with one bit per pixel.
  if (isBilevel) return image.png({ palette: true, colours: 2, dither: 0, progressive });
  switch (textOption(options, 'png_compression_level')) {
    case 'none':
      return image.png({ compressionLevel: 0, progressive });
    case 'strong':
      return image.png({ compressionLevel: 9, adaptiveFiltering: true, effort: 10, palette: false, progressive });
    case 'lossy':
      return image.png({ palette: true, quality: numberOption(options, 'png_convert_quality') ?? 80, progressive });
    default:
      return image.png({ compressionLevel: 6, progressive });
  }
}

/** The default of viewers, and of libvips for a PNG, if a file has no resolution. */
const usualDpi = 72;

/** Keeps resolution and orientation. Keeps EXIF, XMP and profiles unless they are stripped. */
export function keepMetadata(
  image: Sharp,
  format: string,
  options: OptionValues,
  { density, orientation = 1 }: SourceFacts,
): void {
  const { write } = imageFormat(format);
  const chosen = numberOption(options, 'image_dpi');
  const dpi = chosen ?? density ?? usualDpi;
  const isStripped = options.strip !== false;
  if (!isStripped && write?.metadata) image.keepMetadata();
  if (!write?.density) return;
  // TIFF and PNG always store one, and the default of libvips is 25.4. Others need an EXIF that holds nothing else.
  const isSaid =
    chosen !== undefined || dpi !== usualDpi || format === 'tiff' || (format === 'png' && density === undefined);
  if (isSaid) image.withDensity(dpi);
  if (isStripped && (isSaid || orientation !== 1)) image.withExif({});
}

/** Decodes a pipeline into a frame of bytes. */
export async function toFrame(image: Sharp, delay?: number): Promise<Frame> {
  const { data, info } = await image.raw({ depth: 'uchar' }).toBuffer({ resolveWithObject: true });
  const { width, height, channels } = info;
  if (channels === 2) throw new Error('Grey with transparency must be converted to colour first.');
  return { data, width, height, channels, delay };
}

/** Encodes frames in a format that libvips does not write, to a file. */
export async function encodeFrames(
  path: string,
  images: { image: Sharp; delay: number | undefined }[],
  target: ImageFormat,
  options: OptionValues,
  { loop = 0, profiles, density }: Pick<MagickWriting, 'loop' | 'profiles' | 'density'>,
): Promise<void> {
  const write = target.write;
  const [first] = images;
  if (!write || !first) throw new Error(`The catalogue lists ${target.ext}, which this engine does not write.`);
  switch (write.by) {
    case 'apng': {
      const frames = [];
      for (const { image, delay = 1000 } of images) {
        frames.push({ png: await image.ensureAlpha().png({ compressionLevel: 6 }).toBuffer(), delay });
      }
      return writeFile(path, joinApng(frames, loop));
    }
    case 'exr':
    case 'hdr': {
      const linear = toLinear(await toDeepPixels(first.image));
      return writeFile(path, write.by === 'exr' ? writeExr(linear) : writeRadiance(linear));
    }
    case 'ico':
      return writeFile(path, await writeIcon(first.image, options));
    case 'magick': {
      const frames = [];
      for (const { image, delay } of images) frames.push(await toMagickFrame(image, write, delay));
      if (!write.format) throw new Error(`No encoder is defined for ${target.ext}.`);
      const quality = options.lossless === true ? 100 : (numberOption(options, 'quality') ?? 80);
      const bytes = await writeMagick(frames, {
        ...defined({ profiles }),
        format: write.format,
        quality: write.quality ? quality : undefined,
        colours: typeof write.colours === 'number' ? write.colours : undefined,
        bilevel: write.colours === 'bilevel',
        loop,
        density: write.density ? (numberOption(options, 'image_dpi') ?? density) : undefined,
      });
      return writeFile(path, target.ext === 'cur' ? toCursor(bytes) : bytes);
    }
    default:
      throw new Error(`${write.by} does not support frames.`);
  }
}

const iconSizes = [16, 24, 32, 48, 64, 128, 256];
const maxIconSize = 256;

/** Lists the sizes of an icon: the requested ones, or the usual ones up to the size of the image. */
function chooseIconSizes({ width, height }: Pick<Frame, 'width' | 'height'>, options: OptionValues): number[] {
  const longest = Math.max(width, height);
  const asked = textOption(options, 'ico_sizes');
  if (asked !== undefined) {
    const sizes = [...new Set(asked.split(',').map(Number))].sort((one, other) => one - other);
    const wrong = sizes.find((size) => size < 1 || size > maxIconSize);
    if (wrong !== undefined)
      throw new EngineError(`Expected sizes from 1 to ${maxIconSize} in ico_sizes but received ${wrong}.`);
    return sizes;
  }
  const scaling = ['image_custom_width', 'image_custom_height', 'image_resize_percentage'];
  if (scaling.some((name) => options[name] !== undefined)) return [Math.min(maxIconSize, longest)];
  const enough = iconSizes.find((size) => size >= longest) ?? maxIconSize;
  return iconSizes.filter((size) => size <= enough);
}

/** Writes an icon of square pictures. The largest is a PNG, as in Windows. The others are bitmaps for older programs. */
async function writeIcon(image: Sharp, options: OptionValues): Promise<Buffer> {
  const frame = await toFrame(image.toColourspace('srgb').ensureAlpha());
  const pictures: { size: number; data: Buffer }[] = [];
  for (const size of chooseIconSizes(frame, options)) {
    const background = { r: 0, g: 0, b: 0, alpha: 0 };
    const square = openFrame(frame).resize({ width: size, height: size, fit: 'contain', background });
    const data =
      size >= maxIconSize ? await square.png().toBuffer() : toIconBitmap(await square.raw().toBuffer(), size);
    pictures.push({ size, data });
  }
  const header: Buffer[] = [Buffer.from([0, 0, 1, 0, pictures.length, 0])];
  let at = 6 + pictures.length * 16;
  for (const { size, data } of pictures) {
    // 0 stands for 256, which does not fit in a byte. One plane of 32 bits.
    header.push(Buffer.from([size % 256, size % 256, 0, 0, 1, 0, 32, 0]), int32(data.length, at));
    at += data.length;
  }
  return Buffer.concat([...header, ...pictures.map(({ data }) => data)]);
}

/** Returns the bitmap of an icon: lines from the bottom, blue before red, and a mask for programs without transparency. */
function toIconBitmap(pixels: Buffer, size: number): Buffer {
  // The height includes the mask. One plane of 32 bits, then fields that are not needed.
  const header = Buffer.concat([int32(40, size, size * 2), Buffer.from([1, 0, 32, 0]), Buffer.alloc(24)]);
  const colours = Buffer.alloc(size * size * 4);
  const maskLine = Math.ceil(size / 32) * 4;
  const mask = Buffer.alloc(maskLine * size);
  for (let y = 0; y < size; y++) {
    for (let x = 0; x < size; x++) {
      const from = ((size - 1 - y) * size + x) * 4;
      const [red = 0, green = 0, blue = 0, alpha = 0] = pixels.subarray(from, from + 4);
      colours.set([blue, green, red, alpha], (y * size + x) * 4);
      const bit = y * maskLine + (x >> 3);
      if (alpha === 0) mask[bit] = (mask[bit] ?? 0) | (128 >> (x & 7));
    }
  }
  return Buffer.concat([header, colours, mask]);
}

async function toDeepPixels(image: Sharp) {
  const { data, info } = await image
    .toColourspace('rgb16')
    .raw({ depth: 'ushort' })
    .toBuffer({ resolveWithObject: true });
  const pixels = new Uint16Array(data.buffer, data.byteOffset, data.byteLength / 2);
  if (info.channels !== 3 && info.channels !== 4)
    throw new Error(`Expected three or four channels but received ${info.channels}.`);
  return { data: pixels, width: info.width, height: info.height, channels: info.channels };
}

async function toMagickFrame(image: Sharp, write: Writing, delay: number | undefined): Promise<Frame> {
  if (write.colours === 'bilevel' || write.colours === 'grey') {
    const frame = await toFrame(image.toColourspace('b-w').extractChannel(0), delay);
    return write.colours === 'bilevel' ? dither(frame) : frame;
  }
  return toFrame(
    write.alpha ? image.toColourspace('srgb').ensureAlpha() : image.toColourspace('srgb').removeAlpha(),
    delay,
  );
}

/** Turns an icon into a cursor with its hot spot in the upper left corner. ImageMagick writes icons for both formats. */
function toCursor(icon: Uint8Array): Uint8Array {
  const cursor = Buffer.from(icon);
  cursor.writeUInt16LE(2, 2);
  for (let index = 0; index < cursor.readUInt16LE(4); index++) cursor.writeUInt32LE(0, 6 + index * 16 + 4);
  return cursor;
}

/** Reduces greys to black and white and keeps the brightness of areas (Floyd–Steinberg dithering). */
function dither({ data, width, height, ...rest }: Frame): Frame {
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
