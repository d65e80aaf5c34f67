import type { Rule, Rulings } from './rulings.ts';
import { type Area, around, type Segment, type Span, segmentsOf } from './spans.ts';

/** A table on a page: for each cell its lines. */
export interface FoundTable extends Area {
  rows: FoundCell[][];
}

export interface FoundCell {
  lines: Segment[];
  columns: number;
  rows: number;
}

const near = 4;

/** Finds the tables whose cells have rules around them. Returns them and the spans that are in none. */
export function ruledTables(spans: Span[], rulings: Rulings): { tables: FoundTable[]; rest: Span[] } {
  let rest = spans;
  const tables: FoundTable[] = [];
  for (const { horizontal, vertical } of connected(rulings)) {
    const grid = gridOf(horizontal, vertical);
    if (!grid) continue;
    const { left, top, right, bottom } = grid;
    const inside = rest.filter((span) => {
      const [x, y] = [(span.left + span.right) / 2, (span.top + span.bottom) / 2];
      return x > left && x < right && y > top && y < bottom && span.text.trim() !== '';
    });
    const rows = fill(
      grid,
      inside.flatMap((span) => divided(span, grid.xs)),
    );
    // A frame around text, or the axes of a diagram, is no table.
    const filled = rows.flat().filter(({ lines }) => lines.length > 0).length;
    const columns = grid.xs.length - 1;
    const isFrame = columns === 1 ? rows.length < 3 : filled < 2;
    if (inside.length === 0 || isFrame || filled < 0.25 * rows.flat().length) continue;
    tables.push({ left, top, right, bottom, rows });
    const taken = new Set(inside);
    rest = rest.filter((span) => !taken.has(span));
  }
  return { tables, rest };
}

/** Divides text that goes on over a rule, which happens between narrow cells, at the space next to it. */
function divided(span: Span, xs: number[]): Span[] {
  const x = xs.find((each) => each > span.left + 3 && each < span.right - 3);
  if (x === undefined) return [span];
  const { left, right, text } = span;
  const width = (right - left) / text.length;
  const middle = (x - left) / width;
  const spaces = [...text.matchAll(/\s+/g)].map(({ index }) => index);
  const nearest = spaces.reduce((best, at) => (Math.abs(at - middle) < Math.abs(best - middle) ? at : best), -Infinity);
  if (Math.abs(nearest - middle) > 5 || nearest <= 0) return [span];
  const first = { ...span, right: Math.min(x, left + nearest * width), text: text.slice(0, nearest) };
  const rest = { ...span, left: Math.max(x, left + (nearest + 1) * width), text: text.slice(nearest + 1) };
  return [first, ...divided(rest, xs)];
}

/** Groups rules that cross or touch. */
function connected({ horizontal, vertical }: Rulings): Rulings[] {
  const groups = horizontal.map((): number => -1);
  const sets: Rulings[] = [];
  for (const rule of vertical) {
    const touched = horizontal.flatMap((other, index) => (crosses(other, rule) ? [index] : []));
    if (touched.length === 0) continue;
    const known = [...new Set(touched.map((index) => groups[index] ?? -1).filter((group) => group >= 0))];
    const [first = sets.push({ horizontal: [], vertical: [] }) - 1, ...others] = known;
    const set = sets[first];
    if (!set) continue;
    set.vertical.push(rule);
    for (const other of others) {
      set.vertical.push(...(sets[other]?.vertical.splice(0) ?? []));
      for (const [index, group] of groups.entries()) if (group === other) groups[index] = first;
    }
    for (const index of touched) groups[index] = first;
  }
  for (const [index, group] of groups.entries()) {
    const rule = horizontal[index];
    if (group >= 0 && rule) sets[group]?.horizontal.push(rule);
  }
  return sets.filter((set) => set.horizontal.length >= 2 && set.vertical.length > 0);
}

function crosses(horizontal: Rule, vertical: Rule): boolean {
  return (
    vertical.at >= horizontal.from - near &&
    vertical.at <= horizontal.to + near &&
    horizontal.at >= vertical.from - near &&
    horizontal.at <= vertical.to + near
  );
}

interface Grid extends Area {
  xs: number[];
  ys: number[];
  horizontal: Rule[];
  vertical: Rule[];
}

const maxLines = 1_000;

