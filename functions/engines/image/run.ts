import { join } from 'node:path';
import sharp from 'sharp';
import { withExtension } from '../../../shared/files/names.ts';
import { type Engine, EngineError, type InputFile, type OutputFile, type Work } from '../engine.ts';

/** Beyond this a small file would cost gigabytes of memory once decoded. */
const mostPixels = 100_000_000;
const animatedFormats = ['gif', 'webp'];

// One conversion at a time uses all cores by itself; a cache would only keep other tasks' pixels in memory.
sharp.cache(false);

/** Converts images with libvips. */
export const engine: Engine = {
  async run(work, { progress }) {
    const outputs: OutputFile[] = [];
    for (const [index, input] of work.inputs.entries()) {
      outputs.push(await convert(work, input, index));
      progress(((index + 1) / work.inputs.length) * 100);
    }
    return { outputs };
  },
};

async function convert(work: Work, input: InputFile, index: number): Promise<OutputFile> {
  const { options, outputFormat } = work;
  const path = join(work.folder, `${index}.${outputFormat}`);
  const animated = animatedFormats.includes(input.format) && animatedFormats.includes(outputFormat);
  try {
    const image = sharp(input.path, { animated, limitInputPixels: mostPixels }).autoOrient();
    const width = numberOf(options.image_custom_width);
    const height = numberOf(options.image_custom_height);
    if (width !== undefined || height !== undefined) image.resize({ width, height, fit: 'inside' });
    if (options.strip === false) image.keepMetadata();
    const quality = numberOf(options.quality);
    switch (outputFormat) {
      case 'jpg':
        image.flatten({ background: '#ffffff' }).jpeg({ quality, mozjpeg: false });
        break;
      case 'webp':
        image.webp({ quality });
        break;
      case 'avif':
        // Effort 4, the default, takes eight times as long for the same size.
        image.avif({ quality, effort: 3 });
        break;
      case 'gif':
        image.gif();
        break;
      case 'png':
        image.png();
        break;
      default:
        throw new Error(`The catalogue promises ${outputFormat}, which this engine does not write.`);
    }
    await image.toFile(path);
  } catch (error) {
    throw explain(error, input);
  }
  return { path, name: withExtension(input.name, outputFormat), format: outputFormat };
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

function explain(error: unknown, input: InputFile): unknown {
  if (!(error instanceof Error)) return error;
  const detail = error.message;
  if (detail.includes('exceeds pixel limit')) {
    return new EngineError(`The image has more than ${mostPixels / 1_000_000} million pixels. Scale it down first.`, {
      detail,
    });
  }
  if (
    /unsupported image format|corrupt|truncat|premature|VipsJpeg|pngload|gifload|webp2vips|heifload|bad seek|invalid|end of stream/i.test(
      detail,
    )
  ) {
    return new EngineError(`The file could not be read as ${input.format}: it is damaged or incomplete.`, {
      detail,
      cause: error,
    });
  }
  return error;
}
