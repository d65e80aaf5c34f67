import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Pdf, runTool, type Workspace } from '../../runtime/pdf-file.ts';
import type { Area, PageText } from './spans.ts';

/** A straight edge of a rule or of a filled area, in points. */
export interface Rule {
  /** Its place across its direction. */
  at: number;
  from: number;
  to: number;
}

export interface Rulings {
  horizontal: Rule[];
  vertical: Rule[];
}

/** A pixel is a point. Finer pictures take longer and show no more tables. */
const dpi = 72;
const pagesAtOnce = 40;
/** The least difference of brightness at an edge: a row in a very light grey has it. */
const minContrast = 7;
const minHorizontal = 20;
const minVertical = 7;
/** Edges closer than this are those of one rule. */
const thickness = 3;
/** More edges are a photograph or a map. */
const maxEdges = 4_000;

/** Finds the rules of pages, in a picture of them: how they are drawn differs with each program. */
export async function* readRulings(pdf: Pdf, pages: readonly PageText[], space: Workspace): AsyncGenerator<Rulings> {
  const folder = join(space.folder, 'drawn-pages');
  for (let at = 0; at < pages.length; at += pagesAtOnce) {
    const part = pages.slice(at, at + pagesAtOnce);
    await mkdir(folder, { recursive: true });
    const range = ['-f', String(at + 1), '-l', String(at + part.length)];
    await runTool('pdftoppm', ['-gray', '-r', String(dpi), '-cropbox', ...range, pdf.path, join(folder, 'p')], space);
    const names = (await readdir(folder)).sort();
    for (const [index, name] of names.entries())
      yield rulingsOf(await readFile(join(folder, name)), part[index]?.spans ?? []);
    await rm(folder, { recursive: true });
  }
}

/** Finds the rules in a greymap (PGM) with a pixel per point. The edges of letters do not count. */
export function rulingsOf(file: Buffer, text: readonly Area[]): Rulings {
  const head = /^P5\s+(\d+)\s+(\d+)\s+255\s/.exec(file.toString('latin1', 0, 64));
  if (!head) return { horizontal: [], vertical: [] };
  const [width, height] = [Number(head[1]), Number(head[2])];
  const pixels = file.subarray(head[0].length);
  const mask = new Uint8Array(width * height);
  for (const { left, top, right, bottom } of text) {
    const [from, to] = [Math.max(0, Math.floor(left)), Math.min(width, Math.ceil(right))];
    for (let y = Math.max(0, Math.floor(top)); y < Math.min(height, Math.ceil(bottom)); y++)
      mask.fill(1, y * width + from, y * width + Math.max(from, to));
  }
  const drawn = { pixels, mask };
  const horizontal = merged(edges(drawn, height, width, width, 1, minHorizontal));
  const vertical = merged(edges(drawn, width, height, 1, width, minVertical));
  // The strokes of letters are no rules: those begin and end at others. A letter may touch their ends.
  const crossings = (x: number, from: number, to: number) =>
    horizontal.flatMap(({ at, from: left, to: right }) =>
      at >= from - 4 && at <= to + 4 && x >= left - 4 && x <= right + 4 ? [at] : [],
    );
  return {
    horizontal,
    vertical: vertical.flatMap(({ at, from, to, clear }) => {
      const [top, bottom] = [crossings(at, from, clear[0]).at(-1), crossings(at, clear[1], to)[0]];
      return top === undefined || bottom === undefined || bottom <= top ? [] : [{ at, from: top, to: bottom }];
    }),
  };
}

interface Edge extends Rule {
  /** Its part outside of text. */
  clear: [from: number, to: number];
}

interface Drawing {
  pixels: Buffer;
  /** 1 where text is. */
  mask: Uint8Array;
}

/** Finds runs of pixels that differ from their neighbours across. */
function edges(
  { pixels, mask }: Drawing,
  across: number,
  along: number,
  stepAcross: number,
  stepAlong: number,
  minLength: number,
): Edge[] {
  const found: Edge[] = [];
  for (let at = 1; at < across; at++) {
    let from = -1;
    let last = -1;
    let clear = 0;
    let ends: [number, number] = [0, 0];
    for (let place = 0; place <= along; place++) {
      const index = at * stepAcross + place * stepAlong;
      const isEdge = place < along && Math.abs((pixels[index] ?? 0) - (pixels[index - stepAcross] ?? 0)) >= minContrast;
      if (isEdge) {
        if (from < 0) {
          from = place;
          clear = 0;
        }
        last = place;
        if (mask[index] === 0 && mask[index - stepAcross] === 0) {
          ends = [clear === 0 ? place : ends[0], place + 1];
          clear += 1;
        }
      } else if (from >= 0 && (place - last > 2 || place === along)) {
        if (last - from + 1 >= minLength && clear >= Math.max(0.25 * (last - from + 1), minLength / 2))
          found.push({ at, from, to: last + 1, clear: ends });
        if (found.length > maxEdges) return [];
        from = -1;
      }
    }
  }
  return found;
}

/** Joins the edges of the same rule. */
function merged(rules: Edge[]): Edge[] {
  const result: Edge[] = [];
  for (const rule of rules) {
    const same = result.findLast(
      (other) => rule.at - other.at <= thickness && rule.from <= other.to + 4 && rule.to >= other.from - 4,
    );
    if (same) {
      same.from = Math.min(same.from, rule.from);
      same.to = Math.max(same.to, rule.to);
      same.clear = [Math.min(same.clear[0], rule.clear[0]), Math.max(same.clear[1], rule.clear[1])];
      if (rule.to - rule.from >= same.to - same.from) same.at = rule.at;
    } else result.push({ ...rule });
  }
  return result;
}
