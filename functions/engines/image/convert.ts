import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import type { OptionValues } from '../../../shared/catalogue/options.ts';
import { withExtension } from '../../../shared/files/names.ts';
import { EngineError, type InputFile, type Work, type WorkContext, type WorkResult } from '../runtime/engine.ts';
import { findProgram } from '../runtime/find-program.ts';
import { checkFileCount, Outputs } from '../runtime/outputs.ts';
import { ProgramError, runProgram } from '../runtime/program.ts';
import { joinRoll, openFrame, toOneSize } from './animation.ts';
import { isSrgb, jpegBlock, jpegQuality, setJpegDensity, stripJpeg, turningArguments } from './codecs/jpeg.ts';
import type { Frame, MagickWriting } from './codecs/magick.ts';
import { addExif, joinTiffs } from './codecs/tiff-pages.ts';
import { encodeFrames, encodeWithSharp, type SourceFacts, toFrame } from './encoders/encode.ts';
import { verifyOutput } from './encoders/verify.ts';
import { explain } from './failures.ts';
import { type ImageFormat, imageFormat, type Writing } from './formats.ts';
import { maxPixelsAtOnce } from './limits.ts';
import { missingFrames, openPicture, type Picture, pageOption, readingLeniently, singlePage } from './picture.ts';
import {
  type Cut,
  isScaledDown,
  keepsPixels,
  needsSingleFrames,
  numberOption,
  type Target,
  textOption,
  transform,
} from './transform.ts';
import { writePdf } from './vector/pdf.ts';
import { limited } from './vector/postscript.ts';

/** Returns the crop area of an image. */
export type Cutter = (picture: Picture) => Cut;

interface Conversion {
  input: InputFile;
  /** Path of the output; files of single pages get a number before the extension. */
  path: string;
  format: ImageFormat & { write: Writing };
  options: OptionValues;
  folder: string;
  context: WorkContext;
  cutter: Cutter | undefined;
  tolerant: boolean;
}

const copyTimeoutMs = 120_000;

interface Converted {
  /** The path of each output, with its page if there are several. */
  files: { path: string; page?: string }[];
  warnings: string[];
}

/** Converts every input to the output format, cropped if requested. */
export async function convert(work: Work, context: WorkContext, cutter?: Cutter): Promise<WorkResult> {
  const outputs = new Outputs(work);
  const warnings: string[] = [];
  const { options, outputFormat, folder } = work;
  const { write, ...format } = imageFormat(outputFormat);
  if (!write) throw new Error(`The catalogue lists ${outputFormat}, which this engine does not write.`);
  for (const [index, input] of work.inputs.entries()) {
    const path = join(folder, `${index}.${outputFormat}`);
    const made: Converted =
      write.by === 'pdf'
        ? { files: [{ path }], warnings: await writePdf(path, [input], work, context) }
        : await readingLeniently(input, (tolerant) =>
            convertOne({ input, path, format: { ...format, write }, options, folder, context, cutter, tolerant }),
          );
    for (const file of made.files) {
      const name = withExtension(input.name, outputFormat, file.page);
      await outputs.add({ path: file.path, name, format: outputFormat });
    }
    warnings.push(...made.warnings);
    context.progress(((index + 1) / work.inputs.length) * 100);
  }
  return { outputs: outputs.files, warnings };
}

async function convertOne(conversion: Conversion): Promise<Converted> {
  const { input, options, format } = conversion;
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
  try {
    const made = await writeOutputs(conversion, picture);
    for (const { path } of made.files) await verifyOutput(path, format);
    return made;
  } catch (error) {
    throw explain(error, input);
  }
}

/** Writes all frames into one file if it holds several, a file for each page if it does not, and otherwise one frame. */
async function writeOutputs(conversion: Conversion, picture: Picture): Promise<Converted> {
  const { input, path, format, options, context } = conversion;
  const { write, ext } = format;
  const chosen = pageOption(input, picture.frames, options);
  if (write.several !== undefined && chosen === undefined && picture.frames > 1) {
    const warnings = await writeAll(conversion, picture);
    return { files: [{ path }], warnings };
  }
  if (chosen !== undefined || !picture.hasPages || picture.frames === 1) {
    const warnings = await writePage(conversion, picture, (chosen ?? 1) - 1, path);
    return { files: [{ path }], warnings: [...missingFrames(input, picture, ext, options), ...warnings] };
  }
  checkFileCount(
    picture.frames,
    'Choose a page with the option page, or convert to tiff or pdf, which hold all pages.',
  );
  const made: Converted = { files: [], warnings: [] };
  const digits = String(picture.frames).length;
  for (let index = 0; index < picture.frames; index++) {
    const page = String(index + 1).padStart(digits, '0');
    const file = { path: withExtensionOf(path, page, ext), page };
    made.warnings = [...new Set([...made.warnings, ...(await writePage(conversion, picture, index, file.path))])];
    made.files.push(file);
    context.progress(((index + 1) / picture.frames) * 95);
  }
  return made;
}

