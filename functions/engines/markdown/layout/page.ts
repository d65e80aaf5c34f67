import {
  type Block,
  type Box,
  type Cell,
  type Inline,
  type Item,
  isAlike,
  type Style,
  textOf,
  tidy,
} from '../model.ts';
import { bandedTables, plainTables } from './aligned-tables.ts';
import { isIndexEntry, readingOrder } from './columns.ts';
import type { Rulings } from './rulings.ts';
import {
  type Area,
  around,
  needsSpace,
  type PageText,
  type Segment,
  type Span,
  segmentOf,
  segmentsOf,
} from './spans.ts';
import { type FoundTable, inOrder, rowsOf, ruledTables } from './tables.ts';

/** What the pages of a document have in common. */
export interface Typography {
  /** Size of most of the text. */
  body: number;
  /** Sizes of headings, the largest first. */
  headings: number[];
}

/** A picture with the number that it has in the document. */
export interface PlacedPicture extends Area {
  picture: number;
}

type Thing = Area & ({ segment: Segment } | { table: FoundTable } | { picture: number });

/** Returns the size of most of the text, and larger ones. */
export function typographyOf(pages: readonly PageText[]): Typography {
  const sizes = new Map<number, number>();
  for (const { size, text } of pages.flatMap(({ spans }) => spans)) {
    if (!/\p{L}{2}|\p{Lo}/u.test(text)) continue;
    const rounded = Math.round(size * 2) / 2;
    // Tables are often smaller than the text around them, and have short texts.
    const weight = text.length > 40 ? 10 : 1;
    sizes.set(rounded, (sizes.get(rounded) ?? 0) + weight * text.trim().length);
  }
  const [body = 11] = [...sizes].reduce((most, each) => (each[1] > most[1] ? each : most), [11, 0]);
  const headings = [...sizes.keys()].filter((size) => size >= body * 1.12).sort((one, other) => other - one);
  return { body, headings: joinSizes(headings) };
}

/** Sizes that are almost the same are those of one level. */
function joinSizes(sizes: number[]): number[] {
  return sizes.filter((size, index) => index === 0 || (sizes[index - 1] ?? 0) - size > 0.75);
}

const rightToLeft = /[\u0590-\u08ff]/;

/** Returns the blocks of a page in reading order. */
export function blocksOfPage(
  page: PageText,
  rulings: Rulings,
  typography: Typography,
  pictures: PlacedPicture[],
): Block[] {
  const ruled = ruledTables(page.spans, rulings);
  const banded = bandedTables(ruled.rest, rulings);
  const tables = [...ruled.tables, ...banded.tables];
  const things: Thing[] = [
    ...withBullets(segmentsOf(banded.rest, columnGap)).map((segment) => ({ ...areaOf(segment), segment })),
    ...tables.map((table) => ({ ...areaOf(table), table })),
    ...pictures,
  ];
  const backward = banded.rest.filter(({ text }) => rightToLeft.test(text)).length * 2 > banded.rest.length;
  return readingOrder(things, backward).flatMap((group) => blocksOfGroup(group, page, rulings, typography));
}

/** Lines with gaps narrower than this, in relation to the size, are of one column: the gaps of justified lines are wide. */
const columnGap = 1.2;

/** Joins bullets and numbers with the texts next to them. */
function withBullets(segments: Segment[]): Segment[] {
  return rowsOf(segments).flatMap((row) => {
    const joined: Segment[] = [];
    for (const segment of row) {
      const last = joined.at(-1);
      const isItem = last && bareBullet.test(last.text) && segment.left - last.right < 4 * segment.size;
      const whole = isItem ? segmentOf([...last.spans, ...segment.spans]) : undefined;
      if (whole) joined[joined.length - 1] = whole;
      else joined.push(segment);
    }
    return joined;
  });
}

function areaOf({ left, top, right, bottom }: Area): Area {
  return { left, top, right, bottom };
}

function boxOf({ left, top, right, bottom }: Area): Box {
  const rounded = (value: number) => Math.round(value * 10) / 10;
  return [rounded(left), rounded(top), rounded(right), rounded(bottom)];
}

