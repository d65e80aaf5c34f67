import { isIndexEntry } from './columns.ts';
import { type Chunk, chunkOf, type Line, linesOf } from './lines.ts';
import type { Rule, Rulings } from './rulings.ts';
import { type Area, around, rejoined, type Segment, type Span, segmentOf } from './spans.ts';
import type { FoundCell, FoundTable } from './tables.ts';

/** Extent of the texts of a column. */
interface Column {
  left: number;
  right: number;
}

const maxColumns = 40;
/** The room above rules that the head of their table may be in. */
const aboveRoom = 80;
/** Spans that are compared with groups of rules: a page with more of both is no document. */
const maxCompared = 200_000;
/** The least gap between texts of two cells, in relation to the size: words of a sentence are closer. */
const cellGap = 0.38;

/**
 * Finds the columns of lines: texts below each other are in one, unless one spans several. Lines of many texts come first, because
 * titles over several columns are in lines of few.
 */
function columnsOf(lines: readonly Line[]): Column[] {
  let columns: (Column & { count: number })[] = [];
  for (const line of lines.toSorted((one, other) => other.chunks.length - one.chunks.length))
    for (const chunk of line.chunks) {
      const touched = columns.filter((column) => overlaps(chunk, column));
      const [own] = touched;
      if (touched.length === 1 && own) {
        own.left = Math.min(own.left, chunk.left);
        own.right = Math.max(own.right, chunk.right);
        own.count += 1;
      } else if (touched.length === 0 && columns.length < maxColumns)
        columns.push({ left: chunk.left, right: chunk.right, count: 1 });
    }
  columns.sort((one, other) => one.left - other.left);
  // A text that is alone in its column is a title over others, or has a wide gap.
  const most = lines.reduce((longest, { chunks }) => Math.max(longest, chunks.length), 0);
  if (lines.length > 3 && columns.length > most) columns = columns.filter(({ count }) => count > 1);
  return withoutBridged(columns, lines);
}

/** Joins columns next to each other that more lines go across than have a text in each. */
function withoutBridged(columns: Column[], lines: readonly Line[]): Column[] {
  const result = [...columns];
  for (let index = result.length - 2; index >= 0; index--) {
    const [one, other] = [result[index], result[index + 1]];
    if (!one || !other) continue;
    let [apart, across] = [0, 0];
    for (const { chunks, size } of lines) {
      const inOne = chunks.filter((chunk) => overlaps(chunk, one));
      const inOther = chunks.filter((chunk) => overlaps(chunk, other));
      const shared = inOne.find((chunk) => inOther.includes(chunk));
      if (shared && !dividedAt(shared, one.right, other.left, size)) across += 1;
      else if (inOne.length > 0 && inOther.length > 0) apart += 1;
    }
    if (across > 0.7 * apart && across > 1) result.splice(index, 2, { left: one.left, right: other.right });
  }
  return result;
}

function overlaps(one: { left: number; right: number }, other: { left: number; right: number }): boolean {
  return one.left < other.right - 1 && one.right > other.left + 1;
}

/** Divides a text at a gap that is between two columns. */
function dividedAt({ words }: Chunk, from: number, to: number, size: number): [Chunk, Chunk] | undefined {
  for (let index = 1; index < words.length; index++) {
    const [before, after] = [words[index - 1], words[index]];
    if (!before || !after || after.left - before.right < cellGap * size) continue;
    if (before.right < to && after.left > from) return [chunkOf(words.slice(0, index)), chunkOf(words.slice(index))];
  }
  return undefined;
}

/** A text in a line, with the first and last of its columns. */
interface Entry {
  chunk: Chunk;
  first: number;
  last: number;
}

function entriesOf(line: Line, columns: Column[]): Entry[] {
  const entries: Entry[] = [];
  const queue = line.chunks.toReversed();
  for (let chunk = queue.pop(); chunk; chunk = queue.pop()) {
    const text = chunk;
    const touched = columns.flatMap((column, index) => (overlaps(text, column) ? [index] : []));
    const [first, second] = touched;
    if (first === undefined) {
      const nearest = nearestOf(text, columns);
      entries.push({ chunk, first: nearest, last: nearest });
      continue;
    }
    const [one, other] = [columns[first], columns[second ?? first]];
    const halves = second !== undefined && one && other ? dividedAt(text, one.right, other.left, line.size) : undefined;
    if (halves) queue.push(halves[1], halves[0]);
    else entries.push({ chunk, first, last: touched.at(-1) ?? first });
  }
  return entries;
}

