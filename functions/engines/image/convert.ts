import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Sharp } from 'sharp';
import type { OptionValues } from '../../../shared/catalogue/options.ts';
import { defined } from '../../../shared/defined.ts';
import { withExtension } from '../../../shared/files/names.ts';
import type { InputFile, Work, WorkContext, WorkResult } from '../runtime/engine.ts';
import { checkFileCount, Outputs } from '../runtime/outputs.ts';
import { joinRoll, openFrame, toOneSize } from './animation.ts';
import { jpegQuality } from './codecs/jpeg.ts';
import type { Frame } from './codecs/magick.ts';
import { addExif, joinTiffs } from './codecs/tiff-pages.ts';
import { copyJpeg } from './copy-jpeg.ts';
import { encodeFrames, encodeWithSharp, toFrame } from './encoders/encode.ts';
import { writePdf } from './encoders/pdf.ts';
import { verifyOutput } from './encoders/verify.ts';
import { explain, tooManyFramePixels } from './failures.ts';
import { type ImageFormat, imageFormat, isDrawing, type Writing } from './formats.ts';
import { maxPixelsAtOnce } from './limits.ts';
import { type Picture, pageOption } from './openers/opened.ts';
import { missingFrames, openPicture, readingLeniently, singlePage } from './picture.ts';
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

/** Returns the crop area of an image. */
export type Cutter = (picture: Picture) => Cut;

interface Conversion {
  input: InputFile;
  picture: Picture;
  /** Path of the output; files of single pages get a number before the extension. */
  path: string;
  format: ImageFormat & { write: Writing };
  options: OptionValues;
  folder: string;
  context: WorkContext;
  cutter: Cutter | undefined;
}

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
  const wanted = {
    width: numberOption(options, 'image_custom_width'),
    height: numberOption(options, 'image_custom_height'),
    percentage: numberOption(options, 'image_resize_percentage'),
    dpi: numberOption(options, 'image_dpi'),
  };
  for (const [index, input] of work.inputs.entries()) {
    const path = join(folder, `${index}.${outputFormat}`);
    const made: Converted =
      write.by === 'pdf'
        ? { files: [{ path }], warnings: await writePdf(path, [input], work, context) }
        : await readingLeniently(input, async (tolerant) => {
            const several = write.several !== undefined;
            const picture = await openPicture(input, { ...context, options, several, tolerant, folder, wanted });
            const conversion = { input, picture, path, format: { ...format, write }, options, folder, context, cutter };
            return convertPicture(conversion);
          });
    for (const file of made.files) {
      const name = withExtension(input.name, outputFormat, file.page);
      await outputs.add({ path: file.path, name, format: outputFormat });
    }
    warnings.push(...made.warnings);
    context.progress(((index + 1) / work.inputs.length) * 100);
  }
  return { outputs: outputs.files, warnings };
}

/** Writes all frames to one file if the format holds several, each page to a file if it does not, otherwise one frame. */
async function convertPicture(conversion: Conversion): Promise<Converted> {
  const { input, picture, path, format, options } = conversion;
  try {
    const chosen = pageOption(input, picture.frames, options);
    const several = chosen === undefined && picture.frames > 1;
    let made: Converted = { files: [{ path }], warnings: [] };
    if (several && format.write.several) made.warnings = await writeAll(conversion);
    else if (several && picture.hasPages) made = await writePageFiles(conversion);
    else {
      const warnings = await writePage(conversion, (chosen ?? 1) - 1, path);
      made.warnings = [...missingFrames(input, picture, format.ext, options), ...warnings];
    }
    for (const file of made.files) await verifyOutput(file.path, format);
    return made;
  } catch (error) {
    throw explain(error, input);
  }
}

/** Writes all frames or pages to one file and returns warnings about them. */
async function writeAll(conversion: Conversion): Promise<string[]> {
  const { picture, path, format } = conversion;
  const target = targetOf(conversion, picture);
  if (format.write.by === 'sharp' && picture.roll && !needsSingleFrames(target)) {
    await encode(await transform(picture.roll(), picture, target), conversion, picture, target, path);
  } else if (format.ext === 'tiff') {
    // Pages may differ in size and colours, so each is written as it is.
    const paths = Array.from({ length: picture.frames }, (_, index) => `${path}-${index}`);
    const warnings = await writePages(conversion, paths, 90);
    await joinTiffs(paths, path);
    for (const page of paths) await rm(page);
    return warnings;
  } else await writeFrames(conversion);
  return warningsOf(conversion, picture, target);
}

