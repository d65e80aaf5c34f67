import { copyFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { OptionValues } from '../../../shared/catalogue/options.ts';
import { withExtension } from '../../../shared/files/names.ts';
import type { JsonObject } from '../../../shared/tasks/task.ts';
import { EngineError, type InputFile, type OutputFile, type Work, type WorkContext } from '../engine.ts';
import { type CompressionPreset, compressByFactor, compressByPreset, type PictureSettings } from './ghostscript.ts';
import { checkPdf, openPdf, type Pdf, runTool } from './pdf.ts';

/** A result this close below the target is as good as the target. */
const closeEnough = 0.95;
const mostTries = 12;
/** After this the best found so far is the answer. */
const searchMs = 200_000;

const smallest: PictureSettings = { dpi: 30, factor: 2.5 };
const finest: PictureSettings = { dpi: 600, factor: 0.01 };

/** Makes a PDF smaller: by a preset, to a share of its size, or to a size. */
export async function compress(
  work: Work,
  input: InputFile,
  context: WorkContext,
): Promise<{ output: OutputFile; details: JsonObject }> {
  const { folder, options } = work;
  const password = typeof options.password === 'string' ? options.password : undefined;
  const pdf = await openPdf(input.path, folder, password, context);
  context.progress(10);
  const path = join(folder, 'compressed.pdf');
  const target = targetBytes(options, input.size);
  const note =
    target === undefined
      ? await byPreset(pdf, input, path, presetOf(options), folder, context)
      : await bySize(pdf, input, path, target, folder, context);
  await checkPdf(path, folder, context, pdf.pages);
  const { size } = await stat(path);
  const details: JsonObject = { size_before: input.size, size_after: size, ...(note ? { note } : {}) };
  return { output: { path, name: withExtension(input.name, 'pdf'), format: 'pdf' }, details };
}

function presetOf(options: OptionValues): CompressionPreset {
  const presets: CompressionPreset[] = ['screen', 'ebook', 'printer', 'prepress'];
  return presets.find((preset) => preset === options.pdf_compress_quality) ?? 'ebook';
}

function targetBytes(options: OptionValues, size: number): number | undefined {
  if (options.compress_pdf === 'by_size') return Math.floor(Number(options.pdf_compress_max_filesize) * 1_000_000);
  if (options.compress_pdf === 'by_percentage')
    return Math.floor((size * Number(options.pdf_compress_percentage)) / 100);
  return undefined;
}

const keptOriginal = 'The file could not be made smaller at this quality, so it is returned as it was.';

async function byPreset(
  pdf: Pdf,
  input: InputFile,
  path: string,
  preset: CompressionPreset,
  folder: string,
  context: WorkContext,
) {
  await compressByPreset(pdf.path, path, preset, folder, context);
  context.progress(70);
  const { size } = await stat(path);
  if (size < input.size) return undefined;
  const repacked = join(folder, 'repacked.pdf');
  await repack(pdf.path, repacked, folder, context);
  if ((await stat(repacked)).size < input.size) {
    await copyFile(repacked, path);
    return 'Pictures could not be made smaller at this quality; the file was packed more tightly without loss.';
  }
  await copyFile(input.path, path);
  return keptOriginal;
}

/** Packs a PDF's objects as tightly as its format allows, without touching what they hold. */
async function repack(input: string, output: string, folder: string, context: WorkContext): Promise<void> {
  const args = [
    '--warning-exit-0',
    '--object-streams=generate',
    '--recompress-flate',
    '--compression-level=9',
    input,
    output,
  ];
  await runTool('qpdf', args, folder, context);
}

/**
 * Searches the best quality whose file is no larger than the target, and close below it.
 */
async function bySize(pdf: Pdf, input: InputFile, path: string, target: number, folder: string, context: WorkContext) {
  if (input.size <= target) {
    await copyFile(input.path, path);
    return 'The file is already no larger than that, so it is returned as it was.';
  }
  const attempt = join(folder, 'attempt.pdf');
  const deadline = Date.now() + searchMs;
  let best = 0;
  const keep = async (): Promise<number> => {
    const { size } = await stat(attempt);
    if (size <= target && size > best) {
      best = size;
      await copyFile(attempt, path);
    }
    return size;
  };
  const tryQuality = async (settings: PictureSettings): Promise<number> => {
    await compressByFactor(pdf.path, attempt, settings, folder, context);
    return keep();
  };

  await repack(pdf.path, attempt, folder, context);
  // Without any loss is better than closer to the target.
  if ((await keep()) <= target) return undefined;
  const least = await tryQuality(smallest);
  if (least > target)
    throw new EngineError(
      `The file cannot be made smaller than ${megabytes(least)} MB; ${megabytes(target)} MB was asked for.`,
    );
  for (const line of lines) {
    let low = 0;
    let high = 1;
    for (let tries = 0; tries < mostTries && best < target * closeEnough && Date.now() < deadline; tries++) {
      const middle = (low + high) / 2;
      if ((await tryQuality(line(middle))) <= target) low = middle;
      else high = middle;
      context.progress(10 + (tries / mostTries) * 80);
    }
  }
  return undefined;
}

const between = (from: number, to: number, quality: number) => from * (to / from) ** quality;

/**
 * Ways from the smallest file to the largest, each from 0 to 1. Along the first, resolution and JPEG factor change
 * together; it leaps where pictures are no longer scaled down, and there one of the others fills the gap.
 */
const lines: ((quality: number) => PictureSettings)[] = [
  (quality) => ({
    dpi: between(smallest.dpi, finest.dpi, quality),
    factor: between(smallest.factor, finest.factor, quality),
  }),
  (quality) => ({ dpi: finest.dpi, factor: between(smallest.factor, finest.factor, quality) }),
  (quality) => ({ dpi: between(smallest.dpi, finest.dpi, quality), factor: finest.factor }),
];

function megabytes(bytes: number): string {
  return (bytes / 1_000_000).toFixed(bytes < 1_000_000 ? 3 : 2);
}