function nearestOf({ left, right }: Area, columns: Column[]): number {
  let [best, least] = [0, Infinity];
  for (const [index, column] of columns.entries()) {
    const distance = Math.max(column.left - right, left - column.right);
    if (distance < least) [best, least] = [index, distance];
  }
  return best;
}

interface Row {
  entries: Entry[];
  lines: Line[];
}

/** Groups lines into rows: those between two rules, or closer to each other than to others, or parts of one text. */
function rowsOf(lines: readonly Line[], columns: Column[], rules: readonly number[]): Row[] {
  const gap = rowGap(lines);
  const isByRules = separates(rules, lines);
  const rows: Row[] = [];
  for (const [index, line] of lines.entries()) {
    const entries = entriesOf(line, columns);
    const last = rows.at(-1);
    const before = lines[index - 1];
    const hasRule = before && rules.some((at) => at > middle(before) && at < middle(line));
    const isApart = before && gap !== undefined && line.top - before.bottom > gap;
    const goesOn =
      last &&
      before &&
      !hasRule &&
      // A line of more texts begins a row, unless they are in the middle of cells of several lines.
      (entries.length <= (last.lines[0]?.chunks.length ?? 0) ||
        (isByRules && line.top - before.bottom < 0.45 * line.size)) &&
      (isByRules || (gap !== undefined ? !isApart : isContinuation(entries, line, last, before, columns)));
    if (goesOn) {
      last.entries.push(...entries);
      last.lines.push(line);
    } else rows.push({ entries, lines: [line] });
  }
  return rows;
}

function middle({ top, bottom }: Area): number {
  return (top + bottom) / 2;
}

/** Returns whether rules say what the rows are: there is one between most of them. */
function separates(rules: readonly number[], lines: readonly Line[]): boolean {
  const [first, last] = [lines[0], lines.at(-1)];
  if (!first || !last) return false;
  const inner = rules.filter((at) => at > middle(first) && at < middle(last));
  const parts = new Set(lines.map((line) => inner.filter((at) => at < middle(line)).length)).size;
  if (parts < 4) return false;
  // Without a rule below the head, or with one here and there, lines are rows.
  const counts = new Map<number, number>();
  for (const line of lines) {
    const part = inner.filter((at) => at < middle(line)).length;
    counts.set(part, (counts.get(part) ?? 0) + 1);
  }
  const sizes = [...counts.values()].sort((one, other) => one - other);
  return (sizes.at(-1) ?? 0) <= Math.max(4, 2.5 * (sizes[Math.floor(sizes.length / 2)] ?? 1));
}

/** Returns the gap that is between rows and not between lines of a cell, if there are two kinds of gaps. */
function rowGap(lines: readonly Line[]): number | undefined {
  const gaps = lines.slice(1).map((line, index) => line.top - (lines[index]?.bottom ?? 0));
  const sorted = gaps.toSorted((one, other) => one - other);
  let [best, at] = [0, -1];
  for (let index = 1; index < sorted.length; index++) {
    const jump = (sorted[index] ?? 0) - (sorted[index - 1] ?? 0);
    if (jump > best) [best, at] = [jump, index];
  }
  const size = lines[0]?.size ?? 10;
  if (at < 1 || best < 0.22 * size) return undefined;
  const limit = ((sorted[at] ?? 0) + (sorted[at - 1] ?? 0)) / 2;
  // Rows begin with lines that have at least as many texts as those below.
  let [begins, rows] = [0, 0];
  let most = lines[0]?.chunks.length ?? 0;
  let isFuller = true;
  let lesser = 0;
  for (const [index, gap] of gaps.entries()) {
    const count = lines[index + 1]?.chunks.length ?? 0;
    if (gap > limit) {
      rows += 1;
      if (isFuller) begins += 1;
      [most, isFuller] = [count, true];
    } else {
      if (count < most) lesser += 1;
      if (count > most) isFuller = false;
    }
  }
  const joined = gaps.length - rows;
  return rows >= 2 && begins >= 0.75 * rows && lesser >= 0.5 * joined ? limit : undefined;
}