/** Writes each page to a file of its own. */
async function writePageFiles(conversion: Conversion): Promise<Converted> {
  const { picture, path, format } = conversion;
  checkFileCount(
    picture.frames,
    'Choose a page with the option page, or convert to tiff or pdf, which hold all pages.',
  );
  const stem = path.slice(0, -(format.ext.length + 1));
  const files = Array.from({ length: picture.frames }, (_, index) => {
    const page = String(index + 1).padStart(String(picture.frames).length, '0');
    return { path: `${stem}-${page}.${format.ext}`, page };
  });
  const paths = files.map((file) => file.path);
  return { files, warnings: await writePages(conversion, paths, 95) };
}

/** Writes the pages to the given paths and returns distinct warnings. `share` is the progress in percent at the end. */
async function writePages(conversion: Conversion, paths: string[], share: number): Promise<string[]> {
  const warnings = new Set<string>();
  for (const [index, path] of paths.entries()) {
    for (const warning of await writePage(conversion, index, path)) warnings.add(warning);
    conversion.context.progress(((index + 1) / paths.length) * share);
  }
  return [...warnings];
}

/** Writes one frame or page and returns warnings about it. */
async function writePage(conversion: Conversion, index: number, path: string): Promise<string[]> {
  const { input, format, options, folder, context } = conversion;
  const { write, ext } = format;
  const picture = await singlePage(conversion.picture, index, options);
  const target = targetOf(conversion, picture);
  if (input.format === 'jpg' && ext === 'jpg') {
    if (await copyJpeg(input, picture, target, path, { ...context, folder })) return [];
  }
  const image = await transform(picture.frame(0), picture, target);
  const { exif, xmp } = options.strip === false ? await picture.frame(0).metadata() : {};
  if (write.by === 'sharp') {
    await encode(image, conversion, picture, target, path);
    if (ext === 'tiff') await addExif(path, exif);
  } else {
    const facts = { profiles: defined({ exif, xmp }), density: picture.density };
    await encodeFrames(path, [{ image, delay: undefined }], format, options, facts);
  }
  return warningsOf(conversion, picture, target);
}

/** Decodes all frames into memory, because libvips cannot process them as a roll, and writes them to one file. */
async function writeFrames(conversion: Conversion): Promise<void> {
  const { input, picture, path, format, options, context } = conversion;
  const { write, ext } = format;
  const { loop, density } = picture;
  let frames: Frame[] = [];
  let [width, height] = [0, 0];
  for (let index = 0; index < picture.frames; index++) {
    const single = await singlePage(picture, index, options);
    [width, height] = [Math.max(width, single.width), Math.max(height, single.height)];
    if (picture.frames * width * height > maxPixelsAtOnce) throw tooManyFramePixels(input, maxPixelsAtOnce);
    const image = await transform(single.frame(0), single, targetOf(conversion, single));
    const delay = picture.delays ? (picture.delays[index] ?? 100) : 1000;
    frames.push(await toFrame(image.toColourspace('srgb').ensureAlpha(), delay));
    context.progress(((index + 1) / picture.frames) * 90);
  }
  if (write.several === 'frames') frames = await toOneSize(frames, textOption(options, 'background'));
  if (write.by === 'sharp') {
    const timing = { delay: frames.map(({ delay = 1000 }) => Math.round(delay)), loop };
    await encodeWithSharp(joinRoll(frames), ext, options, { timing, density }).toFile(path);
  } else {
    const images = frames.map((frame) => ({ image: openFrame(frame), delay: frame.delay }));
    await encodeFrames(path, images, format, options, { loop, density });
  }
}

function targetOf({ input, format, options, cutter }: Conversion, picture: Picture): Target {
  // Drawings are rendered at the requested size and must not be scaled again.
  const { image_resize_percentage: _, ...withoutPercentage } = options;
  return {
    write: format.write,
    options: isDrawing(input.format) ? withoutPercentage : options,
    cut: cutter?.(picture),
  };
}

/** Writes a transformed image with libvips, keeping the properties of its source. */
async function encode(
  image: Sharp,
  { input, format: { ext }, options }: Conversion,
  picture: Picture,
  target: Target,
  path: string,
): Promise<void> {
  const { density, orientation } = picture;
  const isBilevel = picture.isBilevel && keepsPixels(picture, target);
  const jpeg = ext === 'jpg' && ['jpg', 'mpo'].includes(input.format) ? await jpegQuality(input.path) : undefined;
  await encodeWithSharp(image, ext, options, { density, orientation, isBilevel, jpeg }).toFile(path);
}

/** Returns warnings about a picture that was scaled down to fit the format or lost its orientation. */
function warningsOf({ input, format: { ext } }: Conversion, picture: Picture, target: Target): string[] {
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
