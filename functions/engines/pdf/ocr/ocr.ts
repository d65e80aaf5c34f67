import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { mapAtOnce } from '../../../../shared/concurrency.ts';
import { withExtension } from '../../../../shared/files/names.ts';
import { EngineError, type InputFile, type OutputFile } from '../../runtime/engine.ts';
import { justifiedSeconds } from '../../runtime/justified-time.ts';
import { checkPdf, type Pdf, runTool } from '../../runtime/pdf-file.ts';
import {
  chosenLanguages,
  findData,
  findOrientation,
  languagesOf,
  maxRecognitions,
  secondsPerPage,
} from '../../runtime/tesseract.ts';
import type { Job, Operation } from '../job.ts';
import { displayedPage } from '../marks/geometry.ts';
import { PdfObjects } from '../objects.ts';
import { pagesOfList } from '../pages/ranges.ts';
import { openInput, readPages } from '../pages/select.ts';
import { removeSignatures } from '../signatures.ts';
import { removeHiddenText } from './hidden-text.ts';
import { inspectPages, type PageContent } from './inspect.ts';
import { InvisibleFont } from './invisible-font.ts';
import {
  applyPage,
  becomesPicture,
  confidencesOf,
  layPage,
  type ReadPage,
  readPage,
  type ScannedDocument,
} from './page.ts';
import { renderPage, resolutionOf } from './render.ts';
import { plainText } from './text-layer.ts';

/** A page that a scan fills and that has less visible text than this is a scan with a stamp or a page number. */
const maxStampCharacters = 300;
/** Estimated for a page of text on an engine. */
const usualSecondsPerPage = 4;
/** Pages that are tried for the script of a document. */
const triedPages = 3;

/** What a run, or a part of it, has read. */
interface ReadPages {
  pages: ReadPage[];
  languages: string[];
}

/** Adds the text of scanned pages as an invisible layer. */
export const ocr: Operation = async (job) => {
  const { options, outputFormat, part } = job.work;
  const data = await findData(job);
  const chosen = chosenLanguages(options.languages, data.languages);
  const { pdf, warnings } = await openDocument(job);
  const all = await readPages(pdf, pagesOfList(undefined, pdf.pages), job);
  const removed = removeSignatures(all);
  if (removed.length > 0 && options.invalidate_digital_signatures !== true)
    throw new EngineError(
      'The PDF is signed, and its signatures would be removed. Set the option invalidate_digital_signatures to process it.',
    );
  warnings.push(...removed);
  const { objects, contents, stripped } = await prepare(all, pdf.pages, job);
  const chosenPages = [...contents.entries()].filter(
    ([index, content]) =>
      stripped.has(index) ||
      needsText(content, displayedPage(objects.pages[index] ?? '', objects), options.existing_text),
  );
  const seconds = chosenPages.length * usualSecondsPerPage;
  job.limitProcessorTime(
    justifiedSeconds({ bytes: job.input.size, pages: pdf.pages }) + secondsPerPage * chosenPages.length,
  );
  job.progress(5);
  if (part?.kind === 'survey' && seconds > (part.wholeWithin ?? 0) && !becomesPicture(options)) {
    const survey = { seconds, start: 0, end: 0, sound: false, pages: chosenPages.length };
    return { outputs: [], details: { survey } };
  }
  const document: ScannedDocument = {
    objects,
    font: new InvisibleFont(),
    installed: data.languages,
    languages:
      part?.kind === 'join'
        ? []
        : (chosen ?? (await findLanguages(chosenPages.slice(0, triedPages), objects, data.languages, job))),
  };
  const read = async (pages: typeof chosenPages): Promise<ReadPages> => {
    let done = 0;
    const texts = await mapAtOnce(pages, maxRecognitions, async ([index, content]) => {
      const page = await readPage(index, content, document, job);
      job.progress(5 + (85 * ++done) / pages.length);
      return page;
    });
    return { pages: texts, languages: document.languages };
  };
  if (part?.kind === 'texts') {
    const path = join(job.folder, 'texts.json');
    await writeFile(path, JSON.stringify(await read(chosenPages.slice(part.from, part.to))));
    return { outputs: [{ path, name: withExtension(job.input.name, 'json'), format: 'json' }] };
  }
  const { pages: results, languages } =
    part?.kind === 'join' ? await joinedTexts(job.work.inputs.slice(1), objects.pages.length) : await read(chosenPages);
  const layers = results.map((page) => layPage(page, document));
  const resources = document.font.addTo(objects, await readFile(join(data.folder, 'pdf.ttf')));
  for (const [index, page] of results.entries()) applyPage(page, layers[index] ?? '', resources, objects);
  const path = join(job.folder, 'recognised.pdf');
  await objects.write(path, job);
  await checkPdf(path, job.folder, job, pdf.pages);
  return {
    outputs: [await outputOf(path, results, outputFormat, job)],
    warnings,
    details: {
      pages: pdf.pages,
      recognised_pages: results.length,
      languages,
      ...confidenceOf(results),
    },
  };
};