/** Returns whether the texts of a line are the rest of those above: their first words had no room there. */
function isContinuation(entries: Entry[], line: Line, row: Row, before: Line, columns: Column[]): boolean {
  if (line.top - before.bottom > 0.6 * line.size) return false;
  if (entries.length >= columns.length && columns.length > 1) return false;
  return entries.every(({ chunk, first, last }) => {
    const above = row.entries.findLast((entry) => entry.first === first && entry.last === last);
    const column = columns[last];
    const word = chunk.words[0];
    if (!above || !column || !word || Math.abs(above.chunk.left - chunk.left) > 0.6 * line.size) return false;
    return above.chunk.right + 0.2 * line.size + (word.right - word.left) > column.right + 0.5;
  });
}

/** Returns those of the lines below a table that are the rest of its last row. */
function continuationsOf(lines: readonly Line[], below: readonly Line[]): Line[] {
  const columns = columnsOf(lines);
  const gap = rowGap(lines);
  const result: Line[] = [];
  for (const line of below) {
    const before = result.at(-1) ?? lines.at(-1);
    const row = rowsOf([...lines.slice(-4), ...result], columns, []).at(-1);
    if (!before || !row) break;
    const entries = entriesOf(line, columns);
    const isClose =
      gap !== undefined && line.top - before.bottom < gap && entries.every(({ first, last }) => first === last);
    if (!isClose && !isContinuation(entries, line, row, before, columns)) break;
    result.push(line);
  }
  return result;
}

/** Returns the cells of rows. */
function cellsOf(rows: readonly Row[], columns: Column[]): FoundCell[][] {
  const firstFull = rows.findIndex(
    ({ entries }) => new Set(entries.map(({ first }) => first)).size >= 0.75 * columns.length,
  );
  const [left, right] = [columns[0]?.left ?? 0, columns.at(-1)?.right ?? 0];
  const below = rows.slice(Math.max(0, firstFull)).flatMap(({ entries }) => entries);
  const body = columns.map((column, index) => {
    const own = below.filter(({ first, last }) => first === index && last === index).map(({ chunk }) => chunk);
    return own.length > 0 ? around(own) : column;
  });
  return rows.map((row, index) => {
    let entries = row.entries;
    const [only] = entries;
    const isCentred =
      entries.length === 1 &&
      only &&
      Math.abs(only.chunk.left + only.chunk.right - left - right) < 0.03 * (right - left);
    if (isCentred && columns.length > 2) entries = [{ ...only, first: 0, last: columns.length - 1 }];
    else if (index < firstFull && entries.length < columns.length - 1) entries = spread(entries, body);
    const cells: FoundCell[] = [];
    const sorted = entries.toSorted((one, other) => one.first - other.first || other.last - one.last);
    let column = 0;
    for (let at = 0; at < sorted.length; ) {
      const { first = 0 } = sorted[at] ?? {};
      let { last = 0 } = sorted[at] ?? {};
      const own: Entry[] = [];
      for (; (sorted[at]?.first ?? Infinity) <= last; at++) {
        const entry = sorted[at];
        if (!entry) break;
        own.push(entry);
        last = Math.max(last, entry.last);
      }
      for (; column < first; column++) cells.push({ lines: [], columns: 1, rows: 1 });
      cells.push({ lines: own.flatMap(({ chunk }) => segmentOfChunk(chunk)), columns: last - first + 1, rows: 1 });
      column = last + 1;
    }
    for (; column < columns.length; column++) cells.push({ lines: [], columns: 1, rows: 1 });
    return cells;
  });
}

/** Extends titles over the columns that they are in the middle of. */
function spread(entries: Entry[], columns: Column[]): Entry[] {
  const sorted = entries.toSorted((one, other) => one.first - other.first);
  return sorted.map((entry, index) => {
    const from = (sorted[index - 1]?.last ?? -1) + 1;
    const to = (sorted[index + 1]?.first ?? columns.length) - 1;
    const center = entry.chunk.left + entry.chunk.right;
    const off = (first: number, last: number) =>
      Math.abs((columns[first]?.left ?? 0) + (columns[last]?.right ?? 0) - center) / 2;
    const own = columns[entry.first];
    const width = entry.chunk.right - entry.chunk.left;
    const isAligned = own && (Math.abs(own.left - entry.chunk.left) < 2 || Math.abs(own.right - entry.chunk.right) < 2);
    if (entry.first !== entry.last || isAligned) return entry;
    let best = { ...entry, distance: Math.max(6, 0.3 * width) };
    for (let first = Math.max(from, entry.first - 3); first <= entry.first; first++)
      for (let last = entry.last; last <= Math.min(to, entry.last + 3); last++) {
        if (first === last) continue;
        const distance = off(first, last);
        if (distance < best.distance && distance < off(entry.first, entry.last))
          best = { ...entry, first, last, distance };
      }
    return best;
  });
}

