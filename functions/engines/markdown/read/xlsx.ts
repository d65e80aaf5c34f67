import { EngineError } from '../../runtime/engine.ts';
import { type Block, type Cell, type Content, type Inline, textOf } from '../model.ts';
import { mainPart, type Part, type Parts, Pictures, titleOf } from '../ooxml.ts';
import { all, child, contentOf, type Element, elements, find, findAll } from '../xml.ts';
import { builtInFormat, formatNumber } from './number-format.ts';
import { chartBlocks } from './pptx.ts';

const maxColumns = 16_384;
const maxCells = 2_000_000;

export interface SheetOptions {
  /** The number of the only sheet to read. */
  sheet?: number;
  hidden: boolean;
}

/** Reads a workbook of Excel: each sheet as a heading and a table of what its cells show. */
export function readXlsx(parts: Parts, options: SheetOptions): { content: Content; warnings: string[] } {
  const main = mainPart(parts);
  const workbook = new Workbook(main);
  const pictures = new Pictures();
  const blocks: Block[] = [];
  const hidden: string[] = [];
  const sheets = findAll(main.root, 'sheet').length > 0 ? findAll(main.root, 'sheet') : findAll(main.root, 'x:sheet');
  if (options.sheet !== undefined && options.sheet > sheets.length)
    throw new EngineError(`The document has ${sheets.length} sheets, so sheet ${options.sheet} does not exist.`);
  for (const [index, { attributes }] of sheets.entries()) {
    const name = attributes.name ?? String(index + 1);
    if (options.sheet !== undefined && options.sheet !== index + 1) continue;
    const part = main.part(attributes['r:id']);
    if (!part) continue;
    const content = sheetBlocks(part, workbook, pictures);
    if (content.length === 0) continue;
    if (options.sheet === undefined && !options.hidden && (attributes.state ?? 'visible') !== 'visible') {
      hidden.push(name);
      continue;
    }
    blocks.push({ kind: 'marker', unit: 'sheet', number: index + 1, name });
    blocks.push({ kind: 'heading', level: 2, content: [textOf(name)] }, ...content);
  }
  const names = hidden.map((name) => `"${name}"`).join(', ');
  const [noun, verb] = hidden.length === 1 ? ['sheet', 'was'] : ['sheets', 'were'];
  const warning = `The hidden ${noun} ${names} ${verb} left out. Set hidden_sheets to convert hidden sheets, too.`;
  const content = { ...titleOf(parts), blocks, notes: new Map(), pictures: pictures.list };
  return { content, warnings: hidden.length > 0 ? [warning] : [] };
}

/** What the sheets of a workbook share. */
class Workbook {
  readonly strings: string[];
  readonly formats: string[];
  readonly since1904: boolean;

  constructor(main: Part) {
    const strings = main.ofType('sharedStrings');
    this.strings = findAll(strings?.root, 'si').map(stringOf);
    const styles = main.ofType('styles')?.root;
    const own = new Map(
      findAll(find(styles, 'numFmts'), 'numFmt').map(({ attributes }) => [
        Number(attributes.numFmtId),
        attributes.formatCode ?? '',
      ]),
    );
    this.formats = all(find(styles, 'cellXfs'), 'xf').map(({ attributes }) => {
      const id = Number(attributes.numFmtId ?? 0);
      return own.get(id) ?? builtInFormat(id);
    });
    this.since1904 = /^(?:1|true)$/.test(find(main.root, 'workbookPr')?.attributes.date1904 ?? '');
  }
}

/** Returns the text of a string, without the readings of its characters. */
function stringOf(element: Element): string {
  return elements(element)
    .map((part) => (part.name === 't' ? contentOf(part) : part.name === 'r' ? contentOf(child(part, 't')) : ''))
    .join('');
}

