import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { OptionValues } from '../../../shared/catalogue/options.ts';
import { withExtension } from '../../../shared/files/names.ts';
import { EngineError, type InputFile, type OutputFile, type Work, type WorkContext } from '../runtime/engine.ts';
import { joinRoll, openFrame, toOneSize } from './animation.ts';
import { type Frame, type MagickWriting, writeMagick } from './codecs/magick.ts';
import { encodeFrames, encodeWithSharp, toFrame } from './encoders/encode.ts';
import { verifyOutput } from './encoders/verify.ts';
import { explain } from './failures.ts';
import { type ImageFormat, imageFormat, type Writing } from './formats.ts';
import { maxPixelsAtOnce } from './limits.ts';
import { openPicture, type Picture, pageOption, readingLeniently } from './picture.ts';
import { type Cut, needsSingleFrames, numberOption, type Target, transform } from './transform.ts';
import { writePdf } from './vector/pdf.ts';

/** Returns the crop area of an image. */
export type Cutter = (picture: Picture) => Cut;

interface Conversion {
  input: InputFile;
  path: string;
  format: ImageFormat & { write: Writing };
  options: OptionValues;
  folder: string;
  context: WorkContext;
  cutter: Cutter | undefined;
  tolerant: boolean;
}

/** Converts every input to the output format, cropped if requested. */
export async function convert(work: Work, context: WorkContext, cutter?: Cutter): Promise<OutputFile[]> {
  const outputs: OutputFile[] = [];
  const { options, outputFormat, folder } = work;
  const { write, ...format } = imageFormat(outputFormat);
  if (!write) throw new Error(`The catalogue lists ${outputFormat}, which this engine does not write.`);
  for (const [index, input] of work.inputs.entries()) {
    const path = join(folder, `${index}.${outputFormat}`);
    if (write.by === 'pdf') await writePdf(path, [input], work, context);
    else {
      await readingLeniently(input, (tolerant) =>
        convertOne({ input, path, format: { ...format, write }, options, folder, context, cutter, tolerant }),
      );
    }
    outputs.push({ path, name: withExtension(input.name, outputFormat), format: outputFormat });
    context.progress(((index + 1) / work.inputs.length) * 100);
  }
  return outputs;
}

async function convertOne(conversion: Conversion): Promise<void> {
  const { input, path, format, options, cutter } = conversion;
  const { write } = format;
  const picture = await openPicture(input, {
    options,
    several: write.several !== undefined,
    tolerant: conversion.tolerant,
    ...conversion.context,
    folder: conversion.folder,
    wanted: {
      width: numberOption(options, 'image_custom_width'),
      height: numberOption(options, 'image_custom_height'),
      percentage: numberOption(options, 'image_resize_percentage'),
      dpi: numberOption(options, 'image_dpi'),
    },
  });
  const target: Target = {
    write,
    options: isDrawing(input.format) ? withoutPercentage(options) : options,
    cut: cutter?.(picture),
  };
  try {
    await writeOutput(conversion, picture, target);
  } catch (error) {
    throw explain(error, input);
  }
  await verifyOutput(path, format);
}

async function writeOutput({ input, path, format, options, context }: Conversion, picture: Picture, target: Target) {
  const { write, ext } = format;
  const isPage = imageFormat(input.format).read?.by === 'ghostscript';
  const page = isPage ? 1 : (pageOption(input, picture.frames, options) ?? 1);
  const all = write.several !== undefined && options.page === undefined && picture.frames > 1;
  if (all && write.by === 'sharp' && picture.roll && !needsSingleFrames(target)) {
    const image = await transform(picture.roll(), picture, target);
    await encodeWithSharp(image, ext, options).toFile(path);
  } else if (all) {
    await writeFrames(path, format, options, picture.loop, await decodeFrames(input, picture, target, context));
  } else {
    const image = await transform(picture.frame(page - 1), picture, target);
    if (write.by === 'sharp') await encodeWithSharp(image, ext, options).toFile(path);
    else {
      const profiles = options.strip === false ? await profilesOf(picture, page) : {};
      await encodeFrames(path, [{ image, delay: undefined }], format, { options, loop: 0, profiles });
    }
  }
}

function isDrawing(format: string): boolean {
  const by = imageFormat(format).read?.by;
  return by === 'svg' || by === 'ghostscript';
}

/** An image rendered at the requested size must not be scaled again. */
function withoutPercentage({ image_resize_percentage: _, ...options }: OptionValues): OptionValues {
  return options;
}

async function profilesOf(picture: Picture, page: number): Promise<NonNullable<MagickWriting['profiles']>> {
  const { exif, xmp } = await picture.frame(page - 1).metadata();
  return { ...(exif ? { exif } : {}), ...(xmp ? { xmp } : {}) };
}

/** Decodes all frames into memory, transformed one by one, if libvips cannot process them as a roll. */
async function decodeFrames(
  input: InputFile,
  picture: Picture,
  target: Target,
  { progress }: WorkContext,
): Promise<Frame[]> {
  if (picture.frames * picture.width * picture.height > maxPixelsAtOnce) {
    throw new EngineError(
      `The frames of ${JSON.stringify(input.name)} have more than ${maxPixelsAtOnce / 1_000_000} million pixels in total. Scale it down, or convert a single one with the option page.`,
    );
  }
  const frames: Frame[] = [];
  for (let index = 0; index < picture.frames; index++) {
    // Pages of a document may differ in size; frames of an animation do not.
    const size = picture.delays ? picture : (await picture.frame(index).metadata()).autoOrient;
    const single: Picture = { ...picture, width: size.width, height: size.height };
    const image = await transform(picture.frame(index), single, target);
    const delay = picture.delays ? (picture.delays[index] ?? 100) : 1000;
    frames.push(await toFrame(image.toColourspace('srgb').ensureAlpha(), delay));
    progress(((index + 1) / picture.frames) * 90);
  }
  return frames;
}

async function writeFrames(
  path: string,
  format: ImageFormat & { write: Writing },
  options: OptionValues,
  loop: number,
  frames: Frame[],
): Promise<void> {
  const { write, ext } = format;
  if (ext === 'tiff') return writeFile(path, await writeMagick(frames, { format: 'TIFF', compression: 'lzw' }));
  const sized = write.several === 'frames' ? await toOneSize(frames) : frames;
  const delays = sized.map(({ delay = 1000 }) => Math.round(delay));
  if (write.by === 'sharp') {
    await encodeWithSharp(joinRoll(sized), ext, options, { delays, loop }).toFile(path);
    return;
  }
  const images = sized.map((frame) => ({ image: openFrame(frame), delay: frame.delay }));
  await encodeFrames(path, images, format, { options, loop, profiles: {} });
}
