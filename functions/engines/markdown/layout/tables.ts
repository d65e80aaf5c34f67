import type { Rule, Rulings } from './rulings.ts';
import { type Area, rejoined, type Segment, type Span, segmentsOf, wordsOf } from './spans.ts';

/** A table on a page: for each cell its lines. */
export interface FoundTable extends Area {
  rows: FoundCell[][];
  /** Its columns are read one after the other. */
  isIndex?: boolean;
}

export interface FoundCell {
  lines: Segment[];
  columns: number;
  rows: number;
}

const near = 4;
/** More pairs of rules are a drawing. */
const maxPairs = 1_000_000;

/** Finds the tables whose cells have rules around them. Returns them and the spans that are in none. */
export function ruledTables(spans: Span[], rulings: Rulings): { tables: FoundTable[]; rest: Span[] } {
  let rest = spans;
  const tables: FoundTable[] = [];
  if (rulings.horizontal.length * rulings.vertical.length > maxPairs) return { tables, rest };
  for (const { horizontal, vertical } of connected(rulings)) {
    const grid = gridOf(horizontal, vertical);
    if (!grid || !isDivided(grid)) continue;
    const { left, top, right, bottom } = grid;
    const inside = rest.filter((span) => {
      const [x, y] = [(span.left + span.right) / 2, (span.top + span.bottom) / 2];
      return x > left && x < right && y > top && y < bottom && span.text.trim() !== '';
    });
    const rows = fill(
      grid,
      inside.flatMap((span) => (span.words ? wordsOf(span) : divided(span, grid.xs))),
    );
    // A frame around text, or the axes of a diagram, is no table.
    const filled = rows.flat().filter(({ lines }) => lines.length > 0).length;
    const isFrame = rows.length === 1 || filled < 2;
    if (inside.length === 0 || isFrame || filled < 0.25 * rows.flat().length) continue;
    tables.push({ left, top, right, bottom, rows });
    const taken = new Set(inside);
    rest = rest.filter((span) => !taken.has(span));
  }
  return { tables, rest };
}

/** Returns whether rules divide most rows into cells: stripes and rows have them in places. */
function isDivided({ xs, vertical, top, bottom, left, right }: Grid): boolean {
  const inner = xs.slice(1, -1);
  const covered = vertical
    .filter(({ at }) => at > left + near && at < right - near)
    .reduce((sum, { from, to }) => sum + to - from, 0);
  return covered > 0.4 * inner.length * (bottom - top);
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

const maxCells = 20_000;

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
  if (xs.length < 2 || ys.length < 2 || xs.length * ys.length > maxCells) return undefined;
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
  const nearTo = (rules: Rule[]) => (line: number) => rules.filter((rule) => Math.abs(rule.at - line) <= near);
  const [downs, acrosses] = [xs.map(nearTo(vertical)), ys.map(nearTo(horizontal))];
  const isClosed = (rules: Rule[] = [], from: number, to: number) => {
    const covered = rules.reduce(
      (sum, rule) => sum + Math.max(0, Math.min(rule.to, to) - Math.max(rule.from, from)),
      0,
    );
    return covered > 0.6 * (to - from);
  };
  const at = (list: number[], index: number) => list[index] ?? 0;
  const taken = new Map<number, number>();
  const cells: { row: number; column: number; rows: number; columns: number; spans: Span[] }[] = [];
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++) {
      if (taken.has(row * columns + column)) continue;
      const [top, bottom] = [at(ys, row), at(ys, row + 1)];
      let wide = 1;
      while (
        column + wide < columns &&
        !taken.has(row * columns + column + wide) &&
        !isClosed(downs[column + wide], top, bottom)
      )
        wide += 1;
      let high = 1;
      while (row + high < rows && !isClosed(acrosses[row + high], at(xs, column), at(xs, column + wide))) {
        // Only a rectangle is a cell.
        const inner = downs.slice(column + 1, column + wide);
        if (inner.some((rules) => isClosed(rules, at(ys, row + high), at(ys, row + high + 1)))) break;
        high += 1;
      }
      for (let y = row; y < row + high; y++)
        for (let x = column; x < column + wide; x++) taken.set(y * columns + x, cells.length);
      cells.push({ row, column, rows: high, columns: wide, spans: [] });
    }
  for (const span of spans) {
    const [x, y] = [(span.left + span.right) / 2, (span.top + span.bottom) / 2];
    const [column, row] = [xs.findLastIndex((each) => each <= x), ys.findLastIndex((each) => each <= y)];
    cells[taken.get(row * columns + column) ?? -1]?.spans.push(span);
  }
  const table = Array.from({ length: rows }, (_, row) =>
    cells
      .filter((cell) => cell.row === row)
      .map((cell) => ({ lines: inOrder(segmentsOf(rejoined(cell.spans))), columns: cell.columns, rows: cell.rows })),
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
    // Sorted by their middles: the last ones are the nearest.
    const isIn = row?.slice(-6).some((other) => middle > other.top && middle < other.bottom);
    if (row && isIn) row.push(segment);
    else rows.push([segment]);
  }
  return rows.map((row) => row.toSorted((one, other) => one.left - other.left));
}
