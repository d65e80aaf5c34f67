import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { OptionValues } from '../../../../shared/catalogue/options.ts';
import { withExtension } from '../../../../shared/files/names.ts';
import { EngineError } from '../../runtime/engine.ts';
import { checkPdf, limitByPages, openPdf, runTool } from '../../runtime/pdf-file.ts';
import { checkPictures } from '../../runtime/pdf-pictures.ts';
import { searchQuality } from '../../runtime/size-search.ts';
import type { Job, Operation } from '../job.ts';
import { PdfObjects } from '../objects.ts';
import { withoutCompression } from '../plain.ts';
import { removeSignatures } from '../signatures.ts';
import { looksLike } from './compare.ts';
import { dropDuplicates } from './duplicates.ts';
import { applySubsets, findSubsets, type Subsets } from './fonts.ts';
import { type PictureQuality, Pictures } from './pictures.ts';

const searchMs = 240_000;

/** Makes a PDF smaller and keeps all that it has: only pictures lose quality, and no more than requested. */
export const optimize: Operation = async (job) => {
  const {
    input,
    work: { options },
  } = job;
  const pdf = await openPdf(input.path, options, job);
  await checkPictures(pdf.path);
  await limitByPages(pdf, job);
  const warnings = pdf.path === input.path ? [] : ['The output is not password-protected.'];
  const plain = await withoutCompression(pdf, job);
  const read = await PdfObjects.read(plain, job, { withData: 'files' });
  const signed = removeSignatures(read.fresh());
  if (signed.length > 0 && options.signatures !== 'remove')
    throw new EngineError('The PDF is signed, and no signature survives a change. Set signatures to remove.');
  warnings.push(...signed);
  const pictures = new Pictures(read, job);
  job.progress(20);

  let attempts = 0;
  let subsets: Subsets | undefined;
  const write = async (quality: PictureQuality | undefined): Promise<{ path: string; size: number }> => {
    await limitByPages(pdf, job);
    const objects = read.fresh();
    removeSignatures(objects);
    if (quality) await pictures.compress(objects, quality);
    dropWaste(objects, options);
    dropDuplicates(objects);
    subsets ??= findSubsets(objects, job);
    applySubsets(subsets, objects);
    const path = join(job.folder, `optimized-${attempts++}.pdf`);
    await objects.write(`${path}.loose`, job);
    await pack(`${path}.loose`, path, options, job);
    job.progress(20 + 60 * (1 - 0.85 ** attempts));
    return { path, size: (await stat(path)).size };
  };
  let lossless = await write(undefined);
  const hasSubsets = subsets?.programs.size !== 0;
  const isSame = hasSubsets && (await looksLike(pdf, lossless.path, 0, job));
  if (hasSubsets && !isSame) {
    subsets = { programs: new Map(), names: new Map() };
    lossless = await write(undefined);
  }
  const best = await chooseBest(lossless, write, input.size, options);
  const isGood = best === lossless || (await looksLike(pdf, best.path, 6, job));
  if (!isGood) warnings.push('The pictures were not compressed, because the pages would have looked different.');
  const chosen = isGood ? best : lossless;
  if (chosen.size >= input.size || !(isSame || (await looksLike(pdf, lossless.path, 2, job))))
    return unchanged(job, pdf.path, warnings);
  await checkPdf(chosen.path, job.folder, job, pdf.pages);
  return {
    outputs: [{ path: chosen.path, name: withExtension(input.name, 'pdf'), format: 'pdf' }],
    details: { size_before: input.size, size_after: chosen.size },
    warnings,
  };
};

function unchanged(job: Job, path: string, warnings: string[]) {
  return {
    outputs: [{ path, name: withExtension(job.input.name, 'pdf'), format: 'pdf' }],
    details: { size_before: job.input.size, size_after: job.input.size },
    warnings: [...warnings, 'The file could not be made smaller, so it is returned unchanged.'],
  };
}

interface Written {
  path: string;
  size: number;
}

/** Returns the file with the requested quality, or with the best quality that meets the requested size. */
async function chooseBest(
  lossless: Written,
  write: (quality: PictureQuality) => Promise<Written>,
  size: number,
  options: OptionValues,
): Promise<Written> {
  const method = options.compress_pdf ?? 'by_quality';
  if (method === 'lossless') return lossless;
  if (method === 'by_quality') {
    const made = await write({ dpi: Number(options.image_dpi ?? 150), quality: Number(options.image_quality ?? 75) });
    return made.size < lossless.size ? made : lossless;
  }
  const target =
    method === 'by_size'
      ? Number(options.pdf_compress_max_filesize) * 1_000_000
      : (size * Number(options.pdf_compress_percentage)) / 100;
  if (lossless.size <= target) return lossless;
  const made: Written[] = [];
  const sizeOf = async (share: number) => {
    const written = await write({ dpi: 30 * 20 ** share, quality: Math.round(20 + 75 * share), isFast: true });
    made.push(written);
    return written.size;
  };
  const deadline = Date.now() + searchMs;
  await searchQuality(sizeOf, target, () => Date.now() < deadline && made.length < 9);
  const [best] = made.filter((each) => each.size <= target).toSorted((one, other) => other.size - one.size);
  if (best) return best;
  const smallest = Math.min(...made.map((each) => each.size));
  const megabytes = (bytes: number) => (bytes / 1_000_000).toFixed(bytes < 1_000_000 ? 3 : 2);
  throw new EngineError(
    `The file cannot be optimized to ${megabytes(target)} MB: the smallest possible size is ${megabytes(smallest)} MB. The operation compress may make it smaller.`,
  );
}

/** Removes previews and private data of applications, and metadata if requested. */
function dropWaste(objects: PdfObjects, { remove_metadata }: OptionValues): void {
  const keys = ['/Thumb', '/PieceInfo', ...(remove_metadata === true ? ['/Metadata'] : [])];
  for (const reference of objects.reachable()) {
    const dict = objects.dict(reference);
    const found = keys.filter((key) => dict?.[key] !== undefined);
    if (found.length > 0) objects.update(reference, Object.fromEntries(found.map((key) => [key, undefined])));
  }
  const info = objects.trailer['/Info'];
  if (remove_metadata === true)
    objects.update(info, Object.fromEntries(Object.keys(objects.dict(info) ?? {}).map((key) => [key, undefined])));
}

async function pack(path: string, output: string, { linearize }: OptionValues, job: Job): Promise<void> {
  const args = ['--object-streams=generate', '--stream-data=compress', '--decode-level=generalized'];
  args.push('--recompress-flate', '--compression-level=9', '--warning-exit-0');
  if (linearize !== false) args.push('--linearize');
  await runTool('qpdf', [path, ...args, output], job);
}
