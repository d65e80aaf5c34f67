import type { Matrix } from '../marks/geometry.ts';

export type Point = [x: number, y: number];
/** Corners of a convex shape in either direction. */
export type Shape = Point[];

export const identity: Matrix = [1, 0, 0, 1, 0, 0];

/** Returns the transformation that applies `first`, then `second`. */
export function combined(first: Matrix, second: Matrix): Matrix {
  const [a, b, c, d, e, f] = first;
  const [ma, mb, mc, md, me, mf] = second;
  return [
    a * ma + b * mc,
    a * mb + b * md,
    c * ma + d * mc,
    c * mb + d * md,
    e * ma + f * mc + me,
    e * mb + f * md + mf,
  ];
}

export function applied([a, b, c, d, e, f]: Matrix, [x, y]: Point): Point {
  return [a * x + c * y + e, b * x + d * y + f];
}

/** Returns the inverse of a transformation, or undefined if it maps everything to a line. */
export function inverse([a, b, c, d, e, f]: Matrix): Matrix | undefined {
  const determinant = a * d - b * c;
  if (!Number.isFinite(1 / determinant)) return undefined;
  return [
    d / determinant,
    -b / determinant,
    -c / determinant,
    a / determinant,
    (c * f - d * e) / determinant,
    (b * e - a * f) / determinant,
  ];
}

export function box(left: number, bottom: number, right: number, top: number): Shape {
  return [
    [left, bottom],
    [right, bottom],
    [right, top],
    [left, top],
  ];
}

export function boundsOf(points: Point[]): { left: number; bottom: number; right: number; top: number } {
  let [left, bottom, right, top] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const [x, y] of points)
    [left, bottom, right, top] = [Math.min(left, x), Math.min(bottom, y), Math.max(right, x), Math.max(top, y)];
  return { left, bottom, right, top };
}

/** An edge of a convex shape: its inside is where `x * nx + y * ny <= limit`. */
interface Edge {
  normal: Point;
  limit: number;
}

function edgesOf(shape: Shape): Edge[] {
  const area = shape.reduce((sum, [x, y], index) => {
    const [nextX, nextY] = shape[(index + 1) % shape.length] ?? [x, y];
    return sum + x * nextY - nextX * y;
  }, 0);
  const sign = area < 0 ? -1 : 1;
  return shape.map(([x, y], index) => {
    const [nextX, nextY] = shape[(index + 1) % shape.length] ?? [x, y];
    const length = Math.hypot(nextX - x, nextY - y) || 1;
    const normal: Point = [(sign * (nextY - y)) / length, (-sign * (nextX - x)) / length];
    return { normal, limit: normal[0] * x + normal[1] * y };
  });
}

const distance = ({ normal, limit }: Edge, [x, y]: Point) => normal[0] * x + normal[1] * y - limit;

/** Returns whether two convex shapes overlap by more than `slack` in every direction. */
export function overlap(one: Shape, other: Shape, slack = 0): boolean {
  const isApart = (shape: Shape, from: Shape) =>
    edgesOf(shape).some((edge) => from.every((point) => distance(edge, point) >= -slack));
  return !isApart(one, other) && !isApart(other, one);
}

export function contains(shape: Shape, point: Point, slack = 0): boolean {
  return edgesOf(shape).every((edge) => distance(edge, point) <= slack);
}

/** Returns the part of a polygon on one side of an edge. */
function clip(polygon: Point[], edge: Edge, isInside: boolean): Point[] {
  const result: Point[] = [];
  for (const [index, point] of polygon.entries()) {
    const next = polygon[(index + 1) % polygon.length] ?? point;
    const [here, there] = [distance(edge, point), distance(edge, next)].map((each) => (isInside ? each : -each));
    if (here === undefined || there === undefined) continue;
    if (here <= 0) result.push(point);
    if (here < 0 !== there < 0 && here !== there) result.push(between(point, next, here / (here - there)));
  }
  return result;
}

function between([x, y]: Point, [toX, toY]: Point, share: number): Point {
  return [x + (toX - x) * share, y + (toY - y) * share];
}

/** Returns polygons that cover what subpaths cover, without a convex shape. Each list belongs to one fill. */
export function withoutShape(subpaths: Point[][], shape: Shape): Point[][][] {
  const edges = edgesOf(shape);
  return edges
    .map((edge, index) =>
      subpaths
        .map((polygon) =>
          edges.slice(0, index).reduce((rest, each) => clip(rest, each, true), clip(polygon, edge, false)),
        )
        .filter((polygon) => polygon.length > 2),
    )
    .filter((polygons) => polygons.length > 0);
}

/** Returns the parts of a line from 0 to 1 that are inside a convex shape. */
export function insideOf(from: Point, to: Point, shape: Shape): [start: number, end: number] | undefined {
  let [start, end] = [0, 1];
  for (const edge of edgesOf(shape)) {
    const [here, there] = [distance(edge, from), distance(edge, to)];
    if (here > 0 && there > 0) return undefined;
    if (here > 0) start = Math.max(start, here / (here - there));
    else if (there > 0) end = Math.min(end, here / (here - there));
  }
  return start < end ? [start, end] : undefined;
}

/** Returns a shape that is larger by a margin on all sides. */
export function grown(shape: Shape, margin: number): Shape {
  const edges = edgesOf(shape).map((edge) => ({ ...edge, limit: edge.limit + margin }));
  return edges.map((edge, index) => {
    const before = edges[(index + edges.length - 1) % edges.length] ?? edge;
    const determinant = before.normal[0] * edge.normal[1] - before.normal[1] * edge.normal[0];
    if (Math.abs(determinant) < 1e-9) return shape[index] ?? [0, 0];
    return [
      (before.limit * edge.normal[1] - edge.limit * before.normal[1]) / determinant,
      (before.normal[0] * edge.limit - edge.normal[0] * before.limit) / determinant,
    ];
  });
}
