import type { Matrix } from '../marks/geometry.ts';
import { applied, boundsOf, grown, insideOf, inverse, type Point, type Shape, withoutShape } from './shapes.ts';
import { writtenNumber } from './tokens.ts';

const curveSteps = 32;
const maxPoints = 2_000_000;

/** A path under construction, in coordinates of the page. Curves are lines of many pieces. */
export class Path {
  readonly #subpaths: { points: Point[]; isClosed: boolean }[] = [];
  readonly #matrix: Matrix;
  #current: Point = [0, 0];
  #count = 0;

  constructor(matrix: Matrix) {
    this.#matrix = matrix;
  }

  /** Adds the operation of a path. */
  add(operator: string, operands: number[]): void {
    const [x1 = 0, y1 = 0, x2 = 0, y2 = 0, x3 = 0, y3 = 0] = operands;
    switch (operator) {
      case 'm':
        this.#move([x1, y1]);
        break;
      case 'l':
        this.#line([x1, y1]);
        break;
      case 'c':
        this.#curve([x1, y1], [x2, y2], [x3, y3]);
        break;
      case 'v':
        this.#curve(this.#current, [x1, y1], [x2, y2]);
        break;
      case 'y':
        this.#curve([x1, y1], [x2, y2], [x2, y2]);
        break;
      case 'h':
        this.#close();
        break;
      case 're':
        this.#move([x1, y1]);
        for (const corner of [
          [x1 + x2, y1],
          [x1 + x2, y1 + y2],
          [x1, y1 + y2],
        ] satisfies Point[])
          this.#line(corner);
        this.#close();
        break;
    }
  }

  #move(point: Point): void {
    this.#current = point;
    this.#subpaths.push({ points: [applied(this.#matrix, point)], isClosed: false });
  }

  #line(point: Point): void {
    this.#current = point;
    let last = this.#subpaths.at(-1);
    if (!last || last.isClosed) {
      last = { points: [last?.points[0] ?? applied(this.#matrix, point)], isClosed: false };
      this.#subpaths.push(last);
    }
    if (++this.#count > maxPoints) throw new RangeError('a path has too many points');
    last.points.push(applied(this.#matrix, point));
  }

  #curve(one: Point, two: Point, end: Point): void {
    const start = this.#current;
    for (let step = 1; step <= curveSteps; step++) {
      const t = step / curveSteps;
      const s = 1 - t;
      const at = (axis: 0 | 1) =>
        s ** 3 * start[axis] + 3 * s * s * t * one[axis] + 3 * s * t * t * two[axis] + t ** 3 * end[axis];
      this.#line([at(0), at(1)]);
    }
    this.#current = end;
  }

  #close(): void {
    const last = this.#subpaths.at(-1);
    if (last) last.isClosed = true;
  }

  /** Returns corners of the box around it. */
  corners(): Point[] {
    const points = this.#subpaths.flatMap((subpath) => subpath.points);
    const { left, bottom, right, top } = boundsOf(points);
    return points.length > 0
      ? [
          [left, bottom],
          [right, top],
        ]
      : [];
  }

  #segments(isFilled: boolean): [Point, Point][] {
    return this.#subpaths.flatMap(({ points, isClosed }) =>
      points.flatMap((point, index): [Point, Point][] => {
        const next = points[index + 1] ?? (isClosed || isFilled ? points[0] : undefined);
        return next ? [[point, next]] : [];
      }),
    );
  }

  /** Returns the shapes that hide some of the outline, so that more than a color would be left under them. */
  touched(shapes: Shape[], isFilled: boolean): Shape[] {
    const bounds = boundsOf(this.#subpaths.flatMap(({ points }) => points));
    const near = shapes.filter((shape) => {
      const each = boundsOf(shape);
      return (
        each.left <= bounds.right && each.right >= bounds.left && each.bottom <= bounds.top && each.top >= bounds.bottom
      );
    });
    if (near.length === 0) return [];
    const segments = this.#segments(isFilled);
    return near.filter((shape) => segments.some(([from, to]) => insideOf(from, to, shape) !== undefined));
  }

  /** Returns the operations of each part of the area without the shapes. A fill has to follow each. */
  filledWithout(shapes: Shape[]): string[] {
    const whole = [this.#subpaths.map(({ points }) => points)];
    const rest = shapes.reduce<Point[][][]>(
      (fills, shape) => fills.flatMap((fill) => withoutShape(fill, shape)),
      whole,
    );
    const back = inverse(this.#matrix);
    return back ? rest.map((polygons) => polygons.map((points) => `${drawn(points, back)} h`).join('\n')) : [];
  }

  /** Returns the operations of the outline without what is inside of the shapes. */
  strokedWithout(shapes: Shape[], width: number): string {
    const back = inverse(this.#matrix);
    if (!back) return '';
    const [a, b] = this.#matrix;
    const wide = shapes.map((shape) => grown(shape, (width / 2) * Math.hypot(a, b)));
    const lines: Point[][] = [];
    for (const [from, to] of this.#segments(false)) {
      const hidden = wide
        .flatMap((shape) => [insideOf(from, to, shape)])
        .filter((each) => each !== undefined)
        .toSorted(([one], [other]) => one - other);
      let at = 0;
      const at2 = (share: number): Point => [from[0] + (to[0] - from[0]) * share, from[1] + (to[1] - from[1]) * share];
      for (const [start, end] of [...hidden, [1, 1] as const]) {
        if (start > at) {
          const [first, last] = [at2(at), at2(start)];
          const before = lines.at(-1)?.at(-1);
          if (at === 0 && before && before[0] === first[0] && before[1] === first[1]) lines.at(-1)?.push(last);
          else lines.push([first, last]);
        }
        at = Math.max(at, end);
      }
    }
    return lines.map((points) => drawn(points, back)).join('\n');
  }
}

function drawn(points: Point[], matrix: Matrix): string {
  return points
    .map((point, index) => {
      const [x, y] = applied(matrix, point);
      return `${writtenNumber(x)} ${writtenNumber(y)} ${index === 0 ? 'm' : 'l'}`;
    })
    .join(' ');
}
