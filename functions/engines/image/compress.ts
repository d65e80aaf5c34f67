import { copyFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp, { type Sharp } from 'sharp';
import type { OptionValues } from '../../../shared/catalogue/options.ts';
import { withExtension } from '../../../shared/files/names.ts';
import {
  EngineError,
  type InputFile,
  type OutputFile,
  type Work,
  type WorkContext,
  type WorkResult,
} from '../runtime/engine.ts';
import type { Size } from './decoders/decoding.ts';
import { keepMetadata } from './encoders/encode.ts';
import { type Found, searchSize } from './encoders/size-search.ts';
import { goodLevels, variants } from './encoders/variants.ts';
import { verifyOutput } from './encoders/verify.ts';
import { explain } from './failures.ts';
import { imageFormat, type Writing } from './formats.ts';
import { maxPixelsAtOnce } from './limits.ts';
import type { Picture } from './openers/opened.ts';
import { missingFrames, openPicture, readingLeniently } from './picture.ts';
import { numberOption, scaledSize, textOption, transform } from './transform.ts';

/** Images are not scaled down further than this to reach a size. */
const minLongestSide = 64;

/** Bytes in a megabyte, as in file managers. */
const megabyte = 1_000_000;

interface Compressed {
  bytes: Buffer;
  note?: string;
  warnings: string[];
  /** The input has EXIF or XMP that must not be returned. */
  isPrivate: boolean;
}

/** Compresses every input: to a quality, to a percentage of its size, or to a maximum size. */
export async function compress(work: Work, context: WorkContext): Promise<WorkResult> {
  const outputs: OutputFile[] = [];
  let [before, after] = [0, 0];
  const notes: string[] = [];
  const warnings: string[] = [];
  for (const [index, input] of work.inputs.entries()) {
    const { outputFormat, folder } = work;
    const path = join(folder, `${index}.${outputFormat}`);
    const result = await readingLeniently(input, (tolerant) => compressOne(input, work, context, tolerant));
    const isSmaller = outputFormat !== input.format || result.bytes.length < input.size;
    if (!isSmaller && !result.isPrivate && fits(input, work.options)) {
      await copyFile(input.path, path);
      notes.push(`${input.name} could not be made smaller and is returned unchanged.`);
    } else {
      await writeFile(path, result.bytes);
      if (result.note) notes.push(result.note);
      warnings.push(...result.warnings);
    }
    await verifyOutput(path, imageFormat(outputFormat));
    before += input.size;
    after += (await stat(path)).size;
    outputs.push({ path, name: withExtension(input.name, outputFormat), format: outputFormat });
    context.progress(((index + 1) / work.inputs.length) * 100);
  }
  return {
    outputs,
    details: { size_before: before, size_after: after, ...(notes.length > 0 ? { note: notes.join(' ') } : {}) },
    warnings,
  };
}

/** Returns whether an unchanged input meets the request. */
function fits(input: InputFile, options: OptionValues): boolean {
  return input.size <= (targetSize(input, options) ?? Number.POSITIVE_INFINITY);
}

function targetSize(input: InputFile, options: OptionValues): number | undefined {
  switch (textOption(options, 'compress_image')) {
    case 'by_size':
      return Math.floor((numberOption(options, 'image_compress_max_filesize') ?? 1) * megabyte);
    case 'by_percentage':
      return Math.floor((input.size * (numberOption(options, 'image_compress_percentage') ?? 60)) / 100);
    default:
      return undefined;
  }
}

async function compressOne(input: InputFile, work: Work, context: WorkContext, tolerant: boolean): Promise<Compressed> {
  const { outputFormat, options, folder } = work;
  const { write } = imageFormat(outputFormat);
  if (!write) throw new Error(`The catalogue lists ${outputFormat}, which this engine does not write.`);
  const opening = { ...context, options, several: write.several !== undefined, tolerant, folder };
  const picture = await openPicture(input, opening);
  if (write.several !== undefined && picture.frames * picture.width * picture.height > maxPixelsAtOnce) {
    throw new EngineError(
      `The frames of ${JSON.stringify(input.name)} have more than ${maxPixelsAtOnce / 1_000_000} million pixels in total. Scale it down first.`,
    );
  }
  const decode = (scale = 1) => decodeFor(picture, outputFormat, write, options, scale);
  const target = targetSize(input, options);
  const { exif, xmp } = await picture.frame(0).metadata();
  const facts = {
    isPrivate: options.strip !== false && Boolean(exif || xmp),
    warnings: write.several === undefined ? missingFrames(input, picture, outputFormat, options) : [],
  };
  try {
    if (target === undefined) {
      const quality = numberOption(options, 'image_compress_quality') ?? 60;
      const [variant] = variants(outputFormat);
      if (!variant) throw new Error(`No compression is defined for ${outputFormat}.`);
      return { ...facts, bytes: await variant.encode(await decode(), quality) };
    }
    const reference = async () => transform(picture.frame(0), picture, { write, options });
    const longest = Math.max(picture.width, picture.height);
    const found = await searchSize(target, {
      variants: variants(outputFormat),
      goodLevel: goodLevels[outputFormat] ?? 100,
      image: decode,
      likeness: (encoded) => likeness(encoded, reference, picture),
      minScale: options.image_compress_resize === false ? undefined : Math.min(1, minLongestSide / longest),
      progress: (share) => context.progress(share * 95),
    });
    const sized = toTarget(found, target, input, picture);
    return { ...sized, isPrivate: facts.isPrivate, warnings: [...facts.warnings, ...sized.warnings] };
  } catch (error) {
    throw explain(error, input);
  }
}

/** Opens the image to encode: all frames of an animation as a roll if the output can hold them, otherwise the first. */
async function decodeFor(
  picture: Picture,
  format: string,
  write: Writing,
  options: OptionValues,
  scale: number,
): Promise<Sharp> {
  const image = (write.several && picture.roll?.()) ?? picture.frame(0);
  const transformed = await transform(image, { ...picture, deep: false }, { write, options });
  if (scale < 1) {
    const { width, height } = scaledSize(picture, scale);
    transformed.resize({ width, height, fit: 'fill' });
  }
  keepMetadata(transformed, format, options, picture);
  return transformed;
}

/** Maximum number of pixels for comparing images: about the size of a screen. */
const comparedPixels = 2_000_000;

/** Returns the similarity of an encoded image to its original as a signal-to-noise ratio in decibels. */
async function likeness(encoded: Buffer, reference: () => Promise<Sharp>, { width, height }: Size): Promise<number> {
  const size = scaledSize({ width, height }, Math.min(1, Math.sqrt(comparedPixels / (width * height))));
  const pixels = async (image: Sharp) =>
    image
      .resize({ ...size, fit: 'fill' })
      .flatten({ background: '#ffffff' })
      .toColourspace('srgb')
      .raw({ depth: 'uchar' })
      .toBuffer({ resolveWithObject: true });
  const [one, other] = [await pixels(await reference()), await pixels(sharp(encoded, { limitInputPixels: false }))];
  if (one.info.channels !== other.info.channels) throw new Error('The output has different channels than its source.');
  let sum = 0;
  for (let at = 0; at < one.data.length; at++) sum += ((one.data[at] ?? 0) - (other.data[at] ?? 0)) ** 2;
  return sum === 0 ? Number.POSITIVE_INFINITY : 10 * Math.log10((255 ** 2 * one.data.length) / sum);
}

/** Returns the encoding that was found, and says what it cost. Throws if there is none. */
function toTarget({ best, smallest }: Found, target: number, input: InputFile, picture: Picture) {
  if (best) {
    const { bytes, scale } = best;
    const gap = Math.floor((1 - bytes.length / target) * 100);
    const { width, height } = scaledSize(picture, scale);
    const warning = `The image ${JSON.stringify(input.name)} was scaled down from ${picture.width} × ${picture.height} to ${width} × ${height} pixels, because at ${size(target)} it looks better with fewer pixels. Allow a larger size, or set image_compress_resize to false.`;
    return {
      bytes,
      warnings: scale === 1 ? [] : [warning],
      ...(gap >= 5 ? { note: `${input.name} is ${gap} % smaller than requested; no setting comes closer.` } : {}),
    };
  }
  throw new EngineError(
    `The image ${JSON.stringify(input.name)} cannot be compressed to ${size(target)}: the smallest possible size is ${size(smallest)}. Allow a larger size, choose another format, or scale it down first.`,
  );
}

function size(bytes: number): string {
  return bytes >= megabyte ? `${(bytes / megabyte).toFixed(2)} MB` : `${Math.ceil(bytes / 1000)} kB (${bytes} bytes)`;
}