function withExtensionOf(path: string, page: string, ext: string): string {
  return `${path.slice(0, -(ext.length + 1))}-${page}.${ext}`;
}

/** Writes one frame or page, and returns warnings about it. */
async function writePage(conversion: Conversion, picture: Picture, index: number, path: string): Promise<string[]> {
  const { input, format, options } = conversion;
  const { write, ext } = format;
  const single = await singlePage(picture, index, options);
  const target = targetOf(conversion, single);
  if (await copyJpeg(conversion, single, target, path)) return [];
  const image = await transform(single.frame(0), single, target);
  if (write.by === 'sharp') {
    await encodeWithSharp(image, ext, options, await sourceFacts(input, single, target, ext)).toFile(path);
    if (ext === 'tiff' && options.strip === false) await addExif(path, (await single.frame(0).metadata()).exif);
  } else {
    const profiles = options.strip === false ? await profilesOf(single) : {};
    const { density } = single;
    await encodeFrames(path, [{ image, delay: undefined }], format, { options, loop: 0, profiles, density });
  }
  return warningsOf(input, single, target, ext);
}

/** Rewrites a JPEG as another one without decoding it, so that nothing is lost. Returns false if that is not possible. */
async function copyJpeg(
  { input, format, options, folder, context }: Conversion,
  picture: Picture,
  target: Target,
  path: string,
): Promise<boolean> {
  const isChanged = ['quality', 'jpg_convert_compression_level'].some((name) => options[name] !== undefined);
  if (input.format !== 'jpg' || format.ext !== 'jpg' || isChanged || !keepsPixels(picture, target)) return false;
  if (!['srgb', undefined].includes(textOption(options, 'color_space'))) return false;
  const metadata = await picture.frame(0).metadata();
  const { orientation = 1, channels, icc } = metadata;
  const isTurned = options['auto-orient'] !== false;
  // The orientation would be lost with the rest of EXIF, or not be that of the pixels.
  if ((channels !== 1 && channels !== 3) || !isSrgb(icc) || (orientation !== 1 && !isTurned)) return false;
  const angle = numberOption(options, 'rotate') ?? 0;
  const turning = turningArguments({ orientation, angle, flip: textOption(options, 'flip') });
  const { cut } = target;
  const keepsAll = options.strip === false;
  if ((cut || keepsAll) && turning.length > 0) return false;
  const block = jpegBlock(metadata);
  if (cut && (keepsAll || cut.left % block !== 0 || cut.top % block !== 0)) return false;
  const dpi = numberOption(options, 'image_dpi') ?? picture.density;
  const isPlain = turning.length === 0 && !cut && !keepsAll && !metadata.isProgressive && options.progressive !== true;
  if (isPlain && (await copyPixels(input.path, path, dpi))) return true;
  if (!(await findProgram('jpegtran'))) return false;
  const args = [
    ...['-copy', keepsAll ? 'all' : 'none', '-optimize', '-perfect', '-maxscans', '100'],
    ...(options.progressive === true ? ['-progressive'] : []),
    ...turning,
    ...(cut ? ['-crop', `${cut.width}x${cut.height}+${cut.left}+${cut.top}`] : []),
    ...['-outfile', path, input.path],
  ];
  const { signal } = context;
  try {
    await limited(input, { ...context, folder }, () =>
      runProgram('jpegtran', args, { cwd: folder, signal, timeoutMs: copyTimeoutMs }),
    );
  } catch (error) {
    // Sides that are no whole blocks, and damage, which the decoder describes.
    if (error instanceof ProgramError) return false;
    throw error;
  }
  if (dpi !== undefined && !(keepsAll && options.image_dpi === undefined)) {
    const file = await readFile(path);
    if (!setJpegDensity(file, dpi)) return false;
    await writeFile(path, file);
  }
  return true;
}

/** Copies a JPEG without its metadata. Returns false if it has no place for the resolution, or is damaged. */
async function copyPixels(from: string, to: string, dpi: number | undefined): Promise<boolean> {
  const file = stripJpeg(await readFile(from));
  if (dpi !== undefined && !setJpegDensity(file, dpi)) return false;
  // Reads all of it, and calculates an eighth of the pixels.
  const check = sharp(file, { failOn: 'warning', limitInputPixels: false })
    .resize(1, 1, { fit: 'fill' })
    .raw()
    .toBuffer();
  if (!(await check.catch(() => undefined))) return false;
  await writeFile(to, file);
  return true;
}

function targetOf({ input, format, options, cutter }: Conversion, picture: Picture): Target {
  return {
    write: format.write,
    options: isDrawing(input.format) ? withoutPercentage(options) : options,
    cut: cutter?.(picture),
  };
}

