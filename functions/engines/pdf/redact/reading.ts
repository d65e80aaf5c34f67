import type { Piece } from './find.ts';
import { boundsOf, type Point, type Shape } from './shapes.ts';

/** A character on a page, or a word if that is all that is known. */
export interface Shown {
  id: number;
  /** Undefined if the font does not tell. */
  text: string | undefined;
  shape: Shape;
  start: Point;
  end: Point;
  size: number;
}

/** In heights of the font: what separates words, and what separates columns. */
const wordGap = 0.13;
const lineShift = 0.5;
const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

/** Returns the texts that a page may be read as: in the order of its content, and line by line. */
export function readingsOf(shown: Shown[]): Piece[][] {
  const lines = linesOf(shown);
  const readings = [inOrder(shown), lines.flatMap((line) => [...inOrder(line), separator])];
  if (shown.some(({ text }) => text !== undefined && rightToLeft.test(text)))
    readings.push(
      lines.flatMap((line) => [...inOrder(line.toReversed()), separator]),
      inOrder(shown.toReversed()),
    );
  return readings;
}

const separator: Piece = ['\n'];

/** Joins characters in the given order, with spaces and ends of lines by their distances. */
function inOrder(shown: Shown[]): Piece[] {
  const pieces: Piece[] = [];
  let last: Shown | undefined;
  for (const each of shown) {
    const gap = last && gapBetween(last, each);
    if (gap) pieces.push([gap]);
    pieces.push([each.text ?? '\ufffd', each.id]);
    last = each;
  }
  return pieces;
}

function gapBetween(before: Shown, after: Shown): string {
  const size = Math.max(Math.min(before.size, after.size), 1e-6);
  const [along, across] = offset(before, after.start);
  const [back] = offset(before, after.end);
  const length = Math.hypot(before.end[0] - before.start[0], before.end[1] - before.start[1]);
  if (Math.abs(across) > lineShift * size) return '\n';
  // Right to left, the next character ends where this one starts.
  const isBackward = back < 0.3 * size && along < 0;
  const distance = isBackward ? -Math.max(along, back) : along - length;
  if (distance > 3 * size || distance < -size) return '\n';
  return distance > wordGap * size ? ' ' : '';
}

/** Returns the place of a point along and across the line of a character. */
function offset({ start, end, shape }: Shown, [x, y]: Point): [number, number] {
  const [dx, dy] = directionOf(start, end, shape);
  return [(x - start[0]) * dx + (y - start[1]) * dy, (y - start[1]) * dx - (x - start[0]) * dy];
}

function directionOf(start: Point, end: Point, shape: Shape): Point {
  const [from, to] = start[0] === end[0] && start[1] === end[1] ? [shape[0] ?? start, shape[1] ?? end] : [start, end];
  const length = Math.hypot(to[0] - from[0], to[1] - from[1]) || 1;
  return [(to[0] - from[0]) / length, (to[1] - from[1]) / length];
}

interface Placed {
  shown: Shown;
  along: number;
  across: number;
}

/** Sorts characters into lines by their place. The same character twice at a place, as in shadows, counts once. */
function linesOf(shown: Shown[]): Shown[][] {
  const byDirection = new Map<number, Placed[]>();
  for (const each of shown) {
    const [dx, dy] = directionOf(each.start, each.end, each.shape);
    const angle = Math.round(Math.atan2(dy, dx) * 30);
    const [x, y] = each.start;
    const placed = byDirection.get(angle) ?? [];
    placed.push({ shown: each, along: x * dx + y * dy, across: y * dx - x * dy });
    byDirection.set(angle, placed);
  }
  return [...byDirection.values()].flatMap((placed) => {
    const lines: Placed[][] = [];
    for (const each of placed.toSorted((one, other) => other.across - one.across)) {
      const line = lines.at(-1);
      const last = line?.at(-1);
      const size = Math.max(each.shown.size, 1e-6);
      if (line && last && Math.abs(last.across - each.across) < 0.3 * size) line.push(each);
      else lines.push([each]);
    }
    return lines.map((line) => {
      const sorted = line.toSorted((one, other) => one.along - other.along);
      return sorted
        .filter((each, index) => {
          const before = sorted[index - 1];
          const isShadow =
            before?.shown.text === each.shown.text && each.along - (before?.along ?? 0) < 0.1 * each.shown.size;
          return !isShadow;
        })
        .map((each) => each.shown);
    });
  });
}

/** Returns a shape for each line of characters: the places that are hidden. */
export function shapesOf(shown: Shown[]): Shape[] {
  return linesOf(shown).flatMap((line) => {
    const [first] = line;
    if (!first) return [];
    const [dx, dy] = directionOf(first.start, first.end, first.shape);
    const turned = (points: Point[]) => points.map(([x, y]): Point => [x * dx + y * dy, y * dx - x * dy]);
    const shapes: Shape[] = [];
    let open: { left: number; bottom: number; right: number; top: number } | undefined;
    const close = () => {
      if (!open) return;
      const { left, bottom, right, top } = open;
      const corners: Point[] = [
        [left, bottom],
        [right, bottom],
        [right, top],
        [left, top],
      ];
      shapes.push(corners.map(([x, y]) => [x * dx - y * dy, x * dy + y * dx]));
    };
    for (const each of line) {
      const next = boundsOf(turned(each.shape));
      if (open && next.left - open.right < 1.2 * each.size) {
        open = {
          left: Math.min(open.left, next.left),
          bottom: Math.min(open.bottom, next.bottom),
          right: Math.max(open.right, next.right),
          top: Math.max(open.top, next.top),
        };
      } else {
        close();
        open = next;
      }
    }
    close();
    return shapes;
  });
}