function gridOf(horizontal: Rule[], vertical: Rule[]): Grid | undefined {
  const xs = distinct(vertical.map(({ at }) => at));
  const ys = distinct(horizontal.map(({ at }) => at));
  const { left, right } = horizontal.reduce(
    (most, { from, to }) => ({ left: Math.min(most.left, from), right: Math.max(most.right, to) }),
    { left: Infinity, right: -Infinity },
  );
  // A table may be open at its sides.
  if ((xs[0] ?? 0) - left > 12) xs.unshift(left);
  if (right - (xs.at(-1) ?? 0) > 12) xs.push(right);
  if (xs.length < 2 || ys.length < 2 || xs.length > maxLines || ys.length > maxLines) return undefined;
  return {
    xs,
    ys,
    horizontal,
    vertical,
    left: xs[0] ?? 0,
    right: xs.at(-1) ?? 0,
    top: ys[0] ?? 0,
    bottom: ys.at(-1) ?? 0,
  };
}

function distinct(values: number[]): number[] {
  const result: number[] = [];
  for (const value of values.toSorted((one, other) => one - other))
    if (value - (result.at(-1) ?? -Infinity) > near + 1) result.push(value);
  return result;
}

/** Puts text into the cells of a grid, joined if there is no rule between them. */
function fill({ xs, ys, horizontal, vertical }: Grid, spans: Span[]): FoundCell[][] {
  const [columns, rows] = [xs.length - 1, ys.length - 1];
  const isClosed = (rules: Rule[], at: number, from: number, to: number) => {
    const covered = rules
      .filter((rule) => Math.abs(rule.at - at) <= near)
      .reduce((sum, rule) => sum + Math.max(0, Math.min(rule.to, to) - Math.max(rule.from, from)), 0);
    return covered > 0.6 * (to - from);
  };
  const at = (list: number[], index: number) => list[index] ?? 0;
  const taken = new Set<number>();
  const cells: { row: number; column: number; rows: number; columns: number; spans: Span[] }[] = [];
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++) {
      if (taken.has(row * columns + column)) continue;
      const [top, bottom] = [at(ys, row), at(ys, row + 1)];
      let wide = 1;
      while (
        column + wide < columns &&
        !taken.has(row * columns + column + wide) &&
        !isClosed(vertical, at(xs, column + wide), top, bottom)
      )
        wide += 1;
      let high = 1;
      while (row + high < rows && !isClosed(horizontal, at(ys, row + high), at(xs, column), at(xs, column + wide))) {
        // Only a rectangle is a cell.
        const inner = Array.from({ length: wide - 1 }, (_, index) => at(xs, column + index + 1));
        if (inner.some((x) => isClosed(vertical, x, at(ys, row + high), at(ys, row + high + 1)))) break;
        high += 1;
      }
      for (let y = row; y < row + high; y++) for (let x = column; x < column + wide; x++) taken.add(y * columns + x);
      cells.push({ row, column, rows: high, columns: wide, spans: [] });
    }
  for (const span of spans) {
    const [x, y] = [(span.left + span.right) / 2, (span.top + span.bottom) / 2];
    cells
      .find(
        (cell) =>
          x >= at(xs, cell.column) &&
          x < at(xs, cell.column + cell.columns) &&
          y >= at(ys, cell.row) &&
          y < at(ys, cell.row + cell.rows),
      )
      ?.spans.push(span);
  }
  const table = Array.from({ length: rows }, (_, row) =>
    cells
      .filter((cell) => cell.row === row)
      .map((cell) => ({ lines: inOrder(segmentsOf(cell.spans)), columns: cell.columns, rows: cell.rows })),
  );
  return table.filter((row) => row.length > 0);
}

export function inOrder<Kind extends Area>(areas: Kind[]): Kind[] {
  return areas.toSorted((one, other) => {
    const overlap = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
    const isBeside = overlap > 0.5 * Math.min(one.bottom - one.top, other.bottom - other.top);
    return isBeside ? one.left - other.left : one.top - other.top;
  });
}

/** Groups segments that are next to each other, from the top. */
export function rowsOf(segments: readonly Segment[]): Segment[][] {
  const rows: Segment[][] = [];
  for (const segment of segments.toSorted((one, other) => one.top + one.bottom - other.top - other.bottom)) {
    const row = rows.at(-1);
    const middle = (segment.top + segment.bottom) / 2;
    const isIn = row?.some((other) => middle > other.top && middle < other.bottom);
    if (row && isIn) row.push(segment);
    else rows.push([segment]);
  }
  return rows.map((row) => row.toSorted((one, other) => one.left - other.left));
}