/** Opens the PDF, or makes one of a picture. */
async function openDocument(job: Job): Promise<{ pdf: Pdf; warnings: string[] }> {
  if (job.input.format === 'pdf') return openInput(job);
  const { writePdf } = await import('../../image/encoders/pdf.ts');
  const path = join(job.folder, 'pictures.pdf');
  const context = { ...job, progress: () => {} };
  const warnings = await writePdf(path, [job.input], { ...job.work, folder: job.folder, options: {} }, context);
  return { pdf: await checkPdf(path, job.folder, job), warnings };
}

/** Inspects the pages. Removes their invisible text before, if it is done anew. */
async function prepare(objects: PdfObjects, pages: number, job: Job) {
  const contents = await inspectPages({ path: objects.path, pages }, job);
  const hidden = [...contents.entries()].filter(([, page]) => hasHiddenText(page)).map(([index]) => index);
  if (job.work.options.existing_text !== 'redo' || hidden.length === 0)
    return { objects, contents, stripped: new Set<number>() };
  await removeHiddenText(
    hidden.flatMap((index) => objects.pages[index] ?? []),
    objects,
    job,
  );
  const path = join(job.folder, 'stripped.pdf');
  await objects.write(path, job);
  const again = await PdfObjects.read(path, job);
  return { objects: again, contents: await inspectPages({ path, pages }, job), stripped: new Set(hidden) };
}

/** The two programs count a few characters differently. */
function hasHiddenText({ characters, visibleCharacters }: PageContent): boolean {
  return characters > visibleCharacters * 1.1 + 5;
}

function needsText(page: PageContent, size: { width: number; height: number }, existing: unknown): boolean {
  if (existing === 'keep' || existing === 'force') return true;
  if (page.characters === 0) return true;
  const squareInches = (size.width * size.height) / 72 ** 2;
  const isFilled = page.pictures.some((picture) => picture.squareInches > squareInches / 2);
  return isFilled && !hasHiddenText(page) && page.visibleCharacters < maxStampCharacters;
}

/** Returns the languages to expect: those of the script of the first pages. */
async function findLanguages(
  pages: [number, PageContent][],
  objects: PdfObjects,
  installed: string[],
  job: Job,
): Promise<string[]> {
  for (const [index, content] of pages) {
    const { dpi, textDpi } = resolutionOf(content, displayedPage(objects.pages[index] ?? '', objects));
    const picture = await renderPage(objects.path, index + 1, { dpi, grey: true }, job);
    const found = await findOrientation(picture, textDpi, job);
    if (found) return languagesOf(found, installed);
  }
  return languagesOf(undefined, installed);
}

/** Reads what the parts of a split run have read. */
async function joinedTexts(parts: InputFile[], pageCount: number): Promise<ReadPages> {
  const read: ReadPages[] = await Promise.all(parts.map(async ({ path }) => JSON.parse(await readFile(path, 'utf8'))));
  const pages = read.flatMap((part) => part.pages);
  if (new Set(pages.map(({ index }) => index)).size !== pages.length || pages.some(({ index }) => index >= pageCount))
    throw new Error('The parts have other pages than the document.');
  return { pages, languages: [...new Set(read.flatMap(({ languages }) => languages))] };
}

function confidenceOf(pages: ReadPage[]): { confidence?: number } {
  const confidences = pages.flatMap(({ text }) => confidencesOf(text));
  if (confidences.length === 0) return {};
  return { confidence: Math.round(confidences.reduce((sum, value) => sum + value, 0) / confidences.length) };
}

async function outputOf(path: string, read: ReadPage[], format: string, job: Job): Promise<OutputFile> {
  const name = withExtension(job.input.name, format);
  if (format !== 'txt') return { path, name, format };
  const text = join(job.folder, 'recognised.txt');
  await runTool('pdftotext', ['-q', '-enc', 'UTF-8', path, text], job);
  const pages = (await readFile(text, 'utf8')).split('\f');
  // Poppler guesses the order of columns, which is known of pages that had no text.
  for (const page of read) if (page.existing.length === 0) pages[page.index] = plainText(page.text);
  await writeFile(text, pages.join('\f'));
  return { path: text, name, format };
}
