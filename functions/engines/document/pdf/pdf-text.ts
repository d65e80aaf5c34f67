import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EngineError } from '../../runtime/engine.ts';
import { type Pdf, runTool, type Workspace } from '../../runtime/pdf-file.ts';
import { decodeXml } from '../xml-text.ts';
import { type Block, type Line, type Page, pagesOfLayout, readPage, rowsOf } from './pdf-flow.ts';

/** Extracts the text of a PDF in reading order with the rows of tables kept, or with the layout of the page. */
export async function writeText(pdf: Pdf, output: string, keepLayout: boolean, space: Workspace): Promise<void> {
  const extract = async (args: string[], path: string): Promise<string> => {
    await runTool('pdftotext', ['-enc', 'UTF-8', ...args, pdf.path, path], space);
    return readFile(path, 'utf8');
  };
  const plain = await extract(keepLayout ? ['-nopgbrk', '-layout'] : [], output);
  const pages = keepLayout ? [plain] : plain.split('\f').slice(0, -1);
  const first = keepLayout ? -1 : pages.findIndex(mayHaveTable);
  if (first >= 0) {
    const end = pages.findLastIndex(mayHaveTable) + 1;
    const range = ['-f', String(first + 1), '-l', String(end)];
    const layout = await extract(['-bbox-layout', ...range], join(space.folder, 'layout.xml'));
    pages.splice(first, end - first, ...withTables(pages.slice(first, end), pagesOfLayout(layout)));
  }
  const text = pages.join('');
  if (text.trim() === '')
    throw new EngineError('The PDF contains no text, only images. Text recognition (OCR) is not available.');
  await writeFile(output, text);
}

/** Cells of a row to compare with the next row. Includes lines that continue a cell. */
type Row = Line[][];

/** Returns whether the text of a page has enough consecutive short lines for the columns of a table. */
function mayHaveTable(text: string): boolean {
  const lines = text.split('\n').filter((line) => line !== '');
  const isShort = (line: string | undefined) => line !== undefined && /^\S+(?: \S+){0,2}$/.test(line);
  return lines.filter((line, index) => isShort(line) && isShort(lines[index - 1])).length >= 3;
}

/**
 * Replaces the text of pages with tables, which reading order splits into columns: each row becomes a line, with tabs between
 * cells. Other pages keep their text.
 */
function withTables(pages: string[], layout: string[]): string[] {
  return pages.map((text, index) => {
    const page = readPage(layout[index] ?? '', { spans: [], pictures: [] });
    return textWithTables(page) ?? text;
  });
}

function textWithTables(page: Page): string | undefined {
  const tables = tablesOf(page);
  if (tables.length === 0) return undefined;
  const tableOf = new Map(tables.flatMap((rows) => rows.flat(2).map((line) => [line, rows] as const)));
  const written = new Set<Row[]>();
  const parts: string[] = [];
  for (const { lines } of page.blocks) {
    const rest: string[] = [];
    const flush = () => parts.push(...(rest.length > 0 ? [rest.splice(0).join('\n')] : []));
    for (const line of lines) {
      const rows = tableOf.get(line);
      if (!rows) rest.push(lineText(line));
      else if (!written.has(rows)) {
        flush();
        written.add(rows);
        parts.push(rows.map((row) => row.map((cell) => cell.map(lineText).join(' ')).join('\t')).join('\n'));
      }
    }
    flush();
  }
  return `${parts.join('\n\n')}\n\n`;
}

function lineText({ words }: Line): string {
  return words.map(({ text }) => decodeXml(text)).join(' ');
}

/** Finds consecutive rows of several cells that are not columns of prose. */
function tablesOf({ blocks }: Page): Row[][] {
  const tables: Row[][] = [];
  const columns = proseLines(blocks);
  let run: Row[] = [];
  const close = () => {
    if (isTable(run, columns)) tables.push(run);
    run = [];
  };
  for (const row of rowsOf(blocks.flatMap(({ lines }) => lines))) {
    const last = run.at(-1);
    if (last && topOf([row]) - bottomOf(last) > 3 * heightOf(row[0])) close();
    const [only] = row;
    const cell = row.length === 1 && only ? run.at(-1)?.find((each) => continues(only, each, run)) : undefined;
    if (row.length > 1) run.push(row.map((line) => [line]));
    else if (cell && only) cell.push(only);
    else close();
  }
  close();
  return tables;
}

const heightOf = (line: Line | undefined) => (line ? line.bottom - line.top : 0);
const topOf = (row: Row) => Math.min(...row.flat().map(({ top }) => top));
const bottomOf = (row: Row) => Math.max(...row.flat().map(({ bottom }) => bottom));

/** Returns whether a single line in a row continues a cell above it. */
function continues(line: Line, cell: Line[], run: Row[]): boolean {
  const above = cell.at(-1);
  if (!above || line.top - above.bottom > heightOf(line) / 2) return false;
  const others = run.at(-1)?.filter((each) => each !== cell) ?? [];
  const isApart = others.flat().every(({ left, right }) => line.left >= right || line.right <= left);
  return isApart && Math.abs(line.left - above.left) < heightOf(line) / 2;
}

const number = /^[(+-]?[\p{Sc}]?\s?\d[\d.,\s%]*[\p{Sc}%)]?$/u;

/** Distinguishes a table from columns of prose and from blocks side by side, such as addresses. */
function isTable(run: Row[], columns: Set<Line>): boolean {
  if (run.length < 2) return false;
  const cells = run.flat();
  const prose = cells.filter((cell) => cell.some((line) => columns.has(line)));
  if (prose.length > cells.length / 3) return false;
  const widest = Math.max(...run.map((row) => row.length));
  if (widest > 2) return run.filter((row) => row.length > 2).length >= 2;
  const numeric = run.filter((row) => row.some((cell) => number.test(cell.map(lineText).join(' '))));
  return numeric.length >= run.length / 2;
}

/** Returns the lines of blocks of prose: most of their lines with several words reach the right edge. */
function proseLines(blocks: Block[]): Set<Line> {
  const prose = blocks.filter(({ lines, left, right }) => {
    const words = lines.reduce((sum, line) => sum + line.words.length, 0);
    const full = lines.filter((line) => line.right - left > (right - left) * 0.8);
    return lines.length >= 3 && words / lines.length >= 3 && full.length >= lines.length * 0.6;
  });
  return new Set(prose.flatMap(({ lines }) => lines));
}
