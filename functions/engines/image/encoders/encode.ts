import { writeFile } from 'node:fs/promises';
import type { Sharp } from 'sharp';
import type { OptionValues } from '../../../../shared/catalogue/options.ts';
import { joinApng } from '../codecs/apng.ts';
import { writeExr } from '../codecs/exr.ts';
import { toLinear } from '../codecs/linear-light.ts';
import { type Frame, type MagickWriting, writeMagick } from '../codecs/magick.ts';
import { writeRadiance } from '../codecs/radiance.ts';
import { type ImageFormat, imageFormat, type Writing } from '../formats.ts';
import { numberOption, textOption } from '../transform.ts';
import { dither } from './dither.ts';

/** Timing of an animation that was assembled here; others have their own. */
export interface Timing {
  /** Milliseconds of each frame. */
  delays: number[];
  loop: number;
}

/** Configures a pipeline to write one of the formats that libvips encodes. */
export function encodeWithSharp(image: Sharp, format: string, options: OptionValues, timing?: Timing): Sharp {
  const { write } = imageFormat(format);
  const quality = numberOption(options, 'quality');
  const lossless = options.lossless === true;
  const progressive = options.progressive === true;
  keepMetadata(image, write, options);
  switch (format) {
    case 'jpg': {
      const level = numberOption(options, 'jpg_convert_compression_level') ?? quality ?? 80;
      // Above this the halved colour resolution would be what is seen first.
      const chromaSubsampling = level >= 90 ? '4:4:4' : '4:2:0';
      return image.jpeg({ quality: Math.max(1, Math.round(level)), progressive, chromaSubsampling });
    }
    case 'png':
      return encodePng(image, options, progressive);
    case 'webp':
      return image.webp({
        quality: quality ?? 80,
        lossless,
        ...(timing ? { delay: timing.delays, loop: timing.loop } : {}),
      });
    case 'avif':
      // Effort 4, the default, takes eight times as long for the same size.
      return image.avif({ quality: quality ?? 80, lossless, effort: 3 });
    case 'gif':
      return image.gif(timing ? { delay: timing.delays, loop: timing.loop } : {});
    case 'tiff': {
      const compression = textOption(options, 'tiff_compression');
      return image.tiff({
        compression:
          compression === 'none' || compression === 'deflate' || compression === 'jpeg' ? compression : 'lzw',
        predictor: compression === 'none' || compression === 'jpeg' ? 'none' : 'horizontal',
        quality: 90,
      });
    }
    default:
      throw new Error(`The catalogue lists ${format}, which this engine does not write.`);
  }
}

function encodePng(image: Sharp, options: OptionValues, progressive: boolean): Sharp {
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

function keepMetadata(image: Sharp, write: Writing | undefined, options: OptionValues): void {
  const dpi = numberOption(options, 'image_dpi');
  if (options.strip === false && write?.metadata) image.keepMetadata();
  if (dpi !== undefined && write?.density) image.withDensity(dpi);
}

/** Decodes a pipeline into a frame of bytes. */
export async function toFrame(image: Sharp, delay?: number): Promise<Frame> {
  const { data, info } = await image.raw({ depth: 'uchar' }).toBuffer({ resolveWithObject: true });
  const { width, height, channels } = info;
  if (channels === 2) throw new Error('Grey with transparency must be made colour first.');
  return { data, width, height, channels, delay };
}

/** Encodes frames in a format that libvips does not write, to a file. */
export async function encodeFrames(
  path: string,
  images: { image: Sharp; delay: number | undefined }[],
  target: ImageFormat,
  {
    options,
    loop,
    profiles,
  }: { options: OptionValues; loop: number; profiles: NonNullable<MagickWriting['profiles']> },
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
    case 'magick': {
      const frames = [];
      for (const { image, delay } of images) frames.push(await toMagickFrame(image, write, delay));
      const bytes = await writeMagick(frames, magickWriting(write, target.ext, options, loop, profiles));
      return writeFile(path, target.ext === 'cur' ? toCursor(bytes) : bytes);
    }
    default:
      throw new Error(`${write.by} does not take frames.`);
  }
}

async function toDeepPixels(image: Sharp) {
  const { data, info } = await image
    .toColourspace('rgb16')
    .raw({ depth: 'ushort' })
    .toBuffer({ resolveWithObject: true });
  const pixels = new Uint16Array(data.buffer, data.byteOffset, data.byteLength / 2);
  if (info.channels !== 3 && info.channels !== 4) throw new Error(`${info.channels} channels came for three or four.`);
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

function magickWriting(
  write: Writing,
  ext: string,
  options: OptionValues,
  loop: number,
  profiles: NonNullable<MagickWriting['profiles']>,
): MagickWriting {
  if (!write.format) throw new Error(`No encoder is defined for ${ext}.`);
  const quality = options.lossless === true ? 100 : numberOption(options, 'quality');
  return {
    format: write.format,
    quality: write.quality ? (quality ?? 80) : undefined,
    density: write.density ? numberOption(options, 'image_dpi') : undefined,
    loop,
    colours: typeof write.colours === 'number' ? write.colours : undefined,
    bilevel: write.colours === 'bilevel',
    profiles,
  };
}

/** Makes an icon a cursor whose hot spot is its upper left corner; ImageMagick writes icons by both names. */
function toCursor(icon: Uint8Array): Uint8Array {
  const cursor = Buffer.from(icon);
  cursor.writeUInt16LE(2, 2);
  for (let index = 0; index < cursor.readUInt16LE(4); index++) cursor.writeUInt32LE(0, 6 + index * 16 + 4);
  return cursor;
}