function blocksOfGroup(group: Thing[], page: PageText, rulings: Rulings, typography: Typography): Block[] {
  const coarse = group.flatMap((thing) => ('segment' in thing ? [thing.segment] : []));
  const { tables, rest } = plainTables(
    coarse.flatMap(({ spans }) => spans),
    rulings,
  );
  const lines = rowsOf(withBullets(segmentsOf(rest))).flatMap((row) => {
    const line = segmentOf(row.flatMap(({ spans }) => spans));
    return line ? [line] : [];
  });
  const others = [
    ...group.filter((thing) => !('segment' in thing)),
    ...tables.map((table) => ({ ...areaOf(table), table })),
  ].sort((one, other) => one.top - other.top);
  const blocks: Block[] = [];
  let run: Segment[] = [];
  const flush = () => {
    blocks.push(...textBlocks(run, page, typography));
    run = [];
  };
  for (const line of lines) {
    while (others[0] && others[0].top < line.top) {
      const other = others.shift();
      flush();
      if (other) blocks.push(...blockOf(other, page));
    }
    run.push(line);
  }
  flush();
  return [...blocks, ...others.flatMap((other) => blockOf(other, page))];
}

function blockOf(thing: Thing, { number }: PageText): Block[] {
  const place = { page: number, box: boxOf(thing) };
  if ('picture' in thing)
    return [{ ...place, kind: 'paragraph', content: [{ kind: 'picture', picture: thing.picture, alt: '' }] }];
  if (!('table' in thing)) return [];
  if (thing.table.isIndex) {
    const columns = Math.max(...thing.table.rows.map(({ length }) => length));
    const cells = Array.from({ length: columns }, (_, column) => thing.table.rows.map((row) => row[column]));
    return cells.flat().flatMap((cell): Block[] => {
      const content = contentOf(inOrder(cell?.lines ?? []));
      return content.length > 0 ? [{ ...place, kind: 'paragraph', content }] : [];
    });
  }
  // Titles over several columns have others below them.
  const headerRows =
    thing.table.rows[0]?.some(({ columns, rows }) => columns > 1 && rows === 1) && thing.table.rows.length > 2 ? 2 : 1;
  const rows = thing.table.rows.map((cells, index) =>
    cells.map(({ lines, columns, rows }): Cell => {
      const given = contentOf(inOrder(lines));
      // A header is bold by its place.
      const content = index < headerRows ? withoutBold(given) : given;
      return { blocks: content.length > 0 ? [{ kind: 'paragraph', content }] : [], columns, rows };
    }),
  );
  return [{ ...place, kind: 'table', rows, headerRows }];
}

const bullets = /^(?:[•◦▪‣●○■□➢✓∙·–—*-]|\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,5})[.)])(?=\s|$)/;

const bareBullet = /^(?:[•◦▪‣●○■□➢✓∙·–—*-]|\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,5})[.)])$/;

interface Part {
  lines: Segment[];
  bullet?: string;
}

function textBlocks(lines: Segment[], page: PageText, typography: Typography): Block[] {
  if (lines.length === 0) return [];
  const column = around(lines);
  const gaps = lines.slice(1).map((line, index) => line.top - (lines[index]?.bottom ?? 0));
  // Lines that are far apart are paragraphs, not lines of one.
  const usualGap = Math.min(median(gaps), 0.9 * typography.body);
  const parts: Part[] = [];
  for (const [index, line] of lines.entries()) {
    const last = parts.at(-1);
    const before = lines[index - 1];
    const bullet = bullets.exec(line.text)?.[0];
    const isItem = bullet !== undefined && (bullet.length > 1 || line.text.length > 1);
    if (!last || !before || startsPart(line, before, last, column, usualGap, isItem))
      parts.push({ lines: [line], ...(isItem ? { bullet } : {}) });
    else last.lines.push(line);
  }
  return listsOf(parts, page, typography, column);
}

