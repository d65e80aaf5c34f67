import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { EngineError } from '../../runtime/engine.ts';
import { type Pdf, runTool, type Workspace } from '../../runtime/pdf-file.ts';

/** Pixels per point in the output of pdftohtml. */
const zoom = 1.5;
/** Smaller images are lines or dots of the layout. */
const minPicture = 8;
const maxPictures = 500;

interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

interface Style {
  size: number;
  family: string;
  bold: boolean;
  italic: boolean;
  colour: string;
}

interface Word extends Box {
  text: string;
  style: Style;
}

export interface Line extends Box {
  words: Word[];
}

export interface Block extends Box {
  lines: Line[];
}

interface Picture extends Box {
  file: string;
}

export interface Page {
  width: number;
  height: number;
  blocks: Block[];
  pictures: Picture[];
}

type Item = { top: number } & (
  | { kind: 'paragraph'; lines: Line[]; block: Box }
  | { kind: 'table'; rows: Line[][] }
  | { kind: 'picture'; picture: Picture }
);

/**
 * Writes the text of a PDF as a reflowable document: paragraphs, tables and images, as flat OpenDocument.
 * LibreOffice's own PDF import puts every line in a separate frame, which looks right but cannot be edited.
 */
export async function writeFlow(pdf: Pdf, output: string, space: Workspace): Promise<void> {
  const pages = await readPages(pdf, space);
  if (!pages.some(({ blocks }) => blocks.length > 0))
    throw new EngineError('The PDF contains no text, only images. Text recognition (OCR) is not available.');
  await writeFile(output, await compose(pages));
}

async function readPages(pdf: Pdf, space: Workspace): Promise<Page[]> {
  const layout = join(space.folder, 'layout.xml');
  const drawn = join(space.folder, 'drawn');
  await runTool('pdftotext', ['-bbox-layout', '-enc', 'UTF-8', pdf.path, layout], space);
  const args = ['-xml', '-noroundcoord', '-fontfullname', '-hidden', '-nodrm', '-q', '-enc', 'UTF-8', pdf.path, drawn];
  await runTool('pdftohtml', args, space);
  const styles = readStyles(await readFile(`${drawn}.xml`, 'utf8'), space.folder);
  return pagesOfLayout(await readFile(layout, 'utf8')).map((text, index) =>
    readPage(text, styles[index] ?? { spans: [], pictures: [] }),
  );
}

/** Splits the layout output of pdftotext into pages. */
export function pagesOfLayout(layout: string): string[] {
  return layout.split('<page ').slice(1);
}

interface Span extends Box {
  style: Style;
}

function readStyles(text: string, folder: string): { spans: Span[]; pictures: Picture[] }[] {
  // A font is declared on the first page that uses it.
  const fonts = new Map<string, Style>();
  return text
    .split('<page ')
    .slice(1)
    .map((page) => {
      for (const [, id = '', size, family = '', colour = ''] of page.matchAll(
        /<fontspec id="(\d+)" size="([\d.-]+)" family="([^"]*)" color="(#[\da-f]{6})"/g,
      )) {
        const name = family.replace(/^[A-Z]{6}\+/, '');
        fonts.set(id, {
          size: Math.max(4, Number(size) / zoom),
          family: /mono|courier|consol/i.test(name)
            ? 'mono'
            : /serif|times|roman|georgia|garamond|cambria|caladea|book/i.test(name) && !/sans/i.test(name)
              ? 'serif'
              : 'sans',
          bold: /bold|black|heavy/i.test(name),
          italic: /italic|oblique/i.test(name),
          colour,
        });
      }
      const spans = [
        ...page.matchAll(/<text top="([\d.-]+)" left="([\d.-]+)" width="([\d.-]+)" height="([\d.-]+)" font="(\d+)"/g),
      ].flatMap(([, top, left, width, height, font = '']) => {
        const style = fonts.get(font);
        return style ? [{ ...boxOf(left, top, width, height), style }] : [];
      });
      const pictures = [
        ...page.matchAll(/<image top="([\d.-]+)" left="([\d.-]+)" width="([\d.-]+)" height="([\d.-]+)" src="([^"]*)"/g),
      ].flatMap(([, top, left, width, height, src = '']) => {
        const file = resolve(folder, src);
        return file.startsWith(folder) ? [{ ...boxOf(left, top, width, height), file }] : [];
      });
      return { spans, pictures };
    });
}

function boxOf(left = '', top = '', width = '', height = ''): Box {
  const [x, y] = [Number(left) / zoom, Number(top) / zoom];
  return { left: x, top: y, right: x + Number(width) / zoom, bottom: y + Number(height) / zoom };
}

