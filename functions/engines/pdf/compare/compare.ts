import { copyFile, mkdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { defined } from '../../../../shared/defined.ts';
import { withExtension } from '../../../../shared/files/names.ts';
import { EngineError } from '../../runtime/engine.ts';
import { justifiedSeconds } from '../../runtime/justified-time.ts';
import { checkPdf, openPdf, type Pdf, type Programs, runTool } from '../../runtime/pdf-file.ts';
import { checkPictures } from '../../runtime/pdf-pictures.ts';
import type { Job, Operation } from '../job.ts';
import { alignPages, isPicture, type PagePair } from './align.ts';
import { type Document, type PageDifference, summarize } from './differences.ts';
import { compareRasters, renderPage, thumbnail } from './pixels.ts';
import { writeReport } from './report.ts';
import { type Area, areasOf, commonWords, findMoves, type Run, readWords, runsOf, type Word } from './words.ts';

const maxPages = 500;
/** Pages with more pixels are compared at a lower resolution. */
const maxPixels = 6_000_000;

/** Compares a PDF with the original, page by page, by their words and how they are displayed. */
export const compare: Operation = async (job) => {
  const { options, others = [], outputFormat } = job.work;
  const [original, another] = others.filter(({ role }) => role === 'original');
  if (!original || another) throw new EngineError('Expected one file as original.');
  if (original.format !== 'pdf') throw new EngineError(`Expected a PDF as original but received ${original.format}.`);
  const spaces = [join(job.folder, 'before'), join(job.folder, 'after')];
  for (const folder of spaces) await mkdir(folder);
  // Programs are confined to the folder of the job.
  const copy = join(spaces[0] ?? '', 'input');
  await copyFile(original.path, copy);
  const [before, after] = [
    await openDocument(copy, original.name, options.original_password, { ...job, folder: spaces[0] ?? '' }),
    await openDocument(job.input.path, job.input.name, options.password, { ...job, folder: spaces[1] ?? '' }),
  ];
  const sizes = await Promise.all([before, after].map(async ({ pdf }) => (await stat(pdf.path)).size));
  const pages = before.pdf.pages + after.pdf.pages;
  job.limitProcessorTime(
    justifiedSeconds({ bytes: sizes.reduce((sum, size) => sum + size), pages: 2 * pages, pixels: 1_000_000 * pages }),
  );
  const pairs = alignPages(await fingerprints(before, job), await fingerprints(after, job));
  job.progress(20);
  const differences: PageDifference[] = [];
  for (const pair of pairs) {
    differences.push(await comparePair(pair, before, after, job));
    job.progress(20 + (60 * differences.length) / pairs.length);
  }
  markMoves(differences);
  const summary = summarize(differences, before, after);
  const name = withExtension(job.input.name, outputFormat);
  const path = join(job.folder, `comparison.${outputFormat}`);
  if (outputFormat === 'json')
    await writeFile(path, `${JSON.stringify({ ...summary, pages: differences.map(described) }, null, 2)}\n`);
  else {
    const shown = differences.filter(({ status }) => options.pages === 'all' || status !== 'same');
    await writeReport({ before, after, differences, shown }, path, job);
    await checkPdf(path, job.folder, job);
  }
  return { outputs: [{ path, name, format: outputFormat }], details: summary };
};

async function openDocument(path: string, name: string, password: unknown, space: Programs): Promise<Document> {
  const pdf = await openPdf(
    path,
    defined({ password: password === undefined ? undefined : String(password) }),
    space,
  ).catch((error) => {
    if (error instanceof EngineError && /option password/.test(error.message) && space.folder.endsWith('before'))
      throw new EngineError(error.message.replace('option password', 'option original_password'), { cause: error });
    throw error;
  });
  if (pdf.pages > maxPages)
    throw new EngineError(`A document has ${pdf.pages} pages; at most ${maxPages} are compared. Extract some of them.`);
  await checkPictures(pdf.path);
  return { name, pdf, words: await readWords(pdf, space) };
}

async function fingerprints({ pdf, words }: Document, job: Job) {
  const found: { words: string[]; picture?: Uint8Array }[] = [];
  for (const [index, page] of words.entries()) {
    const texts = page.map(({ text }) => text);
    found.push(
      isPicture(page) ? { words: texts, picture: await thumbnail(pdf.path, index + 1, job) } : { words: texts },
    );
  }
  return found;
}

async function comparePair(pair: PagePair, before: Document, after: Document, job: Job): Promise<PageDifference> {
  const [one, other] = pair;
  const none = { pair, changedShare: 1, isResized: false, areas: [] };
  const wordsOf = ({ words }: Document, page: number | undefined) => words[page ?? -1] ?? [];
  const [old, young] = [wordsOf(before, one), wordsOf(after, other)];
  const whole = (words: Word[], page: number) => runsOf(words, [], page);
  if (one === undefined) return { ...none, status: 'inserted', deleted: [], inserted: whole(young, other ?? 0) };
  if (other === undefined) return { ...none, status: 'deleted', deleted: whole(old, one), inserted: [] };
  const kept = commonWords(
    old.map(({ text }) => text),
    young.map(({ text }) => text),
  );
  const dpi = Number(job.work.options.resolution);
  const sizes = [await pageSize(before.pdf, one, job), await pageSize(after.pdf, other, job)];
  const largest = Math.max(...sizes.map(({ width, height }) => width * height));
  const used = Math.min(dpi, 72 * Math.sqrt(maxPixels / largest));
  const scale = ['-r', used.toFixed(3)];
  const [left, right] = [
    await renderPage(before.pdf.path, one + 1, scale, job),
    await renderPage(after.pdf.path, other + 1, scale, job),
  ];
  const { share, areas } = compareRasters(left, right, Number(job.work.options.tolerance));
  const points = (pixels: number) => (pixels * 72) / used;
  const [deleted, inserted] = [runsOf(old, kept.before, one), runsOf(young, kept.after, other)];
  const isResized = Math.abs(left.width - right.width) > 1 || Math.abs(left.height - right.height) > 1;
  const isSame = share === 0 && deleted.length === 0 && inserted.length === 0 && !isResized;
  return {
    pair,
    status: isSame ? 'same' : 'changed',
    changedShare: share,
    isResized,
    areas: areas.map((area) => ({
      left: points(area.left),
      top: points(area.top),
      width: points(area.width),
      height: points(area.height),
    })),
    deleted,
    inserted,
  };
}

/** Returns the size of a page in points. */
async function pageSize({ path }: Pdf, index: number, job: Job): Promise<{ width: number; height: number }> {
  const page = String(index + 1);
  const { stdout } = await runTool('pdfinfo', ['-f', page, '-l', page, path], job);
  const [, width = 612, height = 792] = /^Page\s+\d+ size:\s+([\d.]+) x ([\d.]+) pts/m.exec(stdout) ?? [];
  return { width: Math.max(1, Number(width)), height: Math.max(1, Number(height)) };
}

/** Marks words that were deleted on one page and inserted on another as moved. */
function markMoves(differences: PageDifference[]): void {
  const moved = findMoves(
    differences.flatMap(({ deleted }) => deleted),
    differences.flatMap(({ inserted }) => inserted),
  );
  for (const difference of differences) {
    const [one, other] = difference.pair;
    difference.deleted = moved.deleted.filter(({ page }) => page === one);
    difference.inserted = moved.inserted.filter(({ page }) => page === other);
  }
}

function described({ pair: [one, other], status, changedShare, isResized, areas, deleted, inserted }: PageDifference) {
  return {
    original: one === undefined ? null : one + 1,
    page: other === undefined ? null : other + 1,
    status,
    changed_share: Number(changedShare.toFixed(6)),
    resized: isResized,
    areas: areas.map(rounded),
    deleted: deleted.filter(({ movedTo }) => movedTo === undefined).map(describedRun),
    inserted: inserted.filter(({ movedTo }) => movedTo === undefined).map(describedRun),
    moved_to: deleted.filter(({ movedTo }) => movedTo !== undefined).map(describedRun),
    moved_from: inserted.filter(({ movedTo }) => movedTo !== undefined).map(describedRun),
  };
}

function describedRun({ words, movedTo }: Run) {
  return defined({
    text: words.map(({ text }) => text).join(' '),
    page: movedTo === undefined ? undefined : movedTo + 1,
    areas: areasOf(words).map(rounded),
  });
}

function rounded({ left, top, width, height }: Area): Area {
  const round = (value: number) => Math.round(value * 10) / 10;
  return { left: round(left), top: round(top), width: round(width), height: round(height) };
}
