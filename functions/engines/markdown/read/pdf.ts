import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { EngineError } from '../../runtime/engine.ts';
import { pagesOf } from '../../runtime/pages.ts';
import { openPdf, runTool, selectPages } from '../../runtime/pdf-file.ts';
import { checkPictures } from '../../runtime/pdf-pictures.ts';
import { withoutFurniture } from '../layout/furniture.ts';
import { blocksOfPage, type PlacedPicture, typographyOf } from '../layout/page.ts';
import { readRulings } from '../layout/rulings.ts';
import { type PageText, parsePages, parseWords, splitAtGaps } from '../layout/spans.ts';
import { type Block, type Cell, plainText, type Table } from '../model.ts';
import { Pictures } from '../ooxml.ts';
import type { Reading, ReadJob } from './job.ts';

const maxXmlBytes = 200_000_000;
const maxPictures = 500;
/** Smaller images are lines or dots of the layout. */
const minPicture = 12;

/** Reads the text of a PDF with its structure, which is found from how it looks. */
export async function readPdf(job: ReadJob): Promise<Reading> {
  const { options } = job.work;
  const whole = await openPdf(job.input.path, options, job);
  await checkPictures(whole.path);
  const numbers = pagesOf(options.page_range, whole.pages);
  const pdf = await selectPages(whole, numbers, job);
  const given = await readPages(pdf.path, job);
  job.progress(30);
  const scanned = given.filter((page) => isScanned(page));
  if (scanned.length > 0) {
    const { recognisePage } = await import('./ocr.ts');
    for (const page of scanned) {
      const place = given.indexOf(page);
      given[place] = await recognisePage(pdf.path, page, place + 1, job);
      job.progress(30 * ((place + 1) / given.length));
    }
  }
  const pages = withoutFurniture(given);
  const typography = typographyOf(pages);
  const pictures = new Pictures();
  const blocks: Block[] = [];
  let index = 0;
  for await (const rulings of readRulings(pdf, given, job)) {
    const page = pages[index];
    const number = numbers[index] ?? index + 1;
    index += 1;
    if (!page) break;
    blocks.push({ kind: 'marker', unit: 'page', number });
    blocks.push(
      ...blocksOfPage(
        { ...page, number },
        rulings,
        typography,
        options.images === 'none' ? [] : await picturesOf(page, pictures),
      ),
    );
    job.progress(30 + (60 * index) / pages.length);
  }
  const content = {
    blocks: joinedAcrossPages(blocks),
    notes: new Map(),
    pictures: pictures.list,
    pages: pages.map(({ width, height }, place) => ({
      page: numbers[place] ?? place + 1,
      width: Math.round(width * 10) / 10,
      height: Math.round(height * 10) / 10,
    })),
  };
  return { content, warnings: [] };
}

function tooMuchText(): EngineError {
  return new EngineError('The PDF contains too much text. Split it.');
}

async function readPages(path: string, job: ReadJob): Promise<PageText[]> {
  const output = join(job.folder, 'text');
  const args = ['-xml', '-noroundcoord', '-fontfullname', '-hidden', '-nodrm', '-q', '-enc', 'UTF-8'];
  await runTool('pdftohtml', [...args, path, output], job);
  if ((await stat(`${output}.xml`)).size > maxXmlBytes) throw tooMuchText();
  const layout = join(job.folder, 'words.xml');
  await runTool('pdftotext', ['-bbox', '-enc', 'UTF-8', path, layout], job);
  if ((await stat(layout)).size > maxXmlBytes) throw tooMuchText();
  const words = parseWords(await readFile(layout, 'utf8'));
  return parsePages(await readFile(`${output}.xml`, 'utf8'), job.folder).map((page, index) => ({
    ...page,
    spans: splitAtGaps(page.spans, words[index] ?? []),
  }));
}