const ordinary: Style = { size: 11, family: 'serif', bold: false, italic: false, colour: '#000000' };

/** Reads the words, lines and blocks of a page from the layout output of pdftotext. */
export function readPage(text: string, { spans, pictures }: { spans: Span[]; pictures: Picture[] }): Page {
  const [, width, height] = /^width="([\d.]+)" height="([\d.]+)"/.exec(text) ?? [];
  const styleAt = (box: Box): Style => {
    const x = (box.left + box.right) / 2;
    const y = (box.top + box.bottom) / 2;
    const found = spans.find((span) => x >= span.left && x <= span.right && y >= span.top && y <= span.bottom);
    return found?.style ?? { ...ordinary, size: Math.max(4, (box.bottom - box.top) / 1.25) };
  };
  const blocks = text
    .split('<block ')
    .slice(1)
    .map((block): Block => {
      const lines = block
        .split('<line ')
        .slice(1)
        .map((line): Line => {
          const words = [
            ...line.matchAll(/<word xMin="([\d.-]+)" yMin="([\d.-]+)" xMax="([\d.-]+)" yMax="([\d.-]+)">([^<]*)</g),
          ].map(([, left, top, right, bottom, content = '']) => {
            const box = { left: Number(left), top: Number(top), right: Number(right), bottom: Number(bottom) };
            return { ...box, text: content, style: styleAt(box) };
          });
          return { words: inReadingOrder(words), ...around(words) };
        });
      return { lines: lines.filter(({ words }) => words.length > 0), ...around(lines) };
    });
  return {
    width: Number(width),
    height: Number(height),
    blocks: blocks.filter(({ lines }) => lines.length > 0),
    pictures,
  };
}

const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

/** Reverses words of Hebrew and Arabic: the program returns words and letters in visual order, from the left. */
function inReadingOrder(words: Word[]): Word[] {
  const ordered: Word[] = [];
  let run: Word[] = [];
  for (const word of words) {
    if (rightToLeft.test(word.text)) run.unshift({ ...word, text: [...word.text].reverse().join('') });
    else {
      ordered.push(...run, word);
      run = [];
    }
  }
  return [...ordered, ...run];
}

function around(boxes: Box[]): Box {
  return {
    left: Math.min(...boxes.map(({ left }) => left)),
    top: Math.min(...boxes.map(({ top }) => top)),
    right: Math.max(...boxes.map(({ right }) => right)),
    bottom: Math.max(...boxes.map(({ bottom }) => bottom)),
  };
}

const bullet = /^(?:[•◦▪‣●○■–*-]|\(?(?:\d{1,3}|[a-z])[.)])$/;

/** Finds lines that are side by side. An item next to its bullet is one line; several rows of short lines are a table. */
function itemsOf(page: Page): Item[] {
  const rows = rowsOf(page.blocks.flatMap(({ lines }) => lines));
  const joined = new Map<Line, Line>();
  const tables = new Map<Line, Line[][]>();
  let run: Line[][] = [];
  const close = () => {
    const cells = run.flat();
    const average = cells.reduce((sum, { words }) => sum + words.length, 0) / cells.length;
    if (run.length >= 2 && average <= 5) for (const cell of cells) tables.set(cell, run);
    run = [];
  };
  for (const row of rows) {
    const [first, second] = row;
    if (first && second && first.words.length === 1 && bullet.test(first.words[0]?.text ?? '')) {
      joined.set(first, { words: [...first.words, ...second.words], ...around([first, second]) });
      joined.set(second, second);
      if (row.length === 2) {
        close();
        continue;
      }
    }
    if (row.length < 2) close();
    else run.push(row);
  }
  close();

  const items: Item[] = [];
  const placed = new Set<Line[][]>();
  for (const block of page.blocks) {
    let rest: Line[] = [];
    const flush = () => {
      if (rest.length > 0) items.push(...paragraphsOf(rest, block));
      rest = [];
    };
    for (const line of block.lines) {
      const table = tables.get(line);
      if (table) {
        flush();
        if (!placed.has(table)) items.push({ kind: 'table', rows: table, top: table[0]?.[0]?.top ?? 0 });
        placed.add(table);
        continue;
      }
      const whole = joined.get(line);
      if (whole === line) continue;
      rest.push(whole ?? line);
    }
    flush();
  }
  for (const picture of page.pictures.slice(0, maxPictures)) {
    if (picture.right - picture.left < minPicture || picture.bottom - picture.top < minPicture) continue;
    const after = items.findIndex(({ top }) => top >= picture.top);
    items.splice(after < 0 ? items.length : after, 0, { kind: 'picture', picture, top: picture.top });
  }
  return items;
}

