import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { safeName, stemOf, uniqueNames } from '../../../../shared/files/names.ts';
import { EngineError } from '../../runtime/engine.ts';
import { checkFileCount, Outputs } from '../../runtime/outputs.ts';
import { pageSuffix } from '../../runtime/pages.ts';
import { checkPdf, type Pdf } from '../../runtime/pdf-file.ts';
import type { Job, Operation } from '../job.ts';
import { isReference, type PdfDict, type PdfObjects, textOf } from '../objects.ts';
import { maxNodes } from '../signatures.ts';
import { keepPages } from './keep-pages.ts';
import { pagesOfList, pagesOfRanges } from './ranges.ts';
import { openInput, readPages } from './select.ts';
import { Targets } from './targets.ts';

interface Part {
  pages: number[];
  /** The bookmark that it starts at. */
  title?: string;
  written?: Written;
}

interface Written {
  path: string;
  warnings: string[];
}

type Write = (pages: number[]) => Promise<Written>;

/** Splits a PDF into several. */
export const split: Operation = async (job) => {
  const { options } = job.work;
  const { pdf, warnings } = await openInput(job);
  const objects = await readPages(pdf, pagesOfList(undefined, pdf.pages), job);
  const write = writerOf(objects, job);
  const parts = options.mode === 'size' ? await partsOfSize(objects, write, job, warnings) : partsOf(objects, pdf, job);
  checkFileCount(parts.length, 'Choose larger parts.');
  const names = namesOf(parts, pdf, job);
  const outputs = new Outputs(job.work);
  const lost = new Set<string>();
  for (const [index, { pages, written }] of parts.entries()) {
    const { path, warnings: own } = written ?? (await write(pages));
    for (const warning of own) lost.add(warning);
    await outputs.add({ path, name: names[index] ?? '', format: 'pdf' });
    job.progress((100 * (index + 1)) / parts.length);
  }
  return { outputs: outputs.files, warnings: [...warnings, ...lost] };
};

/** Returns a function that writes pages to a new file. */
function writerOf(objects: PdfObjects, job: Job): Write {
  let number = 0;
  return async (pages) => {
    const part = objects.fresh();
    const kept = pages.flatMap((page) => part.pages[page - 1] ?? []);
    const warnings = keepPages(part, kept, { isPart: true });
    const path = join(job.folder, `part-${++number}.pdf`);
    await part.write(path, job);
    await checkPdf(path, job.folder, job, pages.length);
    return { path, warnings };
  };
}

function partsOf(objects: PdfObjects, { pages: count }: Pdf, { work: { options } }: Job): Part[] {
  switch (options.mode) {
    case 'ranges':
      if (!options.ranges) throw new EngineError('Set the option ranges to the pages of each part, such as 1-3,7,-1.');
      return pagesOfRanges(String(options.ranges), count, 'ranges')
        .filter((pages) => pages.length > 0)
        .map((pages) => ({ pages }));
    case 'bookmarks':
      return partsOfBookmarks(objects, count);
    default: {
      const step = Number(options.pages_per_file ?? 1);
      return Array.from({ length: Math.ceil(count / step) }, (_, index) => ({
        pages: pagesBetween(index * step + 1, Math.min((index + 1) * step, count)),
      }));
    }
  }
}

/** Starts a part at each page with a bookmark of the first level. Pages before the first are a part of their own. */
function partsOfBookmarks(objects: PdfObjects, count: number): Part[] {
  const starts = new Map<number, string | undefined>();
  const targets = new Targets(objects, objects.pages);
  const seen = new Set<string>();
  let item = objects.dict(objects.catalog['/Outlines'])?.['/First'];
  while (isReference(item) && !seen.has(item) && seen.size < maxNodes) {
    seen.add(item);
    const bookmark: PdfDict = objects.dict(item) ?? {};
    const target = targets.pageOf(bookmark['/Dest'] ?? bookmark['/A']);
    const page = isReference(target) ? objects.pages.indexOf(target) + 1 : 0;
    if (page > 0 && !starts.has(page)) starts.set(page, textOf(objects.lookup(bookmark['/Title'])));
    item = bookmark['/Next'];
  }
  if (starts.size === 0) throw new EngineError('The PDF has no bookmarks that lead to a page. Choose another mode.');
  if (!starts.has(1)) starts.set(1, undefined);
  const sorted = [...starts].toSorted(([left], [right]) => left - right);
  return sorted.map(([first, title], index) => {
    const last = (sorted[index + 1]?.[0] ?? count + 1) - 1;
    return { pages: pagesBetween(first, last), ...(title ? { title } : {}) };
  });
}