function segmentOfChunk({ words }: Chunk): Segment[] {
  const segment = segmentOf(rejoined(words));
  return segment ? [segment] : [];
}

function tableOf(lines: readonly Line[], columns: Column[], rules: readonly number[]): FoundTable {
  return { ...around(lines), rows: cellsOf(rowsOf(lines, columns, rules), columns) };
}

/** Finds tables between rules or stripes of the same extent. Returns them and the spans that are in none. */
export function bandedTables(spans: Span[], { horizontal }: Rulings): { tables: FoundTable[]; rest: Span[] } {
  const tables: FoundTable[] = [];
  const taken = new Set<Span>();
  const sorted = spans.toSorted((one, other) => middle(one) - middle(other));
  let budget = maxCompared;
  for (const rules of alike(horizontal)) {
    const [left, right] = [Math.min(...rules.map(({ from }) => from)), Math.max(...rules.map(({ to }) => to))];
    const ys = rules.map(({ at }) => at);
    const all = between(sorted, (ys[0] ?? 0) - aboveRoom, Infinity);
    budget -= all.length;
    if (budget < 0) break;
    const near = all.filter(
      (span) =>
        !taken.has(span) &&
        span.right > left - 3 &&
        span.left < right + 3 &&
        middleX(span) > left &&
        middleX(span) < right,
    );
    const lines = linesOf(near);
    for (const { from, to } of bandsOf(lines, ys, right - left)) {
      const found = bandTable(lines, ys.slice(from, to + 1), left, right);
      if (!found) continue;
      tables.push(found.table);
      for (const line of found.lines)
        for (const { words } of line.chunks) for (const word of words) taken.add(word.origin ?? word);
    }
  }
  return { tables, rest: taken.size === 0 ? spans : spans.filter((span) => !taken.has(span)) };
}

function middleX({ left, right }: Area): number {
  return (left + right) / 2;
}

/** Returns what is between two heights. */
function between<Kind extends Area>(sorted: Kind[], top: number, bottom: number): Kind[] {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const half = (low + high) >> 1;
    const item = sorted[half];
    if (item && middle(item) < top) low = half + 1;
    else high = half;
  }
  let end = low;
  while (end < sorted.length && middle(sorted[end] ?? { left: 0, top: 0, right: 0, bottom: 0 }) <= bottom) end += 1;
  return sorted.slice(low, end);
}

/** Groups rules that begin and end at the same places, from the top. */
function alike(horizontal: readonly Rule[]): Rule[][] {
  const groups: Rule[][] = [];
  for (const rule of horizontal.toSorted((one, other) => one.at - other.at)) {
    if (rule.to - rule.from < 60) continue;
    const group = groups.find(
      ([first]) => first && Math.abs(first.from - rule.from) < 8 && Math.abs(first.to - rule.to) < 8,
    );
    if (group) group.push(rule);
    else groups.push([rule]);
  }
  return groups.filter(({ length }) => length > 1);
}

/** Returns runs of rules that have rows of a table between them, and not paragraphs. */
function bandsOf(lines: Line[], rules: number[], width: number): { from: number; to: number }[] {
  const bands: { from: number; to: number }[] = [];
  let from = 0;
  for (let index = 1; index <= rules.length; index++) {
    const [above, below] = [rules[index - 1] ?? 0, rules[index]];
    const isTable = below !== undefined && isBand(between(lines, above, below), above, below, width);
    if (isTable) continue;
    if (index - 1 > from) bands.push({ from, to: index - 1 });
    from = index;
  }
  return bands;
}

function isBand(lines: Line[], above: number, below: number, width: number): boolean {
  if (lines.length === 0) return below - above < 30;
  const size = lines[0]?.size ?? 10;
  const left = around(lines).left;
  const isText = (line: Line | undefined) => line !== undefined && isProse(line, left, width);
  for (const [index, line] of lines.entries()) {
    const before = lines[index - 1];
    if ((isText(line) && (isText(before) || lines.length < 3)) || (before && line.top - before.bottom > 2.2 * size))
      return false;
  }
  const several = lines.filter(({ chunks }) => chunks.length > 1).length;
  const [first, last] = [lines[0], lines.at(-1)];
  const room = Math.max((first?.top ?? 0) - above, below - (last?.bottom ?? 0));
  return several > 0 ? several >= 0.2 * lines.length : lines.length < 3 && room < 1.2 * size;
}

