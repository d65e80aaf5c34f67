import { copyFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Sharp } from 'sharp';
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
import { searchSize } from './encoders/size-search.ts';
import { variants } from './encoders/variants.ts';
import { verifyOutput } from './encoders/verify.ts';
import { explain } from './failures.ts';
import { imageFormat, type Writing } from './formats.ts';
import { maxPixelsAtOnce } from './limits.ts';
import { openPicture, type Picture, readingLeniently } from './picture.ts';
import { numberOption, textOption, transform } from './transform.ts';

/** Bytes of a megabyte as people and file managers count them. */
const megabyte = 1_000_000;

interface Compressed {
  bytes: Buffer;
  note?: string;
}

/** Compresses every input: to a quality, to a percentage of its size, or to a maximum size. */
export async function compress(work: Work, context: WorkContext): Promise<WorkResult> {
  const outputs: OutputFile[] = [];
  let [before, after] = [0, 0];
  const notes: string[] = [];
  for (const [index, input] of work.inputs.entries()) {
    const { outputFormat, folder } = work;
    const path = join(folder, `${index}.${outputFormat}`);
    const result = await readingLeniently(input, (tolerant) => compressOne(input, work, context, tolerant));
    if (outputFormat === input.format && result.bytes.length >= input.size && fits(input, work.options)) {
      await copyFile(input.path, path);
      notes.push(`${input.name} could not be made smaller and is returned unchanged.`);
    } else {
      await writeFile(path, result.bytes);
      if (result.note) notes.push(result.note);
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
  const decode = () => decodeFor(picture, write, options);
  const target = targetSize(input, options);
  try {
    if (target === undefined) {
      const quality = numberOption(options, 'image_compress_quality') ?? 60;
      const [variant] = variants(outputFormat);
      if (!variant) throw new Error(`No compression is defined for ${outputFormat}.`);
      return { bytes: await variant.encode(await decode(), quality) };
    }
    return await compressTo(target, { input, outputFormat, decode, context });
  } catch (error) {
    throw explain(error, input);
  }
}

/** Frames of an animation stay as a roll where the output can hold them. */
async function decodeFor(picture: Picture, write: Writing, options: OptionValues): Promise<Sharp> {
  const isAnimation = write.several !== undefined && picture.roll !== undefined;
  const image = isAnimation && picture.roll ? picture.roll() : picture.frame(0);
  const transformed = await transform(image, { ...picture, deep: false }, { write, options });
  return options.strip === false && write.metadata ? transformed.keepMetadata() : transformed;
}

interface Targeted {
  input: InputFile;
  outputFormat: string;
  decode: () => Promise<Sharp>;
  context: WorkContext;
}

async function compressTo(target: number, { input, outputFormat, decode, context }: Targeted): Promise<Compressed> {
  const found = await searchSize(target, {
    variants: variants(outputFormat),
    image: decode,
    progress: (share) => context.progress(share * 95),
  });
  if (found.best) {
    const gap = Math.floor((1 - found.best.length / target) * 100);
    return {
      bytes: found.best,
      ...(gap >= 5 ? { note: `${input.name} is ${gap} % smaller than requested; no setting comes closer.` } : {}),
    };
  }
  throw new EngineError(
    `The image ${JSON.stringify(input.name)} cannot be compressed to ${size(target)}: the smallest possible size is ${size(found.smallest)}. Allow a larger size, choose another format, or scale it down first.`,
  );
}

function size(bytes: number): string {
  return bytes >= megabyte ? `${(bytes / megabyte).toFixed(2)} MB` : `${Math.ceil(bytes / 1000)} kB (${bytes} bytes)`;
}