/** Returns whether a page is a picture of one, without a text layer. */
function isScanned({ spans, pictures, width, height }: PageText): boolean {
  const letters = spans.reduce((sum, { text }) => sum + text.trim().length, 0);
  const area = pictures.reduce((sum, { left, top, right, bottom }) => sum + (right - left) * (bottom - top), 0);
  return letters < 20 && area > 0.4 * width * height;
}

async function picturesOf(page: PageText, pictures: Pictures): Promise<PlacedPicture[]> {
  const placed: PlacedPicture[] = [];
  const { width, height } = page;
  for (const { file, ...area } of page.pictures) {
    const [wide, high] = [area.right - area.left, area.bottom - area.top];
    const isBackground = wide * high > 0.85 * width * height && page.spans.length > 0;
    if (wide < minPicture || high < minPicture || isBackground || pictures.list.length >= maxPictures) continue;
    const picture = pictures.add(await readFile(file).catch(() => undefined));
    if (picture !== undefined) placed.push({ ...area, picture });
  }
  return placed;
}

/** Joins a paragraph or a table that goes on on the next page, or in the next column: the markers of pages follow it. */
export function joinedAcrossPages(blocks: Block[]): Block[] {
  const result: Block[] = [];
  for (const block of blocks) {
    const last = result.findLastIndex(({ kind }) => kind !== 'marker');
    const before = result[last];
    const isOnNext = last < result.length - 1;
    if (isOnNext && block.kind === 'paragraph' && before?.kind === 'paragraph' && goesOn(before, block))
      result[last] = { ...before, content: [...withoutHyphen(before.content), ...block.content] };
    else if (block.kind === 'table' && before?.kind === 'table' && isSameTable(before, block, isOnNext))
      result[last] = { ...before, rows: [...before.rows, ...block.rows.slice(repeatedRows(before.rows, block.rows))] };
    else result.push(block);
  }
  return result;
}

type TableBlock = Block & Table;

/** Returns whether the second of two tables goes on with the first, at the top of a page or of a column. */
function isSameTable(before: TableBlock, after: TableBlock, isOnNext: boolean): boolean {
  const columnsOf = ({ rows }: Table) => rows[0]?.reduce((sum, { columns }) => sum + columns, 0);
  if (!before.box || !after.box || columnsOf(before) !== columnsOf(after)) return false;
  const [[left, top, right], [otherLeft, otherTop, otherRight]] = [before.box, after.box];
  if (isOnNext ? otherLeft > left + 9 : otherTop >= top || otherLeft <= right) return false;
  return repeatedRows(before.rows, after.rows) > 0 || Math.abs(right - left - otherRight + otherLeft) < 25;
}

/** Returns the number of rows at the top that are those of another table, or have lost their text as what repeats on all pages. */
function repeatedRows(before: Cell[][], rows: Cell[][]): number {
  const textOf = (row: Cell[] = []) => row.flatMap(({ blocks }) => blocks.map(plainTextOf)).join('\n');
  let count = 0;
  while (count < 3 && rows[count] && textOf(rows[count]) === textOf(before[count])) count += 1;
  while (count < 3 && rows[count]?.every(({ blocks }) => blocks.length === 0)) count += 1;
  return count;
}

function plainTextOf(block: Block): string {
  return block.kind === 'paragraph' ? plainText(block.content) : '';
}

type Paragraph = Block & { kind: 'paragraph' };

function goesOn(before: Paragraph, after: Paragraph): boolean {
  const [last, first] = [before.content.at(-1), after.content[0]];
  return (
    last?.kind === 'text' && first?.kind === 'text' && /[\p{L},-]$/u.test(last.text) && /^\p{Ll}/u.test(first.text)
  );
}

function withoutHyphen(content: Paragraph['content']): Paragraph['content'] {
  const last = content.at(-1);
  if (last?.kind !== 'text') return content;
  const isDivided = /\p{L}[-‐]$/u.test(last.text);
  return [...content.slice(0, -1), { ...last, text: isDivided ? last.text.slice(0, -1) : `${last.text} ` }];
}
