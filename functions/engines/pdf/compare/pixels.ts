import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Programs, runTool } from '../../runtime/pdf-file.ts';
import type { Area } from './words.ts';

export interface Raster {
  width: number;
  height: number;
  /** Red, green and blue of each pixel. */
  data: Uint8Array;
}

/** Renders a page as displayed. */
export async function renderPage(path: string, page: number, scale: string[], space: Programs): Promise<Raster> {
  const stem = join(space.folder, 'raster');
  const args = ['-f', String(page), '-l', String(page), '-singlefile', '-cropbox', ...scale, path, stem];
  await runTool('pdftoppm', args, space);
  const bytes = await readFile(`${stem}.ppm`);
  await rm(`${stem}.ppm`);
  const [head = '', width, height] = /^P6\s+(\d+)\s+(\d+)\s+255\s/.exec(bytes.toString('latin1', 0, 64)) ?? [];
  return { width: Number(width ?? 0), height: Number(height ?? 0), data: bytes.subarray(head.length) };
}

const thumbSide = 48;

/** Renders a page as a small square of gray values, by which it is recognised. */
export async function thumbnail(path: string, page: number, space: Programs): Promise<Uint8Array> {
  const scale = ['-scale-to-x', String(thumbSide), '-scale-to-y', String(thumbSide)];
  const { data } = await renderPage(path, page, scale, space);
  return Uint8Array.from({ length: data.length / 3 }, (_, index) => data[3 * index + 1] ?? 255);
}

export interface Difference {
  /** Share of the pixels that differ. */
  share: number;
  /** In pixels. */
  areas: Area[];
}

/** Side of the squares that areas are made of, in pixels. */
const cell = 8;
const maxAreas = 200;

/**
 * Compares pictures of pages from their top left corner. A pixel differs if no pixel next to it in the other picture is
 * like it, so that the edges of letters may be drawn differently. If sizes differ, pixels that only one page has count as different.
 */
export function compareRasters(one: Raster, other: Raster, tolerance: number): Difference {
  const [width, height] = [Math.max(one.width, other.width), Math.max(one.height, other.height)];
  const [columns, rows] = [Math.ceil(width / cell), Math.ceil(height / cell)];
  const cells = new Uint16Array(columns * rows);
  const limit = (tolerance / 100) * 255;
  let changed = 0;
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      if (!differs(one, other, x, y, x, y, limit)) continue;
      if (hasLike(one, other, x, y, limit) && hasLike(other, one, x, y, limit)) continue;
      changed += 1;
      const at = Math.floor(y / cell) * columns + Math.floor(x / cell);
      cells[at] = (cells[at] ?? 0) + 1;
    }
  }
  return { share: changed / Math.max(1, width * height), areas: areasOfCells(cells, columns, rows) };
}

function differs(
  one: Raster,
  other: Raster,
  x: number,
  y: number,
  otherX: number,
  otherY: number,
  limit: number,
): boolean {
  const inOne = x < one.width && y < one.height;
  const inOther = otherX < other.width && otherY < other.height;
  const at = 3 * (y * one.width + x);
  const there = 3 * (otherY * other.width + otherX);
  for (let channel = 0; channel < 3; channel++) {
    // Beyond a page is white.
    const left = inOne ? (one.data[at + channel] ?? 255) : 255;
    const right = inOther ? (other.data[there + channel] ?? 255) : 255;
    if (Math.abs(left - right) > limit) return true;
  }
  return false;
}

/** Returns whether a pixel of one picture is like any around its place in the other. */
function hasLike(one: Raster, other: Raster, x: number, y: number, limit: number): boolean {
  for (let otherY = Math.max(0, y - 1); otherY <= y + 1; otherY++)
    for (let otherX = Math.max(0, x - 1); otherX <= x + 1; otherX++)
      if (!differs(one, other, x, y, otherX, otherY, limit)) return true;
  return false;
}

/** Joins squares with differences that are next to each other, or nearly so. */
function areasOfCells(cells: Uint16Array, columns: number, rows: number): Area[] {
  const seen = new Uint8Array(cells.length);
  const areas: Area[] = [];
  for (let start = 0; start < cells.length; start++) {
    if (!cells[start] || seen[start]) continue;
    seen[start] = 1;
    let [left, top, right, bottom] = [columns, rows, 0, 0];
    for (const pending = [start]; pending.length > 0; ) {
      const at = pending.pop() ?? 0;
      const [x, y] = [at % columns, Math.floor(at / columns)];
      [left, top, right, bottom] = [Math.min(left, x), Math.min(top, y), Math.max(right, x), Math.max(bottom, y)];
      for (let nextY = Math.max(0, y - 1); nextY <= Math.min(rows - 1, y + 1); nextY++)
        for (let nextX = Math.max(0, x - 2); nextX <= Math.min(columns - 1, x + 2); nextX++) {
          const next = nextY * columns + nextX;
          if (!cells[next] || seen[next]) continue;
          seen[next] = 1;
          pending.push(next);
        }
    }
    areas.push({
      left: left * cell,
      top: top * cell,
      width: (right - left + 1) * cell,
      height: (bottom - top + 1) * cell,
    });
  }
  return areas.toSorted((a, b) => b.width * b.height - a.width * a.height).slice(0, maxAreas);
}
