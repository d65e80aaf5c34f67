import type { PdfObjects, PdfValue } from '../objects.ts';

export interface Size {
  width: number;
  height: number;
}

/** A transformation as in PDF: x' = ax + cy + e, y' = bx + dy + f. */
export type Matrix = [a: number, b: number, c: number, d: number, e: number, f: number];

type Box = [left: number, bottom: number, right: number, top: number];

export interface DisplayedPage extends Size {
  /** From points of the page as displayed, with the origin at its bottom left corner, to stored coordinates. */
  matrix: Matrix;
}

const letter: Box = [0, 0, 612, 792];

/** Returns the size of a page as displayed, and where its corner is: by its crop box, rotation and unit. */
export function displayedPage(reference: PdfValue, pdf: PdfObjects): DisplayedPage {
  const page = pdf.dict(reference) ?? {};
  const media = boxOf(page['/MediaBox'], pdf) ?? letter;
  const crop = boxOf(page['/CropBox'], pdf) ?? media;
  const [left, bottom, right, top] = intersection(crop, media) ?? media;
  const given = numberOf(page['/UserUnit'], pdf) ?? 1;
  const unit = given > 0 ? given : 1;
  const angle = (((numberOf(page['/Rotate'], pdf) ?? 0) % 360) + 360) % 360;
  const scale = 1 / unit;
  const size = { width: (right - left) * unit, height: (top - bottom) * unit };
  const turned = { width: size.height, height: size.width };
  switch (angle) {
    case 90:
      return { ...turned, matrix: [0, scale, -scale, 0, right, bottom] };
    case 180:
      return { ...size, matrix: [-scale, 0, 0, -scale, right, top] };
    case 270:
      return { ...turned, matrix: [0, -scale, scale, 0, left, top] };
    default:
      return { ...size, matrix: [scale, 0, 0, scale, left, bottom] };
  }
}

/** Returns the transformation that undoes one. */
export function inverse([a, b, c, d, e, f]: Matrix): Matrix {
  const area = a * d - b * c;
  return [d / area, -b / area, -c / area, a / area, (c * f - d * e) / area, (b * e - a * f) / area];
}

/** Returns a box with its corners in order, if it is one with an area. */
export function boxOf(value: PdfValue | undefined, pdf: PdfObjects): Box | undefined {
  const numbers = pdf.array(value).map((each) => numberOf(each, pdf));
  const [x1, y1, x2, y2] = numbers;
  if (x1 === undefined || y1 === undefined || x2 === undefined || y2 === undefined) return undefined;
  const box: Box = [Math.min(x1, x2), Math.min(y1, y2), Math.max(x1, x2), Math.max(y1, y2)];
  return box[2] > box[0] && box[3] > box[1] ? box : undefined;
}

function intersection(one: Box, other: Box): Box | undefined {
  const [left, bottom] = [Math.max(one[0], other[0]), Math.max(one[1], other[1])];
  const [right, top] = [Math.min(one[2], other[2]), Math.min(one[3], other[3])];
  return right > left && top > bottom ? [left, bottom, right, top] : undefined;
}

function numberOf(value: PdfValue | undefined, pdf: PdfObjects): number | undefined {
  const found = pdf.lookup(value);
  return typeof found === 'number' && Number.isFinite(found) ? found : undefined;
}

export interface Layout {
  /** Such as `top-left`, `bottom` or `center`. */
  position: string;
  margin: number;
  /** Degrees clockwise. */
  rotation: number;
  /** Returns the factor by which a mark is scaled. */
  scale: (mark: Size, page: Size) => number;
  /** Distance of repeated marks. Absent for a single one. */
  gap?: number;
}

/** Repeated marks of a page. More make a page slow to display. */
const maxTiles = 1_000;

/** Returns where a mark is drawn on a page as displayed. */
export function placeMark(mark: Size, page: Size, layout: Layout): Matrix[] {
  const factor = layout.scale(mark, page);
  const size = { width: mark.width * factor, height: mark.height * factor };
  const radians = (-layout.rotation * Math.PI) / 180;
  const [cos, sin] = [Math.cos(radians), Math.sin(radians)];
  const bounds = rotatedSize(size, layout.rotation);
  const at = (x: number, y: number): Matrix => [
    factor * cos,
    factor * sin,
    -factor * sin,
    factor * cos,
    x - (size.width * cos - size.height * sin) / 2,
    y - (size.width * sin + size.height * cos) / 2,
  ];
  const { position, margin, gap } = layout;
  if (gap === undefined) {
    const x = position.endsWith('left')
      ? margin + bounds.width / 2
      : position.endsWith('right')
        ? page.width - margin - bounds.width / 2
        : page.width / 2;
    const y = position.startsWith('top')
      ? page.height - margin - bounds.height / 2
      : position.startsWith('bottom')
        ? margin + bounds.height / 2
        : page.height / 2;
    return [at(x, y)];
  }
  // Rows run along the marks, from the center of the page in all directions.
  const step = { along: size.width + gap, across: size.height + gap };
  const wide = Math.sqrt(Math.max(1, (page.width * page.height) / (step.along * step.across) / maxTiles));
  const reach = Math.hypot(page.width, page.height) / 2;
  const [columns, rows] = [reach / (step.along * wide), reach / (step.across * wide)].map(Math.ceil);
  const found: Matrix[] = [];
  for (let row = -(rows ?? 0); row <= (rows ?? 0); row++) {
    for (let column = -(columns ?? 0); column <= (columns ?? 0); column++) {
      const along = (column + (row % 2 === 0 ? 0 : 0.5)) * step.along * wide;
      const across = row * step.across * wide;
      const x = page.width / 2 + along * cos - across * sin;
      const y = page.height / 2 + along * sin + across * cos;
      const isSeen =
        Math.abs(x - page.width / 2) < (page.width + bounds.width) / 2 &&
        Math.abs(y - page.height / 2) < (page.height + bounds.height) / 2;
      if (isSeen) found.push(at(x, y));
    }
  }
  return found;
}

/** Returns the size of the smallest upright box around a rotated one. */
export function rotatedSize({ width, height }: Size, rotation: number): Size {
  const radians = (rotation * Math.PI) / 180;
  const [cos, sin] = [Math.abs(Math.cos(radians)), Math.abs(Math.sin(radians))];
  return { width: width * cos + height * sin, height: width * sin + height * cos };
}