function startsPart(
  line: Segment,
  before: Segment,
  part: Part,
  column: Area,
  usualGap: number,
  isItem: boolean,
): boolean {
  const { size } = line;
  const isCode = isMono(line) && isMono(before);
  if (isMono(line) !== isMono(before)) return true;
  if (line.top - before.bottom > Math.max(usualGap, -0.2 * size) + (isCode ? 1.5 : 0.35) * size) return true;
  if (isCode) return false;
  if (isItem) return true;
  // A title with the number of its page, a field of a form, or words with the numbers of theirs.
  if (hasLeader(before.text) || (isIndexEntry(before.text) && isIndexEntry(line.text))) return true;
  if (Math.abs(size - before.size) > 0.08 * size + 0.3) return true;
  if (isBold(line) !== isBold(before)) return true;
  const width = column.right - column.left;
  const isBackward = rightToLeft.test(line.text);
  const room = isBackward ? before.left - column.left : column.right - before.right;
  const isEnd = /[.!?:;”"’)\]。]$/.test(before.text);
  if (part.bullet !== undefined) {
    const first = part.lines[0] ?? before;
    // The text of an item goes on below its text, or below its bullet.
    return line.left < first.left - size || (line.left < first.left + 0.5 * size && isEnd && room > 0.15 * width);
  }
  if (room > 0.45 * width || (room > 0.12 * width && isEnd)) return true;
  return !isBackward && line.left - before.left > 0.8 * size && line.left - column.left < 5 * size && isEnd;
}

function median(values: number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

function isMono({ spans }: Segment): boolean {
  return spans.every(({ mono, text }) => mono || text.trim() === '');
}

function isBold({ spans }: Segment): boolean {
  return spans.every(({ bold, text }) => bold || !/[\p{L}\p{N}]/u.test(text));
}

function listsOf(parts: Part[], page: PageText, typography: Typography, column: Area): Block[] {
  const blocks: Block[] = [];
  /** Lists that are open: where their items begin, and the blocks that they are in. */
  let open: { left: number; blocks: Block[] }[] = [];
  for (const part of parts) {
    const place = { page: page.number, box: boxOf(around(part.lines)) };
    const [first] = part.lines;
    if (!first) continue;
    const level =
      part.bullet !== undefined && /^[•◦▪‣●○■□➢✓∙·–—*-]/.test(part.bullet)
        ? undefined
        : headingLevel(part.lines, typography);
    if (part.bullet === undefined || level !== undefined) {
      open = [];
      blocks.push({ ...place, ...textBlock(part.lines, level, column) });
      continue;
    }
    const number = /\d+/.exec(part.bullet)?.[0];
    const content = withoutBullet(
      contentOf(part.lines),
      number === undefined && /^[^\p{L}(]/u.test(part.bullet) ? part.bullet : number === undefined ? '' : part.bullet,
    );
    const item: Item = { blocks: content.length > 0 ? [{ ...place, kind: 'paragraph', content }] : [] };
    while (open.length > 0 && first.left < (open.at(-1)?.left ?? 0) - 4) open.pop();
    const current = open.at(-1);
    const isDeeper = current === undefined || first.left > current.left + 4;
    const parent = current?.blocks.at(-1);
    const inner = isDeeper && parent?.kind === 'list' ? parent.items.at(-1)?.blocks : undefined;
    const target = isDeeper ? (inner ?? blocks) : (current?.blocks ?? blocks);
    if (isDeeper) open.push({ left: first.left, blocks: target });
    const list = target.at(-1);
    const ordered = number !== undefined;
    if (list?.kind === 'list' && list.ordered === ordered && (!isDeeper || inner === undefined) && current) {
      list.items.push(item);
      if (list.box)
        list.box = [
          Math.min(list.box[0], place.box[0]),
          list.box[1],
          Math.max(list.box[2], place.box[2]),
          place.box[3],
        ];
    } else target.push({ ...place, kind: 'list', ordered, start: Number(number ?? 1), items: [item] });
  }
  return blocks;
}

function withoutBullet(content: Inline[], bullet: string): Inline[] {
  const [first, ...rest] = content;
  if (first?.kind !== 'text' || bullet === '' || !first.text.startsWith(bullet)) return content;
  return tidy([textOf(first.text.slice(bullet.length).trimStart(), first.style), ...rest]);
}

const caption = /^(?:figure|fig\.|table|tab\.|source|note|abbildung|tabelle|chart|exhibit)\b.{0,12}\d/i;

function headingLevel(lines: Segment[], { body, headings }: Typography): number | undefined {
  const [first] = lines;
  const text = lines.map((line) => line.text).join(' ');
  if (
    !first ||
    lines.length > 3 ||
    text.length > 200 ||
    !/\p{L}{2}/u.test(text) ||
    /[.,;]$/.test(text.replace(/\b\p{L}\.$/u, ''))
  )
    return undefined;
  if (caption.test(text) || isMono(first)) return undefined;
  const { size } = first;
  if (size >= body * 1.12) return Math.min(6, Math.max(1, headings.findIndex((each) => size >= each - 0.5) + 1));
  const isMarked = lines.every(isBold) && size > 0.95 * body && text.length <= 120;
  return isMarked && !/[:]$/.test(text) ? Math.min(6, headings.length + 1) : undefined;
}

function textBlock(lines: Segment[], level: number | undefined, column: Area): Block {
  if (level !== undefined) {
    return { kind: 'heading', level, content: withoutBold(contentOf(lines)) };
  }
  if (lines.every(isMono) && (lines.length > 1 || lines.every(({ text }) => text.length > 3)))
    return codeOf(lines, column);
  return { kind: 'paragraph', content: contentOf(lines) };
}

function withoutBold(content: Inline[]): Inline[] {
  return tidy(
    content.map((inline) => (inline.kind === 'text' ? { ...inline, style: { ...inline.style, bold: false } } : inline)),
  );
}

function codeOf(lines: Segment[], column: Area): Block {
  const text = lines.map((line) => {
    const letters = line.spans.reduce((sum, span) => sum + span.text.length, 0);
    const width = (line.right - line.left) / Math.max(1, letters);
    const indent = Math.min(80, Math.max(0, Math.round((line.left - column.left) / width)));
    return (
      ' '.repeat(indent) +
      line.spans
        .map((span) => span.text)
        .join('')
        .trim()
    );
  });
  return { kind: 'code', text: text.join('\n') };
}

/** Joins lines into text: words that a hyphen divides at the end of one become whole. */
function contentOf(lines: readonly Segment[]): Inline[] {
  const content: Inline[] = [];
  for (const line of lines) {
    const inlines = inlinesOf(line);
    const last = content.at(-1);
    const [first] = inlines;
    if (last?.kind === 'text' && first?.kind === 'text' && /\p{L}[-‐]$/u.test(last.text) && /^\p{Ll}/u.test(first.text))
      content[content.length - 1] = { ...last, text: last.text.slice(0, -1) };
    else if (last && !isWide(last, first)) content.push(textOf(' ', commonStyle(last, first)));
    content.push(...inlines);
  }
  return tidy(content);
}

/** Returns the style of the space between two lines: theirs, if they have the same. */
function commonStyle(last: Inline, first: Inline | undefined): Style {
  return last.kind === 'text' && first?.kind === 'text' && isAlike(last.style, first.style) ? last.style : {};
}

/** Chinese and Japanese are written without spaces. */
function isWide(last: Inline, first: Inline | undefined): boolean {
  const wide = /[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]/;
  return (
    last.kind === 'text' &&
    first?.kind === 'text' &&
    wide.test(last.text.at(-1) ?? '') &&
    wide.test(first.text[0] ?? '')
  );
}

function inlinesOf(line: Segment): Inline[] {
  const inlines: Inline[] = [];
  const middle = (line.top + line.bottom) / 2;
  for (const [index, span] of line.spans.entries()) {
    const style: Style = {
      ...(span.bold ? { bold: true } : {}),
      ...(span.italic ? { italic: true } : {}),
      ...(span.mono ? { code: true } : {}),
      ...shiftOf(span, line.size, middle),
    };
    if (needsSpace(line.spans[index - 1], span)) inlines.push(textOf(' ', style));
    const text = textOf(shortened(span.text.replaceAll(/\s+/g, ' ')), style);
    inlines.push(
      span.link === undefined || span.text.trim() === '' ? text : { kind: 'link', target: span.link, content: [text] },
    );
  }
  return trimmed(tidy(inlines));
}

/** Shortens the dots of a table of contents and the lines of a form. */
function shortened(text: string): string {
  return text.replaceAll(/(?:\. ?){5,}|·{5,}/g, ' … ').replaceAll(/_{4,}/g, '___');
}

function hasLeader(text: string): boolean {
  return /(?:[.·] ?){5,}\s*[\divxlc]{1,5}$|_{4,}$/i.test(text);
}

function shiftOf(span: Span, size: number, middle: number): Style {
  if (span.size > 0.8 * size || span.text.trim().length > 6) return {};
  const own = (span.top + span.bottom) / 2;
  if (own < middle - 0.08 * size) return { shift: 'sup' };
  return own > middle + 0.08 * size ? { shift: 'sub' } : {};
}

function trimmed(inlines: Inline[]): Inline[] {
  const [first, last] = [inlines[0], inlines.at(-1)];
  if (first?.kind === 'text') inlines[0] = { ...first, text: first.text.trimStart() };
  const end = inlines.at(-1);
  if (last?.kind === 'text' && end?.kind === 'text') inlines[inlines.length - 1] = { ...end, text: end.text.trimEnd() };
  return inlines;
}