/** Returns what an output takes over from its source. */
async function sourceFacts(
  { format, path }: InputFile,
  picture: Picture,
  target: Target,
  ext: string,
): Promise<SourceFacts> {
  const { density, orientation } = picture;
  return {
    density,
    orientation,
    isBilevel: picture.isBilevel && keepsPixels(picture, target),
    ...(ext === 'jpg' && (format === 'jpg' || format === 'mpo') ? { jpeg: await jpegQuality(path) } : {}),
  };
}

/** Warns of a picture that the format cannot hold in its size, or whose orientation it cannot say. */
function warningsOf(input: InputFile, picture: Picture, target: Target, ext: string): string[] {
  const warnings: string[] = [];
  const scaled = isScaledDown(picture, target);
  if (scaled)
    warnings.push(
      `The image ${JSON.stringify(input.name)} was scaled down from ${scaled.from.width} × ${scaled.from.height} to ${scaled.to.width} × ${scaled.to.height} pixels, because ${ext} holds at most ${target.write.maxSide} pixels per side. Convert to png or tiff to keep its size.`,
    );
  if ((picture.orientation ?? 1) !== 1 && !target.write.metadata)
    warnings.push(
      `The image ${JSON.stringify(input.name)} may be shown turned, because ${ext} cannot store its orientation. Leave out auto-orient to turn the pixels.`,
    );
  return warnings;
}

/** Writes all frames or pages into one file, and returns warnings about them. */
async function writeAll(conversion: Conversion, picture: Picture): Promise<string[]> {
  const { input, path, format, options, context } = conversion;
  const { write, ext } = format;
  const target = targetOf(conversion, picture);
  if (write.by === 'sharp' && picture.roll && !needsSingleFrames(target)) {
    const image = await transform(picture.roll(), picture, target);
    await encodeWithSharp(image, ext, options, await sourceFacts(input, picture, target, ext)).toFile(path);
  } else if (ext === 'tiff') return writePages(conversion, picture);
  else await writeFrames(path, format, options, picture, await decodeFrames(conversion, picture, context));
  return warningsOf(input, picture, target, ext);
}

/** Writes pages that differ in size or kind one by one, each as it is, and joins them. */
async function writePages(conversion: Conversion, picture: Picture): Promise<string[]> {
  const { path, context } = conversion;
  const pages: string[] = [];
  const warnings = new Set<string>();
  for (let index = 0; index < picture.frames; index++) {
    const page = `${path}-${index}`;
    for (const warning of await writePage(conversion, picture, index, page)) warnings.add(warning);
    pages.push(page);
    context.progress(((index + 1) / picture.frames) * 90);
  }
  await joinTiffs(pages, path);
  for (const page of pages) await rm(page);
  return [...warnings];
}

function isDrawing(format: string): boolean {
  const by = imageFormat(format).read?.by;
  return by === 'svg' || by === 'ghostscript';
}

/** An image rendered at the requested size must not be scaled again. */
function withoutPercentage({ image_resize_percentage: _, ...options }: OptionValues): OptionValues {
  return options;
}

async function profilesOf(picture: Picture): Promise<NonNullable<MagickWriting['profiles']>> {
  const { exif, xmp } = await picture.frame(0).metadata();
  return { ...(exif ? { exif } : {}), ...(xmp ? { xmp } : {}) };
}

/** Decodes all frames into memory, transformed one by one, if libvips cannot process them as a roll. */
async function decodeFrames(conversion: Conversion, picture: Picture, { progress }: WorkContext): Promise<Frame[]> {
  const frames: Frame[] = [];
  let [width, height] = [0, 0];
  for (let index = 0; index < picture.frames; index++) {
    const single = await singlePage(picture, index, conversion.options);
    [width, height] = [Math.max(width, single.width), Math.max(height, single.height)];
    if (picture.frames * width * height > maxPixelsAtOnce) {
      throw new EngineError(
        `The frames of ${JSON.stringify(conversion.input.name)} have more than ${maxPixelsAtOnce / 1_000_000} million pixels in total. Scale it down, or convert a single one with the option page.`,
      );
    }
    const image = await transform(single.frame(0), single, targetOf(conversion, single));
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
  { loop, density }: Picture,
  frames: Frame[],
): Promise<void> {
  const { write, ext } = format;
  const sized = write.several === 'frames' ? await toOneSize(frames, textOption(options, 'background')) : frames;
  const delays = sized.map(({ delay = 1000 }) => Math.round(delay));
  if (write.by === 'sharp') {
    await encodeWithSharp(joinRoll(sized), ext, options, { timing: { delays, loop }, density }).toFile(path);
    return;
  }
  const images = sized.map((frame) => ({ image: openFrame(frame), delay: frame.delay }));
  await encodeFrames(path, images, format, { options, loop, profiles: {}, density });
}
