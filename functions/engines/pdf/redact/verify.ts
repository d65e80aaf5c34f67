import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Programs, runTool } from '../../runtime/pdf-file.ts';
import { plainTextOf } from './document.ts';
import type { Finder } from './find.ts';
import type { Shown } from './reading.ts';
import { box, type Point } from './shapes.ts';

async function pdfToText(path: string, args: string[], space: Programs): Promise<string> {
  const output = join(space.folder, 'text.txt');
  await runTool('pdftotext', ['-enc', 'UTF-8', ...args, path, output], space);
  const text = await readFile(output, 'utf8');
  await rm(output);
  return text;
}

/** Returns the text of each page as poppler reads it. */
export async function textsOfPages(path: string, order: string[], space: Programs): Promise<string[]> {
  return (await pdfToText(path, order, space)).split('\f').slice(0, -1);
}

/** Returns the pages on which poppler still finds something, in any order of reading. */
export async function remainingMatches(path: string, finder: Finder, space: Programs): Promise<number[]> {
  const found = new Set<number>();
  for (const order of [[], ['-raw'], ['-layout']])
    for (const [index, text] of (await textsOfPages(path, order, space)).entries())
      if (finder.count(text) > 0) found.add(index + 1);
  return [...found].toSorted((one, other) => one - other);
}

/** Returns the words of a page as poppler reads them, with their places on the page as it is displayed. */
export async function wordsOfPage(path: string, page: number, height: number, space: Programs): Promise<Shown[]> {
  const xml = await pdfToText(path, ['-bbox', '-cropbox', '-f', String(page), '-l', String(page)], space);
  const form = /<word xMin="([\d.-]+)" yMin="([\d.-]+)" xMax="([\d.-]+)" yMax="([\d.-]+)">(.*?)<\/word>/g;
  return [...xml.matchAll(form)].map(([, ...found], id) => {
    const [left = 0, top = 0, right = 0, bottom = 0] = found.slice(0, 4).map(Number);
    const y = height - bottom;
    const [start, end]: [Point, Point] = [
      [left, y],
      [right, y],
    ];
    return {
      id,
      text: plainTextOf(found[4] ?? ''),
      shape: box(left, y, right, height - top),
      start,
      end,
      size: bottom - top,
    };
  });
}