/** Returns whether a line is of a paragraph: it begins at the left and is long. */
function isProse(line: Line, left: number, width: number): boolean {
  const [first, second] = line.chunks;
  if (!first || second) return false;
  return first.left < left + 0.15 * width && first.right - first.left > 0.6 * width && first.text.length > 45;
}

function bandTable(
  lines: readonly Line[],
  rules: number[],
  left: number,
  right: number,
): { table: FoundTable; lines: Line[] } | undefined {
  const [top, bottom] = [rules[0] ?? 0, rules.at(-1) ?? 0];
  const first = lines.findIndex((line) => middle(line) > top);
  const inside = lines.filter((line) => middle(line) > top && middle(line) < bottom);
  if (inside.length === 0 || !inside.some(({ chunks }) => chunks.length > 1)) return undefined;
  // A single row is a head: the lines below it are found as those of a table without rules.
  const own = columnsOf(inside);
  if (rowsOf(inside, own, rules).length < 2) return undefined;
  const used = [...inside];
  const fits = (line: Line, next: Line) => {
    const gap = next.top > line.top ? next.top - line.bottom : line.top - next.bottom;
    if (gap > 1.7 * line.size || isProse(line, left, right - left)) return false;
    if (line.chunks.length > 1) return new Set(entriesOf(line, own).map((entry) => entry.first)).size > 1;
    return line.top < next.top && line.left > (own[0]?.right ?? Infinity);
  };
  // The head may be above the first stripe, and the last row below the last one.
  for (let at = first - 1; at >= 0 && first - at < 4; at--) {
    const [line, next] = [lines[at], used[0]];
    if (!line || !next || !fits(line, next)) break;
    used.unshift(line);
  }
  let pending: Line[] = [];
  for (let at = first + inside.length; at < lines.length && pending.length < 6; at++) {
    const [line, next] = [lines[at], pending.at(-1) ?? used.at(-1)];
    if (!line || !next) break;
    if (fits(line, next)) {
      used.push(...pending, line);
      pending = [];
    } else if (
      line.chunks.length === 1 &&
      line.top - next.bottom < 0.6 * line.size &&
      !isProse(line, left, right - left)
    )
      pending.push(line);
    else break;
  }
  used.push(...continuationsOf(used, pending));
  const columns = columnsOf(used);
  if (columns.length < 2) return undefined;
  const table = tableOf(used, columns, rules);
  if (table.rows.length < 2 || isSpoiled(used, columns)) return undefined;
  return { table: { ...table, left: Math.min(left, table.left), right: Math.max(right, table.right) }, lines: used };
}

/** Returns whether many texts are in several columns: then these are no columns. */
function isSpoiled(lines: readonly Line[], columns: Column[]): boolean {
  const entries = lines.filter(({ chunks }) => chunks.length > 1).flatMap((line) => entriesOf(line, columns));
  return entries.filter(({ first, last }) => first !== last).length > 0.25 * entries.length;
}

/** Finds tables without rules: rows of texts in the same columns, one below the other. */
export function plainTables(spans: Span[], { horizontal }: Rulings): { tables: FoundTable[]; rest: Span[] } {
  const lines = linesOf(spans);
  const tables: FoundTable[] = [];
  const taken = new Set<Span>();
  let run: Line[] = [];
  let pending: Line[] = [];
  const close = () => {
    const found = run.length > 1 ? plainTable(run, pending, horizontal) : undefined;
    if (found) {
      tables.push(found.table);
      for (const { chunks } of found.lines)
        for (const { words } of chunks) for (const word of words) taken.add(word.origin ?? word);
    }
    [run, pending] = [[], []];
  };
  for (const line of lines) {
    const before = pending.at(-1) ?? run.at(-1);
    const isWide = () => {
      const { left, right } = around(run.slice(-8));
      return isProse(line, left, right - left);
    };
    if (before && line.top - before.bottom > 2.2 * line.size) close();
    if (line.chunks.length > 1) {
      run.push(...pending, line);
      pending = [];
    } else if (run.length === 0) pending = isTitle(line) ? [line] : [];
    else if (pending.length < 4 && !isWide()) pending.push(line);
    else close();
    if (run.length === 0 && line.chunks.length === 1) pending = [line];
  }
  close();
  return { tables, rest: taken.size === 0 ? spans : spans.filter((span) => !taken.has(span)) };
}

