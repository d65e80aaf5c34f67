import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp, { type Sharp } from 'sharp';
import { withExtension } from '../../../shared/files/names.ts';
import { EngineError, type InputFile, type Work, type WorkContext, type WorkResult } from '../runtime/engine.ts';
import { joinRoll } from './animation.ts';
import type { Frame } from './codecs/magick.ts';
import type { Size } from './decoders/decoding.ts';
import { encodeWithSharp, toFrame } from './encoders/encode.ts';
import { writePdf } from './encoders/pdf.ts';
import { verifyOutput } from './encoders/verify.ts';
import { explain } from './failures.ts';
import { imageFormat } from './formats.ts';
import { maxFrames, maxPixelsAtOnce } from './limits.ts';
import { openPicture, readingLeniently } from './picture.ts';
import { numberOption, scaledSize, textOption } from './transform.ts';
import { pdfPages, renderPdfPage } from './vector/pdf-pages.ts';

const pageDpi = 96;

/** Joins images and PDFs in their order to one PDF or one animation. */
export async function merge(work: Work, context: WorkContext): Promise<WorkResult> {
  const { folder, inputs, outputFormat } = work;
  const path = join(folder, `merged.${outputFormat}`);
  const warnings = outputFormat === 'pdf' ? await writePdf(path, inputs, work, context) : [];
  if (outputFormat === 'gif') await writeGif(path, work, context);
  const name = withExtension(inputs[0]?.name ?? 'merged', outputFormat);
  return { outputs: [{ path, name, format: outputFormat }], warnings };
}

async function writeGif(path: string, work: Work, context: WorkContext): Promise<void> {
  const { options } = work;
  const frames: Frame[] = [];
  let canvas: Size | undefined;
  for (const [index, input] of work.inputs.entries()) {
    await readingLeniently(input, async (tolerant) => {
      for await (const { image, size, delay } of framesOf(input, work, context, tolerant)) {
        canvas ??= canvasSize(size, work);
        if (frames.length >= maxFrames || (frames.length + 1) * canvas.width * canvas.height > maxPixelsAtOnce) {
          throw new EngineError(
            'The animation would have too many frames or pixels. Reduce width and height, or merge fewer files.',
          );
        }
        frames.push(await fitFrame(image, canvas, input, delay));
      }
    });
    context.progress(((index + 1) / work.inputs.length) * 90);
  }
  const delays = frames.map(({ delay = 1000 }) => numberOption(options, 'gif_delay') ?? Math.round(delay));
  const image = joinRoll(frames);
  const background = textOption(options, 'background');
  if (background !== undefined) image.flatten({ background });
  await encodeWithSharp(image, 'gif', options, {
    timing: { delay: delays, loop: numberOption(options, 'gif_loop') ?? 0 },
  }).toFile(path);
  await verifyOutput(path, imageFormat('gif'));
}

async function fitFrame(image: Sharp, canvas: Size, input: InputFile, delay: number | undefined): Promise<Frame> {
  try {
    const fitted = image.resize({ ...canvas, fit: 'contain', background: { r: 255, g: 255, b: 255, alpha: 0 } });
    return await toFrame(fitted.toColourspace('srgb').ensureAlpha(), delay);
  } catch (error) {
    throw explain(error, input);
  }
}

function canvasSize(first: Size, { options }: Work): Size {
  const width = numberOption(options, 'image_custom_width');
  const height = numberOption(options, 'image_custom_height');
  if (width !== undefined && height !== undefined) return { width, height };
  if (width !== undefined) return scaledSize(first, width / first.width);
  if (height !== undefined) return scaledSize(first, height / first.height);
  return first;
}

async function* framesOf(
  input: InputFile,
  { folder, options }: Work,
  given: WorkContext,
  tolerant: boolean,
): AsyncGenerator<{ image: Sharp; size: Size; delay: number | undefined }> {
  const context = { ...given, folder };
  if (input.format === 'pdf') {
    for (const [index, page] of (await pdfPages(input, context)).entries()) {
      const number = index + 1;
      const png = await renderPdfPage(input, { number, ...page }, { dpi: pageDpi, transparent: false }, context);
      const bytes = await readFile(png);
      const { width, height } = await sharp(bytes).metadata();
      yield { image: sharp(bytes), size: { width, height }, delay: undefined };
    }
    return;
  }
  const picture = await openPicture(input, { ...context, options, several: true, tolerant });
  for (let index = 0; index < picture.frames; index++) {
    yield {
      image: picture.frame(index).autoOrient(),
      size: { width: picture.width, height: picture.height },
      delay: picture.delays?.[index],
    };
  }
}
