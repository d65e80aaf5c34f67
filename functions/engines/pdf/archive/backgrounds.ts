import { readFile } from 'node:fs/promises';
import type { Programs } from '../../runtime/pdf-file.ts';
import { PdfObjects } from '../objects.ts';
import { PdfaFile } from './file.ts';
import { type Dict, Keyword, Lexer, type Value } from './lexer.ts';
import { NotApproved } from './problems.ts';
import { listOf } from './structure.ts';
import { pagesOf } from './validate.ts';

/** How far a background may be from the edge of its page. */
const tolerance = 2;

/** Marks the backgrounds of pages as artifacts, which LibreOffice leaves untagged in slides. Returns whether there are any. */
export async function markBackgrounds(path: string, output: string, space: Programs): Promise<boolean> {
  const file = new PdfaFile(await readFile(path), 2);
  const pages = pagesOf(file, file.dict(file.trailer.get('Root')) ?? new Map());
  const objects = await PdfObjects.read(path, space);
  let isChanged = false;
  for (const [index, page] of pages.entries()) {
    const parts = listOf(file, page.get('Contents')).flatMap((part) => {
      const stream = file.stream(part);
      return stream ? [file.decode(stream), Buffer.from('\n')] : [];
    });
    const content = Buffer.concat(parts);
    const marked = markInContent(content, page, file);
    if (marked === undefined) continue;
    isChanged = true;
    objects.update(objects.pages[index], { '/Contents': objects.addStream({}, marked) });
  }
  if (isChanged) await objects.write(output, space);
  return isChanged;
}

/** Returns the content with its background as an artifact, or undefined if it has none that is untagged. */
function markInContent(content: Buffer, page: Dict, file: PdfaFile): string | undefined {
  const box = (file.array(page.get('MediaBox')) ?? []).map((each) => file.number(each) ?? 0);
  const lexer = new Lexer(content, file.limits);
  const found: [start: number, end: number][] = [];
  let depth = 0;
  let isMoved = false;
  let operands: Value[] = [];
  let start = 0;
  let path: { start: number; points: number[][] } | undefined;
  for (;;) {
    if (operands.length === 0) {
      lexer.skipSpace();
      start = lexer.at;
    }
    const item = lexer.value(false);
    if (item === undefined) break;
    if (!(item instanceof Keyword)) {
      operands.push(item);
      continue;
    }
    const numbers = operands.map((each) => (typeof each === 'number' ? each : Number.NaN));
    const [x = 0, y = 0, width = 0, height = 0] = numbers;
    if (item.text === 'BI') throw new NotApproved('an inline image');
    if (item.text === 'cm') isMoved = true;
    else if (item.text === 'BMC' || item.text === 'BDC') depth += 1;
    else if (item.text === 'EMC') depth -= 1;
    else if (['m', 'l', 're'].includes(item.text)) {
      path ??= { start, points: [] };
      path.points.push([x, y], ...(item.text === 're' ? [[x + width, y + height]] : []));
    } else if (/^[fFBbSsn]\*?$/.test(item.text)) {
      if (path && depth === 0 && !isMoved && /^f/i.test(item.text) && covers(path.points, box))
        found.push([path.start, lexer.at]);
      path = undefined;
    }
    operands = [];
  }
  if (found.length === 0) return undefined;
  const parts: string[] = [];
  let at = 0;
  for (const [from, to] of found) {
    parts.push(
      content.toString('latin1', at, from),
      '/Artifact BMC\n',
      content.toString('latin1', from, to),
      '\nEMC\n',
    );
    at = to;
  }
  return parts.join('') + content.toString('latin1', at);
}

/** Returns whether points are corners of a page, and nothing else. */
function covers(points: number[][], [left = 0, bottom = 0, right = 0, top = 0]: number[]): boolean {
  const near = (value: number | undefined, edge: number) => Math.abs((value ?? Number.NaN) - edge) <= tolerance;
  const corners = points.map(([x, y]) => {
    const horizontal = near(x, left) ? 'l' : near(x, right) ? 'r' : '';
    const vertical = near(y, bottom) ? 'b' : near(y, top) ? 't' : '';
    return horizontal && vertical && horizontal + vertical;
  });
  const sides = new Set(corners.join(''));
  return corners.every((corner) => corner !== '') && sides.size === 4;
}