function sheetBlocks(part: Part, workbook: Workbook, pictures: Pictures): Block[] {
  const rows = new Map<number, Map<number, Inline[]>>();
  const links = linksOf(part);
  let [count, row, width] = [0, 0, 0];
  for (const element of all(find(part.root, 'sheetData'), 'row')) {
    row = Number(element.attributes.r ?? row + 1);
    let column = 0;
    for (const cell of all(element, 'c')) {
      column = placeOf(cell.attributes.r)?.column ?? column + 1;
      const text = shownValue(cell, workbook);
      if (text === '' || column > maxColumns) continue;
      if (++count > maxCells) throw new EngineError('The spreadsheet has more than 2,000,000 cells. Split it.');
      const target = links.get(`${column} ${row}`);
      const cells = rows.get(row) ?? new Map<number, Inline[]>();
      rows.set(row, cells);
      const content = lines(text);
      cells.set(column, target === undefined ? content : [{ kind: 'link', target, content }]);
      width = Math.max(width, column);
    }
  }
  const merged = mergedAreas(part);
  const blocks: Block[] = [];
  if (rows.size > 0) {
    const used = [...rows.values()].flatMap((cells) => [...cells.keys()]);
    const first = used.reduce((least, column) => Math.min(least, column), width);
    const table = tableOf(rows, merged, first, width);
    blocks.push({ kind: 'table', rows: table, headerRows: 1 });
  }
  const drawing = part.ofType('drawing');
  for (const blip of findAll(drawing?.root, 'a:blip')) {
    const picture = pictures.add(drawing?.bytes(blip.attributes['r:embed']));
    if (picture !== undefined) blocks.push({ kind: 'paragraph', content: [{ kind: 'picture', picture, alt: '' }] });
  }
  for (const { attributes } of findAll(drawing?.root, 'c:chart')) {
    const chart = drawing?.part(attributes['r:id']);
    if (chart) blocks.push(...chartBlocks(chart.root));
  }
  return blocks;
}

interface Area {
  column: number;
  row: number;
  columns: number;
  rows: number;
}

function tableOf(rows: Map<number, Map<number, Inline[]>>, merged: Area[], first: number, last: number): Cell[][] {
  const numbers = [...rows.keys()].sort((one, other) => one - other);
  const starts = new Map(merged.map((area) => [`${area.column} ${area.row}`, area]));
  const covered = new Set<string>();
  const table: Cell[][] = [];
  for (const number of numbers) {
    const cells: Cell[] = [];
    for (let column = first; column <= last; column++) {
      const key = `${column} ${number}`;
      if (covered.has(key)) continue;
      const content = rows.get(number)?.get(column);
      const area = starts.get(key);
      const span = area ? shownSpan(area, numbers, last) : { columns: 1, rows: 1 };
      if (area)
        for (const row of numbers.filter((each) => each >= number && each < number + area.rows))
          for (let place = column; place < column + span.columns; place++) covered.add(`${place} ${row}`);
      cells.push({ blocks: content ? [{ kind: 'paragraph', content }] : [], ...span });
    }
    table.push(cells);
  }
  return table;
}

/** Returns the size of a merged area without the rows that are empty and the columns beyond the last. */
function shownSpan({ column, row, columns, rows }: Area, numbers: number[], last: number) {
  const shown = numbers.filter((number) => number >= row && number < row + rows).length;
  return { columns: Math.min(columns, last - column + 1), rows: Math.max(1, shown) };
}

const maxMerged = 10_000;

function mergedAreas(part: Part): Area[] {
  return findAll(part.root, 'mergeCell')
    .slice(0, maxMerged)
    .flatMap(({ attributes }) => {
      const [from, to] = (attributes.ref ?? '').split(':').map(placeOf);
      if (!from || !to || to.column < from.column || to.row < from.row) return [];
      return [{ ...from, columns: to.column - from.column + 1, rows: to.row - from.row + 1 }];
    });
}

function linksOf(part: Part): Map<string, string> {
  return new Map(
    findAll(part.root, 'hyperlink').flatMap(({ attributes }): [string, string][] => {
      const place = placeOf(attributes.ref?.split(':')[0]);
      const target = part.address(attributes['r:id']);
      return place && target !== undefined ? [[`${place.column} ${place.row}`, target]] : [];
    }),
  );
}

/** Returns the place that a reference such as `AB12` names. */
function placeOf(reference: string | undefined): { column: number; row: number } | undefined {
  const [, letters = '', digits = ''] = /^([A-Z]{1,3})(\d{1,7})$/.exec(reference ?? '') ?? [];
  if (letters === '') return undefined;
  const column = [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0);
  return { column, row: Number(digits) };
}

function shownValue(cell: Element, { strings, formats, since1904 }: Workbook): string {
  const { t: type, s: style } = cell.attributes;
  const value = contentOf(child(cell, 'v'));
  switch (type) {
    case 's':
      return strings[Number(value)] ?? '';
    case 'inlineStr':
      return stringOf(child(cell, 'is') ?? cell);
    case 'b':
      return value === '1' ? 'TRUE' : 'FALSE';
    case 'str':
    case 'e':
    case 'd':
      return value;
    default: {
      const number = Number(value);
      if (value === '' || !Number.isFinite(number)) return value;
      return formatNumber(number, formats[Number(style ?? 0)] ?? 'General', since1904);
    }
  }
}

function lines(text: string): Inline[] {
  return text
    .split(/\r?\n/)
    .flatMap((line, index): Inline[] => [...(index > 0 ? [{ kind: 'break' as const }] : []), textOf(line)]);
}
