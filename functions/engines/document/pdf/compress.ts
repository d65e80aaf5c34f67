import { copyFile, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { PDFDocument } from '@cantoo/pdf-lib';
import type { OptionValues } from '../../../../shared/catalogue/options.ts';
import { withExtension } from '../../../../shared/files/names.ts';
import type { JsonObject } from '../../../../shared/tasks/task.ts';
import { EngineError, type InputFile, type OutputFile, type Work } from '../../runtime/engine.ts';
import { checkPdf, limitByPages, openPdf, type Pdf, runTool, type Workspace } from '../../runtime/pdf-file.ts';
import { hasStructure, isTagged } from '../../runtime/pdf-join.ts';
import { checkPictures } from '../../runtime/pdf-pictures.ts';
import { closeEnough, meetsTarget, searchQuality } from '../../runtime/size-search.ts';
import {
  type Compressible,
  compressByPreset,
  compressBySettings,
  type PictureSettings,
  rewritePdf,
} from './ghostscript.ts';

/** After this, no new attempt is started, to stay within the engine's timeout. */
const searchMs = 300_000;

const smallest: PictureSettings = { dpi: 30, factor: 2.5, packing: 'half-colour' };
const finest: PictureSettings = { dpi: 2400, factor: 0.01, packing: 'half-colour' };

/** Compresses a PDF: by a preset, to a percentage of its size, or to a size. */
export async function compress(
  { options }: Work,
  input: InputFile,
  space: Workspace,
): Promise<{ output: OutputFile; details: JsonObject; warnings: string[] }> {
  const opened = await openPdf(input.path, options, space);
  const isPlain = await hasPagesOnly(opened.path);
  const document = isPlain ? undefined : await loadPdf(opened.path);
  const pdf = { ...opened, isStructured: document !== undefined && hasStructure(document) };
  const hasTags = document !== undefined && isTagged(document);
  await checkPictures(pdf.path);
  await limitByPages(pdf, space);
  space.progress(10);
  const path = join(space.folder, 'compressed.pdf');
  const target = targetBytes(options, input.size);
  const note =
    target === undefined
      ? await byPreset(pdf, input, path, String(options.pdf_compress_quality ?? 'ebook'), space)
      : await bySize(pdf, input, path, target, space);
  await checkPdf(path, space.folder, space, pdf.pages);
  const { size } = await stat(path);
  const details: JsonObject = { size_before: input.size, size_after: size, ...(note ? { note } : {}) };
  const warnings = [];
  if (!isPlain && document === undefined && note !== keptOriginal)
    warnings.push('Form fields, and bookmarks by name, are not kept: the file is too large or damaged.');
  const made = hasTags ? await loadPdf(path) : undefined;
  if (made && !isTagged(made)) warnings.push('Tags for screen readers are not kept in a compressed PDF.');
  return { output: { path, name: withExtension(input.name, 'pdf'), format: 'pdf' }, details, warnings };
}

/** Larger files would not fit in memory together with their output. */
const maxStructuredBytes = 256 * 1024 ** 2;

/** Returns whether a PDF has nothing but pages, as most scans. It need not be loaded then. */
async function hasPagesOnly(path: string): Promise<boolean> {
  if ((await stat(path)).size > maxStructuredBytes) return false;
  const bytes = await readFile(path);
  // Names in compressed objects are not visible.
  return !['/ObjStm', '/AcroForm', '/Outlines', '/Names', '/Dests', '/StructTreeRoot'].some((name) =>
    bytes.includes(name),
  );
}

/** Loads a PDF for its bookmarks, names and fields. Returns undefined if the file is too large or damaged. */
async function loadPdf(path: string): Promise<PDFDocument | undefined> {
  if ((await stat(path)).size > maxStructuredBytes) return undefined;
  try {
    return await PDFDocument.load(await readFile(path), { updateMetadata: false });
  } catch {
    // Ghostscript and qpdf repair more damage than the library.
    return undefined;
  }
}

/** Returns the requested size without rounding, because a file must be within five per cent of it. */
function targetBytes(options: OptionValues, size: number): number | undefined {
  if (options.compress_pdf === 'by_size') return Number(options.pdf_compress_max_filesize) * 1_000_000;
  if (options.compress_pdf === 'by_percentage') return (size * Number(options.pdf_compress_percentage)) / 100;
  return undefined;
}

const keptOriginal = 'The file could not be made smaller at this quality, so it is returned unchanged.';

async function byPreset(pdf: Pdf & Compressible, input: InputFile, path: string, preset: string, space: Workspace) {
  await compressByPreset(pdf, path, preset, space);
  space.progress(70);
  const { size } = await stat(path);
  if (size < input.size) return undefined;
  const repacked = join(space.folder, 'repacked.pdf');
  await limitByPages(pdf, space);
  await repack(pdf, repacked, space);
  if ((await stat(repacked)).size < input.size) {
    await copyFile(repacked, path);
    return 'Images could not be made smaller at this quality; the file was compressed losslessly instead.';
  }
  await copyFile(input.path, path);
  return keptOriginal;
}

/** Recompresses the objects of a PDF losslessly, as tightly as its format allows. */
async function repack({ path }: Compressible, output: string, space: Workspace): Promise<void> {
  const args = ['--warning-exit-0', '--object-streams=generate', '--recompress-flate', '--compression-level=9'];
  await runTool('qpdf', [...args, path, output], space);
}

const needsNoLoss = 'The file meets the requested size without any loss of quality, so it was not compressed further.';

/**
 * Finds the best quality with a file no larger than the target. If lossless compression meets the target, its result is used.
 * Otherwise the file must be at most five per cent below the target, or the task fails and reports the possible sizes.
 */
async function bySize(pdf: Pdf & Compressible, input: InputFile, path: string, target: number, space: Workspace) {
  if (input.size <= target) {
    await copyFile(input.path, path);
    return 'The file is already no larger than requested, so it is returned unchanged.';
  }
  const attempt = join(space.folder, 'attempt.pdf');
  let best = 0;
  const keep = async (): Promise<number> => {
    const { size } = await stat(attempt);
    if (size <= target && size > best) {
      best = size;
      await copyFile(attempt, path);
    }
    return size;
  };
  for (const without of [repack, rewritePdf]) {
    await limitByPages(pdf, space);
    await without(pdf, attempt, space);
    if ((await keep()) <= target) return meetsTarget(best, target) ? undefined : needsNoLoss;
  }

  const sizes = new Map<string, number>();
  const tryQuality = async (settings: PictureSettings): Promise<number> => {
    const key = JSON.stringify(settings);
    const known = sizes.get(key);
    if (known !== undefined) return known;
    await limitByPages(pdf, space);
    await compressBySettings(pdf, attempt, settings, space);
    const size = await keep();
    sizes.set(key, size);
    space.progress(10 + 80 * (1 - 0.9 ** sizes.size));
    return size;
  };
  const minSize = await tryQuality(smallest);
  if (minSize > target)
    throw new EngineError(
      `The file cannot be compressed to ${megabytes(target)} MB: the smallest possible size is ${megabytes(minSize)} MB.`,
    );
  const deadline = Date.now() + searchMs;
  const inTime = () => Date.now() < deadline;
  const [first, ...others] = scales;
  const reached = first ? await searchQuality((quality) => tryQuality(first(quality)), target, inTime) : undefined;
  const around = first && reached !== undefined ? scalesFrom(first(reached)) : [];
  for (const scale of [...around, ...others]) {
    if (meetsTarget(best, target) || !inTime()) break;
    await searchQuality((quality) => tryQuality(scale(quality)), target, inTime);
  }
  if (meetsTarget(best, target)) return undefined;
  throw new EngineError(
    `No quality results in a size between ${megabytes(target * closeEnough)} and ${megabytes(target)} MB: the nearest smaller size is ${megabytes(best)} MB, the smallest possible ${megabytes(minSize)} MB. Request one of them.`,
  );
}

const between = (from: number, to: number, quality: number) => from * (to / from) ** quality;

/** Settings by quality from 0, the smallest file, to 1, the largest. The best-looking come first, the others fill gaps. */
const scales: ((quality: number) => PictureSettings)[] = [
  (quality) => ({
    dpi: between(smallest.dpi, finest.dpi, quality),
    factor: between(smallest.factor, finest.factor, quality),
    packing: 'half-colour',
  }),
  (quality) => ({ ...finest, factor: between(smallest.factor, finest.factor, quality), packing: 'full-colour' }),
  (quality) => ({ ...finest, factor: between(smallest.factor, finest.factor, quality) }),
  (quality) => ({ ...finest, dpi: between(smallest.dpi, finest.dpi, quality) }),
  (quality) => ({ ...finest, dpi: between(smallest.dpi, finest.dpi, quality), packing: 'lossless' }),
];

/** Returns scales that each improve one property of settings that are just small enough. */
function scalesFrom(from: PictureSettings): ((quality: number) => PictureSettings)[] {
  return [
    (quality) => ({ ...from, factor: between(from.factor, finest.factor, quality) }),
    (quality) => ({ ...from, packing: 'full-colour', factor: between(smallest.factor, finest.factor, quality) }),
    (quality) => ({ ...from, dpi: between(from.dpi, finest.dpi, quality) }),
  ];
}

function megabytes(bytes: number): string {
  return (bytes / 1_000_000).toFixed(bytes < 1_000_000 ? 3 : 2);
}