/** Groups lines that are side by side, from the top. */
export function rowsOf(lines: Line[]): Line[][] {
  const sorted = lines.toSorted((a, b) => a.top - b.top);
  const rows: Line[][] = [];
  for (const line of sorted) {
    const row = rows.at(-1);
    const [first] = row ?? [];
    const middle = (line.top + line.bottom) / 2;
    const isApart = row?.every((other) => line.left >= other.right || line.right <= other.left);
    if (row && first && middle > first.top && middle < first.bottom && isApart) row.push(line);
    else rows.push([line]);
  }
  return rows.map((row) => row.toSorted((a, b) => a.left - b.left));
}

/** Splits the lines of a block into paragraphs: after a short line, at a bullet, and when the font size changes. */
function paragraphsOf(lines: Line[], block: Block): Item[] {
  const paragraphs: Line[][] = [];
  for (const line of lines) {
    const last = paragraphs.at(-1)?.at(-1);
    const size = line.words[0]?.style.size ?? 0;
    const starts =
      !last ||
      bullet.test(line.words[0]?.text ?? '') ||
      Math.abs((last.words[0]?.style.size ?? 0) - size) > 1 ||
      last.right < block.left + (block.right - block.left) * 0.75 ||
      line.top - last.bottom > size;
    if (starts) paragraphs.push([line]);
    else paragraphs.at(-1)?.push(line);
  }
  return paragraphs.map((own) => ({ kind: 'paragraph', lines: own, block, top: own[0]?.top ?? 0 }));
}

/** Writes the flat document and collects its styles on the way. */
async function compose(pages: Page[]): Promise<string> {
  const styles = new Map<string, string>();
  const style: Styles = (family, properties, master) => {
    const opening = master === undefined ? '' : ` style:master-page-name="${master}"`;
    const text = `style:family="${family}"${opening}>${properties}`;
    const name = styles.get(text) ?? `S${styles.size + 1}`;
    styles.set(text, name);
    return name;
  };
  const sizes = [...new Set(pages.map(({ width, height }) => `${width}x${height}`))];
  const body: string[] = [];
  for (const page of pages) {
    const margins = marginsOf(page);
    const items = itemsOf(page);
    const master = `Page${sizes.indexOf(`${page.width}x${page.height}`)}`;
    let bottom = margins.top;
    for (const [index, item] of items.entries()) {
      const before = Math.max(0, Math.min(36, item.top - bottom));
      const opening = index === 0 ? master : undefined;
      if (item.kind === 'table') {
        // A table cannot start a page with another master, so a paragraph without height precedes it.
        if (opening)
          body.push(
            `<text:p text:style-name="${style('paragraph', '<style:text-properties fo:font-size="1pt"/>', opening)}"/>`,
          );
        body.push(table(item.rows, style));
        bottom = Math.max(...item.rows.flat().map((line) => line.bottom));
        continue;
      }
      const box = item.kind === 'picture' ? item.picture : around(item.lines);
      const own = item.kind === 'picture' ? box : item.block;
      const centred = Math.abs((box.left + box.right) / 2 - page.width / 2) < 6 && box.left - margins.left > 30;
      const indent = centred ? 0 : Math.max(0, Math.round(own.left - margins.left));
      const properties = `<style:paragraph-properties fo:margin-top="${before.toFixed(0)}pt" fo:margin-left="${indent < 8 ? 0 : indent}pt"${centred ? ' fo:text-align="center"' : ''}/>`;
      const name = style('paragraph', properties, opening);
      const content = item.kind === 'picture' ? await pictureOf(item.picture) : textOf(item.lines, style);
      body.push(`<text:p text:style-name="${name}">${content}</text:p>`);
      bottom = box.bottom;
    }
    if (items.length === 0) body.push(`<text:p text:style-name="${style('paragraph', '', master)}"/>`);
  }
  const automatic = [...styles].map(([text, name]) => `<style:style style:name="${name}" ${text}</style:style>`);
  const layouts = sizes.map((size, index) => {
    const [width, height] = size.split('x').map(Number);
    const page = pages.find((candidate) => `${candidate.width}x${candidate.height}` === size);
    const { left, right, top } = page ? marginsOf(page) : { left: 72, right: 72, top: 72 };
    const orientation = (width ?? 0) > (height ?? 0) ? 'landscape' : 'portrait';
    return `<style:page-layout style:name="L${index}"><style:page-layout-properties fo:page-width="${width}pt" fo:page-height="${height}pt" style:print-orientation="${orientation}" fo:margin-left="${left}pt" fo:margin-right="${right}pt" fo:margin-top="${top}pt" fo:margin-bottom="28pt"/></style:page-layout>`;
  });
  const masters = sizes.map(
    (_, index) => `<style:master-page style:name="Page${index}" style:page-layout-name="L${index}"/>`,
  );
  return `<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0" xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0" xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0" office:version="1.2" office:mimetype="application/vnd.oasis.opendocument.text"><office:automatic-styles>${layouts.join('')}${automatic.join('')}</office:automatic-styles><office:master-styles>${masters.join('')}</office:master-styles><office:body><office:text>${body.join('\n')}</office:text></office:body></office:document>`;
}