/** Finds tables between rules of the same length, as in books: above, below and under the head. */
export function bookTables(segments: Segment[], { horizontal }: Rulings): { tables: FoundTable[]; rest: Segment[] } {
  let rest = segments;
  const tables: FoundTable[] = [];
  const groups: Rule[][] = [];
  for (const rule of horizontal.toSorted((one, other) => one.at - other.at)) {
    if (rule.to - rule.from < 60) continue;
    const group = groups.find(
      ([first]) => first && Math.abs(first.from - rule.from) < 8 && Math.abs(first.to - rule.to) < 8,
    );
    if (group) group.push(rule);
    else groups.push([rule]);
  }
  for (const rules of groups) {
    const [first, last] = [rules[0], rules.at(-1)];
    if (!first || !last || rules.length < 2) continue;
    const area = { left: first.from - 3, right: first.to + 3, top: first.at - 2, bottom: last.at + 2 };
    const inside = rest.filter((segment) => isInside(segment, area));
    // Rules at the top and bottom of a page have all of its text between them.
    const letters = inside.reduce((sum, { text }) => sum + text.length, 0) / Math.max(1, inside.length);
    const rows =
      letters < 45
        ? tableRows(
            inside,
            rules.map(({ at }) => at),
          )
        : undefined;
    if (!rows || rows.length < 2) continue;
    tables.push({ ...area, rows });
    const taken = new Set(inside);
    rest = rest.filter((segment) => !taken.has(segment));
  }
  return { tables, rest };
}

function isInside(inner: Area, outer: Area): boolean {
  const y = (inner.top + inner.bottom) / 2;
  return inner.left >= outer.left - 2 && inner.right <= outer.right + 2 && y > outer.top && y < outer.bottom;
}

/** Returns the cells of rows whose columns have white between them; undefined if these are no table. */
export function tableRows(segments: Segment[], rules: number[] = []): FoundCell[][] | undefined {
  const rows = rowsOf(segments);
  const several = rows.filter((row) => row.length > 1);
  const isFramed = rules.length > 2 && several.length > 0;
  if (!isFramed && (several.length < 2 || several.length < 0.4 * rows.length)) return undefined;
  const columns = columnsOf(several.flat());
  if (columns.length < 2) return undefined;
  // The gaps of justified lines are not below each other.
  const across = several.flat().filter((segment) => columns.filter((column) => isIn(segment, column)).length > 1);
  if (across.length > 0.25 * several.flat().length) return undefined;
  const table: { cells: FoundCell[]; bottom: number; size: number }[] = [];
  // Rules between all rows say which lines belong together.
  const inner = rules.slice(1, -1);
  const complete = rows.filter((row) => row.length >= columns.length).length;
  const isByRules = inner.length >= 3 && (inner.length >= rows.length / 3 || complete < 0.5 * rows.length);
  for (const row of rows) {
    const cells = cellsOf(row, columns);
    const top = around(row).top;
    const last = table.at(-1);
    const isApart = last && inner.some((at) => at > last.bottom - 3 && at < top + 3);
    const isEmptyFirst = cells[0]?.lines.length === 0;
    const isClose = last !== undefined && top - last.bottom < 0.45 * last.size;
    const goesOn = last && !isApart && (isByRules || (isEmptyFirst && isClose && table.length > 1));
    if (goesOn && cells.length === last.cells.length) {
      for (const [index, cell] of cells.entries()) last.cells[index]?.lines.push(...cell.lines);
      last.bottom = around(row).bottom;
    } else table.push({ cells, bottom: around(row).bottom, size: row[0]?.size ?? 10 });
  }
  return table.map(({ cells }) => cells);
}

function isIn(segment: Segment, [from, to]: [number, number]): boolean {
  return segment.left < to - 1 && segment.right > from + 1;
}