/** Bytes of what each file has in addition to its pages, until one has been written. */
const usualOverhead = 1_500;

/** Takes as many pages for each part as fit into the maximum size. Estimates by the sizes of objects before it writes. */
async function partsOfSize(objects: PdfObjects, write: Write, job: Job, warnings: string[]): Promise<Part[]> {
  const max = Number(job.work.options.max_size);
  if (!max) throw new EngineError('Set the option max_size to the maximum size of each file in bytes.');
  const pages = objects.pages.map((page) => objectsOf(page, objects));
  const parts: Part[] = [];
  let overhead = usualOverhead;
  for (let start = 0; start < pages.length; ) {
    checkFileCount(parts.length + 1, 'Choose a larger max_size.');
    let count = countThatFits(pages, start, max - overhead);
    for (;;) {
      const numbers = pagesBetween(start + 1, start + count);
      const written = await write(numbers);
      const { size } = await stat(written.path);
      overhead = size - sizeOf(pages, start, count);
      if (size <= max || count === 1) {
        if (size > max) warnings.push(`Page ${start + 1} alone takes ${size} bytes, which is more than max_size.`);
        parts.push({ pages: numbers, written });
        break;
      }
      await rm(written.path);
      count = Math.min(count - 1, countThatFits(pages, start, max - overhead));
    }
    start += count;
    job.progress((90 * start) / pages.length);
  }
  return parts;
}

/** Returns the sizes of the objects that a page refers to, without those of other pages. */
function objectsOf(page: string, pdf: PdfObjects): Map<string, number> {
  const others = new Set(pdf.pages);
  const sizes = new Map<string, number>();
  const pending = [page];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (sizes.has(next) || (next !== page && others.has(next))) continue;
    sizes.set(next, pdf.sizeOf(next));
    // The tree of pages leads to all of them.
    const { '/Parent': tree } = pdf.dict(page) ?? {};
    for (const reference of pdf.referencesIn(next)) if (reference !== tree) pending.push(reference);
  }
  return sizes;
}

/** Returns how many pages fit into a size: at least one. */
function countThatFits(pages: Map<string, number>[], start: number, max: number): number {
  const known = new Set<string>();
  let size = 0;
  for (let index = start; index < pages.length; index++) {
    for (const [reference, bytes] of pages[index] ?? []) {
      if (known.has(reference)) continue;
      known.add(reference);
      size += bytes;
    }
    if (size > max) return Math.max(1, index - start);
  }
  return pages.length - start;
}

function sizeOf(pages: Map<string, number>[], start: number, count: number): number {
  const all = new Map(pages.slice(start, start + count).flatMap((objects) => [...objects]));
  return [...all.values()].reduce((sum, size) => sum + size, 0);
}

function pagesBetween(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

/** Returns the names of the parts by the option filename. */
function namesOf(parts: Part[], { pages: count }: Pdf, { work: { options }, input }: Job): string[] {
  const usual = options.mode === 'bookmarks' ? '{n}-{title}' : '{name}-{n}';
  const pattern = String(options.name_pattern ?? usual).replace(/\.pdf$/i, '');
  const name = stemOf(input.name);
  const names = parts.map(({ pages, title = name }, index) => {
    const values: Record<string, string> = {
      name,
      n: pageSuffix(index + 1, parts.length),
      first: pageSuffix(pages[0] ?? 1, count),
      last: pageSuffix(pages.at(-1) ?? 1, count),
      title,
    };
    // A slash in a title does not start a folder.
    const text = pattern.replace(/\{(\w+)\}/g, (given, key) => (values[key] ?? given).replace(/[/\\]/g, '_'));
    return safeName(`${safeName(text, `part-${values.n}`)}.pdf`);
  });
  return uniqueNames(names);
}
