import { type Area, around, type Segment } from './spans.ts';

/** What is on a page, with its place. */
export type Placed = Area & { segment?: Segment };

const maxDepth = 6;

/** Returns what is on a page in groups, in the order in which it is read: columns from left to right. */
export function readingOrder<Kind extends Placed>(items: Kind[], isRightToLeft: boolean, depth = 0): Kind[][] {
  const gutter = depth < maxDepth ? gutterOf(items) : undefined;
  if (gutter === undefined) return items.length > 0 ? [fromTop(items)] : [];
  const across = fromTop(items.filter(({ left, right }) => left < gutter && right > gutter));
  const groups: Kind[][] = [];
  const sides = items.filter(({ left, right }) => !(left < gutter && right > gutter));
  let top = -Infinity;
  const addBand = (bottom: number) => {
    const band = sides.filter((item) => middle(item) > top && middle(item) <= bottom);
    const left = band.filter(({ right }) => right <= gutter);
    const right = band.filter((item) => !left.includes(item));
    const columns = isRightToLeft ? [right, left] : [left, right];
    for (const column of columns) groups.push(...readingOrder(column, isRightToLeft, depth + 1));
  };
  for (const item of across) {
    if (middle(item) > top && sides.some((side) => middle(side) > top && middle(side) <= middle(item))) {
      addBand(middle(item));
      groups.push([]);
    }
    top = Math.max(top, middle(item));
    const last = groups.at(-1);
    if (last && groups.length > 0 && last.every((each) => across.includes(each))) last.push(item);
    else groups.push([item]);
  }
  addBand(Infinity);
  return groups.filter((group) => group.length > 0);
}

function middle({ top, bottom }: Area): number {
  return (top + bottom) / 2;
}

function fromTop<Kind extends Area>(items: Kind[]): Kind[] {
  return items.toSorted((one, other) => middle(one) - middle(other));
}

/** Finds a strip without text that has columns of prose at both sides. */
function gutterOf(items: Placed[], depth = 0): number | undefined {
  if (items.length < 6 || depth > 2) return undefined;
  const { left, right } = around(items);
  const width = right - left;
  if (width < 150) return undefined;
  let best: { x: number; crossing: number; width: number } | undefined;
  // The count changes only at edges of items.
  const edges = [...new Set(items.map((item) => Math.ceil(item.right)))].filter(
    (x) => x > left + 0.15 * width && x < right - 0.15 * width,
  );
  for (const edge of edges.slice(0, 400)) {
    const x = edge + 2;
    const crossing = items.filter((item) => item.left < x && item.right > x).length;
    const next = items.reduce((least, item) => (item.left >= x ? Math.min(least, item.left) : least), right);
    const strip = next - edge;
    if (strip < 5) continue;
    if (!best || crossing < best.crossing || (crossing === best.crossing && strip > best.width))
      best = { x, crossing, width: strip };
  }
  if (!best || best.crossing > 0.45 * items.length) return undefined;
  const { x } = best;
  const [before, after] = besides(items, x);
  if (!isSideBySide(before, after)) return undefined;
  const [one, other] = [before, after].map((side) => isColumn(side) || gutterOf(side, depth + 1) !== undefined);
  if (one && other) return x;
  // Next to a table, the lines of another column are at other heights than its rows.
  return (one || other) && !areLevel(before, after) ? x : undefined;
}

/** Returns what is at the left and at the right of a strip, of those parts between items across it that have both. */
function besides(items: Placed[], x: number): [Placed[], Placed[]] {
  const across = fromTop(items.filter(({ left, right }) => left < x && right > x)).map(middle);
  const bands = new Map<number, [Placed[], Placed[]]>();
  let band = 0;
  for (const item of fromTop(items)) {
    while ((across[band] ?? Infinity) < middle(item)) band += 1;
    const sides = bands.get(band) ?? [[], []];
    bands.set(band, sides);
    if (item.right <= x) sides[0].push(item);
    else if (item.left >= x) sides[1].push(item);
  }
  const both = [...bands.values()]
    .filter(([before, after]) => before.length > 0 && after.length > 0)
    .map((sides) => {
      const [one, other] = [around(sides[0]), around(sides[1])];
      const [top, bottom] = [Math.max(one.top, other.top), Math.min(one.bottom, other.bottom)];
      return sides.map((side) => side.filter((item) => middle(item) > top && middle(item) < bottom));
    });
  return [both.flatMap(([before = []]) => before), both.flatMap(([, after = []]) => after)];
}

const wide = /[\u3000-\u30ff\u3400-\u9fff\uac00-\ud7a3]{5}/;

/** Returns whether a line is words with the numbers of their pages. */
export function isIndexEntry(text: string): boolean {
  return /\p{L}.*,\s*\d+(?:[-–]\d+)?$/u.test(text);
}

/** Returns whether it is an index, or most of the text is in lines of a sentence that reach from one side to the other. */
function isColumn(items: Placed[]): boolean {
  const lines = items.flatMap(({ segment }) => (segment ? [segment] : []));
  if (lines.length < 3) return false;
  const { left, right } = around(lines);
  const full = lines.filter((line) => line.right - line.left > 0.7 * (right - left));
  if (lines.length > 4 && lines.filter(({ text }) => isIndexEntry(text)).length > 0.6 * lines.length) return true;
  const letters = (list: Segment[]) => list.reduce((sum, { text }) => sum + text.length, 0);
  const words = full.reduce((sum, { text }) => sum + text.split(' ').length, 0);
  if (full.length < 3 || letters(full) < 0.4 * letters(lines)) return false;
  // Sentences go on in the next line; Chinese and Japanese are written without spaces.
  const flowing = full.filter(({ text }) => /^\p{Ll}/u.test(text)).length;
  return (
    words > 3.6 * full.length ||
    (words > 2.2 * full.length && flowing > 0.5 * full.length) ||
    (letters(full) > 12 * words && full.every(({ text }) => wide.test(text)))
  );
}

/** Returns whether most rows at one side have a line at the other side at the same height. */
function areLevel(before: Placed[], after: Placed[]): boolean {
  const [one, other] = [before, after].map((side) => new Set(side.map(({ bottom }) => Math.round(bottom))));
  if (!one || !other) return false;
  const share = (heights: Set<number>, others: Set<number>) =>
    [...heights].filter((height) => [-1, 0, 1].some((off) => others.has(height + off))).length / heights.size;
  return Math.max(share(one, other), share(other, one)) > 0.7;
}

function isSideBySide(before: Placed[], after: Placed[]): boolean {
  const [one, other] = [around(before), around(after)];
  const overlap = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
  return overlap > 0.25 * Math.min(one.bottom - one.top, other.bottom - other.top);
}
