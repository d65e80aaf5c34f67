import { readFile, stat } from 'node:fs/promises';

/** Larger files are counted by a program that does not read them into memory. */
const maxBytes = 64 * 1024 ** 2;
const maxNodes = 20_000;

/**
 * Counts the pages in the page tree of a PDF with a plain cross-reference table, as LibreOffice and Ghostscript write it.
 * Returns undefined for any other file. Starting a program instead would take a tenth of the time of a short conversion.
 */
export async function countTreePages(path: string): Promise<number | undefined> {
  if ((await stat(path)).size > maxBytes) return undefined;
  const text = (await readFile(path)).toString('latin1');
  const [, start] = /startxref\s+(\d+)\s+%%EOF\s*$/.exec(text.slice(-64)) ?? [];
  if (start === undefined || !text.startsWith('%PDF-')) return undefined;
  const table = readTable(text, Number(start));
  const catalog = table && objectOf(text, table, reference(table.trailer, 'Root'));
  const pages = catalog?.includes('/Pages') ? reference(catalog, 'Pages') : undefined;
  return table && pages !== undefined ? countLeaves(text, table, pages) : undefined;
}

interface Table {
  offsets: Map<number, number>;
  trailer: string;
}

/** Reads a cross-reference table of one section that starts with object 0. Updated files have more and are not supported. */
function readTable(text: string, start: number): Table | undefined {
  const head = /^xref\s+0 (\d+)\s+/.exec(text.slice(start, start + 40));
  if (!head) return undefined;
  const first = start + head[0].length;
  const end = first + Number(head[1]) * 20;
  const trailer = /^trailer\s*<<[\s\S]*?startxref/.exec(text.slice(end))?.[0];
  if (trailer === undefined || /\/(?:Prev|Encrypt|XRefStm)\b/.test(trailer)) return undefined;
  const offsets = new Map<number, number>();
  for (let at = first, number = 0; at < end; at += 20, number++)
    if (text[at + 17] === 'n') offsets.set(number, Number(text.slice(at, at + 10)));
  return { offsets, trailer };
}

function reference(dictionary: string, name: string): number | undefined {
  const [, number] = new RegExp(`/${name}\\s+(\\d+) 0 R\\b`).exec(dictionary) ?? [];
  return number === undefined ? undefined : Number(number);
}

/** Returns the text of an object at its position in the table. */
function objectOf(text: string, { offsets }: Table, number: number | undefined): string | undefined {
  const at = number === undefined ? undefined : offsets.get(number);
  if (at === undefined || !text.startsWith(`${number} 0 obj`, at)) return undefined;
  const end = text.indexOf('endobj', at);
  return end < 0 ? undefined : text.slice(at, end);
}

/** Counts the leaves of a page tree. Returns undefined if any part of it is not as expected. */
function countLeaves(text: string, table: Table, root: number): number | undefined {
  let pages = 0;
  const seen = new Set<number>();
  for (const queue = [root]; queue.length > 0; ) {
    const number = queue.pop() ?? 0;
    if (seen.has(number) || seen.size > maxNodes) return undefined;
    seen.add(number);
    const node = objectOf(text, table, number);
    if (node === undefined) return undefined;
    if (/\/Type\s*\/Page\b/.test(node)) pages += 1;
    else {
      const kids = /\/Type\s*\/Pages\b/.test(node) ? /\/Kids\s*\[([\s\d R]*)\]/.exec(node)?.[1] : undefined;
      if (kids === undefined) return undefined;
      for (const [, kid] of kids.matchAll(/(\d+) 0 R/g)) queue.push(Number(kid));
    }
  }
  return pages;
}