/** Returns the extents of columns: segments that overlap are in one, unless one spans several. */
function columnsOf(segments: Segment[]): [number, number][] {
  const count = (list: [number, number][], segment: Segment) => list.filter((column) => isIn(segment, column)).length;
  const sorted = segments.toSorted((one, other) => one.right - one.left - (other.right - other.left));
  // The narrow ones first: a header over two columns must not join them.
  let columns: [number, number][] = [];
  for (const segment of sorted) {
    if (count(columns, segment) > 1) continue;
    const own = columns.find((column) => isIn(segment, column));
    if (own) {
      own[0] = Math.min(own[0], segment.left);
      own[1] = Math.max(own[1], segment.right);
    } else columns.push([segment.left, segment.right]);
    columns = columns.filter((column) => column === own || !own || column[1] <= own[0] + 1 || column[0] >= own[1] - 1);
  }
  return columns.sort(([one], [other]) => one - other);
}

function cellsOf(row: Segment[], columns: [number, number][]): FoundCell[] {
  const cells: FoundCell[] = [];
  let column = 0;
  for (const segment of row) {
    const touched = columns.flatMap(([from, to], index) =>
      segment.left < to - 1 && segment.right > from + 1 ? [index] : [],
    );
    const nearest = columns.findIndex(([, to]) => segment.left <= to);
    const first = Math.max(column, touched[0] ?? (nearest < 0 ? columns.length - 1 : nearest));
    const last = Math.min(columns.length - 1, Math.max(first, touched.at(-1) ?? first));
    if (first >= columns.length) {
      cells.at(-1)?.lines.push(segment);
      continue;
    }
    while (column < first) {
      cells.push({ lines: [], columns: 1, rows: 1 });
      column += 1;
    }
    cells.push({ lines: [segment], columns: last - first + 1, rows: 1 });
    column = last + 1;
  }
  while (column < columns.length) {
    cells.push({ lines: [], columns: 1, rows: 1 });
    column += 1;
  }
  return cells;
}

/** Finds tables without rules: rows of short texts in the same columns, one below the other. */
export function plainTables(segments: Segment[]): { tables: FoundTable[]; rest: Segment[] } {
  const rows = rowsOf(segments);
  const tables: FoundTable[] = [];
  const taken = new Set<Segment>();
  let run: Segment[][] = [];
  const close = () => {
    while ((run.at(-1)?.length ?? 2) < 2) run.pop();
    const all = run.flat();
    const isShort = all.reduce((sum, { text }) => sum + text.length, 0) / Math.max(1, all.length) < 35;
    const full = run.filter((row) => row.length > 1);
    const isList = full.every(([first]) => first && /^(?:[•◦▪‣●○■–*-]|\(?(?:\d{1,3}|[a-z])[.)])$/.test(first.text));
    const isTable = full.length >= 3 ? gapOf(full) > 1.3 : full.length === 2 && full.every(isWideApart);
    const cells = isTable && isShort && !isList ? tableRows(all) : undefined;
    const filled = cells?.flat().filter(({ lines }) => lines.length > 0).length ?? 0;
    if (cells && cells.length > 1 && filled > 0.45 * cells.flat().length) {
      tables.push({ ...around(all), rows: cells });
      for (const segment of all) taken.add(segment);
    }
    run = [];
  };
  for (const row of rows) {
    const above = run.at(-1);
    const gap = above ? around(row).top - around(above).bottom : 0;
    const size = row[0]?.size ?? 10;
    if (gap > 2.2 * size) close();
    const [only] = row;
    const isContinuation =
      row.length === 1 && run.length > 0 && only && gap < 0.6 * size && isUnderColumn(only, run[0] ?? []);
    if (row.length > 1 || isContinuation) run.push(row);
    else close();
  }
  close();
  return { tables, rest: segments.filter((segment) => !taken.has(segment)) };
}

/** Returns the middle one of the gaps in rows, in relation to the size of their text. */
function gapOf(rows: Segment[][]): number {
  const gaps = rows.flatMap((row) =>
    row.slice(1).map((segment, index) => (segment.left - (row[index]?.right ?? 0)) / segment.size),
  );
  return gaps.sort((one, other) => one - other)[Math.floor(gaps.length / 2)] ?? 0;
}

function isWideApart([one, other]: Segment[]): boolean {
  return one !== undefined && other !== undefined && other.left - one.right > 4 * one.size;
}

function isUnderColumn(segment: Segment, first: Segment[]): boolean {
  return (
    first.filter((other) => segment.left < other.right && segment.right > other.left).length === 1 &&
    segment.text.length < 60
  );
}