function isTitle({ text }: Line): boolean {
  return text.length < 60;
}

function plainTable(
  run: Line[],
  after: Line[],
  horizontal: readonly Rule[],
): { table: FoundTable; lines: Line[] } | undefined {
  let lines = run;
  // A line above is a title over columns, if it is not at the left.
  const several = lines.filter(({ chunks }) => chunks.length > 1);
  const columns = columnsOf(several);
  const [left, right] = [columns[0]?.right ?? 0, columns.at(-1)?.right ?? 0];
  while (lines[0]?.chunks.length === 1 && !(lines[0].left > left && lines[0].right <= right)) lines = lines.slice(1);
  lines = [...lines, ...continuationsOf(lines, after)];
  const area = around(lines);
  const rules = horizontal.filter(
    ({ at, from, to }) =>
      at > area.top - 4 && at < area.bottom + 4 && from < area.left + 12 && to > area.right - 12 && to - from > 40,
  );
  if (!isTable(lines, several, columns, rules.length > 0)) return undefined;
  const table = tableOf(
    lines,
    columns,
    rules.map(({ at }) => at),
  );
  const cells = table.rows.flat();
  if (table.rows.length < 2 || cells.filter((cell) => cell.lines.length > 0).length < 0.4 * cells.length)
    return undefined;
  const chunks = lines.flatMap((line) => line.chunks);
  const isIndex = chunks.filter(({ text }) => isIndexEntry(text)).length > 0.6 * chunks.length;
  return { table: { ...table, isIndex }, lines };
}

const listed = /^(?:[•◦▪‣●○■–*-]|\(?(?:\d{1,3}|[a-z])[.)])$/;

function isTable(lines: Line[], several: Line[], columns: Column[], hasRule: boolean): boolean {
  if (columns.length < 2 || several.length < 2 || several.length < 0.34 * lines.length) return false;
  if (isSpoiled(several, columns)) return false;
  const gaps = several
    .flatMap(({ chunks, size }) =>
      chunks.slice(1).map((chunk, index) => (chunk.left - (chunks[index]?.right ?? 0)) / size),
    )
    .sort((one, other) => one - other);
  const gap = gaps[Math.floor(gaps.length / 2)] ?? 0;
  const least = hasRule ? 0.6 : several.length === 2 ? 3 : 0.9;
  if (gap < least) return false;
  if (several.every(({ chunks }) => listed.test(chunks[0]?.text ?? ''))) return false;
  if (!isAligned(several, columns)) return false;
  // Columns of prose are no table.
  const entries = lines.flatMap((line) => entriesOf(line, columns));
  const prose = columns.filter((_, index) => {
    const own = entries.filter(({ first, last }) => first === index && last === index);
    return own.reduce((sum, { chunk }) => sum + chunk.text.length, 0) / Math.max(1, own.length) > 32;
  }).length;
  if (prose > 1) return false;
  if (columns.length === 2 && prose === 1 && !hasRule && isGlossary(lines, columns)) return false;
  return true;
}

/** Returns whether most columns have texts that begin, end or have their middle at the same place. */
function isAligned(lines: Line[], columns: Column[]): boolean {
  const entries = lines.flatMap((line) => entriesOf(line, columns));
  const aligned = columns.filter((_, index) => {
    const own = entries.filter(({ first, last }) => first === index && last === index).map(({ chunk }) => chunk);
    return [(chunk: Area) => chunk.left, (chunk: Area) => chunk.right, middleX].some((edge) => {
      const values = own.map(edge).sort((one, other) => one - other);
      let most = 0;
      for (let [from, to] = [0, 0]; to < values.length; to++) {
        while ((values[to] ?? 0) - (values[from] ?? 0) > 3) from += 1;
        most = Math.max(most, to - from + 1);
      }
      return most >= Math.max(2, 0.5 * own.length);
    });
  });
  return aligned.length >= 0.6 * columns.length;
}

/** Terms with sentences next to them. */
function isGlossary(lines: Line[], columns: Column[]): boolean {
  const second = lines.flatMap((line) => entriesOf(line, columns)).filter(({ first }) => first === 1);
  const ends = second.filter(({ chunk }) => /[.;:!?]["”’)]?$/.test(chunk.text)).length;
  return ends >= 0.3 * second.length;
}