function marginsOf({ blocks, width, height }: Page): { left: number; right: number; top: number } {
  if (blocks.length === 0) return { left: 57, right: 57, top: 57 };
  const { left, right, top } = around(blocks);
  const clamp = (value: number, max: number) => Math.round(Math.min(Math.max(value, 10), max));
  // Lines in a substitute font may be slightly wider. Space at the right prevents early line breaks.
  return { left: clamp(left, width / 3), right: clamp(width - right - 8, width / 6), top: clamp(top, height / 4) };
}

/** Returns the name of a style for a family and its properties. With a master page, the style also starts a new page. */
type Styles = (family: string, properties: string, master?: string) => string;

const families: Record<string, string> = {
  serif: 'Liberation Serif',
  sans: 'Liberation Sans',
  mono: 'Liberation Mono',
};

function textOf(lines: Line[], style: Styles): string {
  const runs: { style: Style; text: string }[] = [];
  for (const line of lines) {
    for (const word of line.words) {
      const last = runs.at(-1);
      const glue = last === undefined ? '' : joint(last.text, word.text);
      if (last && sameStyle(last.style, word.style)) last.text += glue + word.text;
      else {
        if (last) last.text += glue;
        runs.push({ style: word.style, text: word.text });
      }
    }
  }
  return runs
    .map(({ style: own, text }) => {
      const weight = own.bold ? ' fo:font-weight="bold"' : '';
      const slant = own.italic ? ' fo:font-style="italic"' : '';
      const properties = `<style:text-properties fo:font-family="'${families[own.family]}'" fo:font-size="${(Math.round(own.size * 2) / 2).toFixed(1)}pt" fo:color="${own.colour}"${weight}${slant}/>`;
      return `<text:span text:style-name="${style('text', properties)}">${text}</text:span>`;
    })
    .join('');
}

/** Scripts without spaces between words. */
const unspaced = /[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]/;

function joint(before: string, after: string): string {
  return unspaced.test(before.at(-1) ?? '') && unspaced.test(after[0] ?? '') ? '' : ' ';
}

function sameStyle(a: Style, b: Style): boolean {
  return (
    a.family === b.family &&
    a.bold === b.bold &&
    a.italic === b.italic &&
    a.colour === b.colour &&
    Math.abs(a.size - b.size) < 0.6
  );
}

function table(rows: Line[][], style: Styles): string {
  const columns: number[] = [];
  const lines = rows.flat();
  const middleOf = ({ left, right }: Line) => (left + right) / 2;
  const covers = ({ left, right }: Line, x: number) => left <= x && right >= x;
  for (const middle of lines.map(middleOf)) {
    const isSame = (column: number) =>
      Math.abs(column - middle) < 30 || lines.some((line) => covers(line, column) && covers(line, middle));
    if (!columns.some(isSame)) columns.push(middle);
  }
  columns.sort((a, b) => a - b);
  const place = (line: Line) => {
    const distances = columns.map((column) => Math.abs(column - middleOf(line)));
    return distances.indexOf(Math.min(...distances));
  };
  const filled = rows.map((row) => {
    const cells = columns.map((_, index) => row.filter((line) => place(line) === index));
    return `<table:table-row>${cells.map((cell) => `<table:table-cell><text:p>${textOf(cell, style)}</text:p></table:table-cell>`).join('')}</table:table-row>`;
  });
  return `<table:table><table:table-column table:number-columns-repeated="${columns.length}"/>${filled.join('')}</table:table>`;
}

async function pictureOf({ left, right, top, bottom, file }: Picture): Promise<string> {
  const data = await readFile(file).catch(() => undefined);
  if (!data) return '';
  const size = `svg:width="${(right - left).toFixed(1)}pt" svg:height="${(bottom - top).toFixed(1)}pt"`;
  return `<draw:frame text:anchor-type="as-char" ${size}><draw:image><office:binary-data>${data.toString('base64')}</office:binary-data></draw:image></draw:frame>`;
}
