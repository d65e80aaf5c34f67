import { readFile, writeFile } from 'node:fs/promises';
import { EngineError } from '../runtime/engine.ts';

const maxBytes = 200_000_000;

/** Reads a text file in the given or detected encoding: by its byte order mark, UTF-8 if valid, otherwise Western European. */
export async function readText(path: string, encoding = 'auto'): Promise<string> {
  const bytes = await readFile(path);
  if (bytes.length > maxBytes) throw new EngineError(`The text is larger than ${maxBytes / 1_000_000} MB. Split it.`);
  const marked = encodingByMark(bytes);
  const name = marked ?? (encoding === 'auto' ? guess(bytes) : encoding);
  if (marked === undefined && !name.startsWith('utf-16') && bytes.includes(0))
    throw new EngineError('The file is not text: it contains binary data.');
  return new TextDecoder(name).decode(bytes);
}

/** Writes a copy of a text file in UTF-8, for programs that read nothing else. */
export async function copyAsUtf8(from: string, to: string, encoding?: string): Promise<string> {
  const text = await readText(from, encoding);
  await writeFile(to, text);
  return text;
}

function encodingByMark(bytes: Uint8Array): string | undefined {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8';
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  return undefined;
}

function guess(bytes: Uint8Array): string {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return 'utf-8';
  } catch {
    return 'windows-1252';
  }
}

/** Reads HTML in its declared encoding and returns it declaring UTF-8, so that every parser reads it alike. */
export async function readHtml(path: string): Promise<string> {
  const head = (await readFile(path)).subarray(0, 4096).toString('latin1');
  const declared = /charset\s*=\s*["']?\s*([\w-]+)/i.exec(head)?.[1];
  const text = await readText(path, declared !== undefined && isKnown(declared) ? declared : 'auto');
  const start = text
    .slice(0, 4096)
    .replace(/(charset\s*=\s*["']?\s*)[\w-]+/gi, '$1utf-8')
    .replace(/(<\?xml[^>]*encoding\s*=\s*["'])[^"']*/i, '$1utf-8');
  const declares = /charset\s*=/i.test(start);
  const page = withoutReferences(start + text.slice(4096));
  if (declares) return page;
  const meta = '<meta http-equiv="content-type" content="text/html; charset=utf-8">';
  return /<head[^>]*>/i.test(page) ? page.replace(/<head[^>]*>/i, (head_) => head_ + meta) : meta + page;
}

/** Attributes whose value a reader would load; data URLs may stay. */
const loading =
  /([\s"'/])(src|srcset|lowsrc|dynsrc|background|data|code|codebase|archive|classid|poster|profile|manifest|xlink:href)\s*=\s*(?!["']?\s*data:image\/(?!svg))(?:"[^"]*"?|'[^']*'?|[^\s>]+)/gi;
const linking = /([\s"'/])href\s*=\s*(?:"[^"]*"?|'[^']*'?|[^\s>]+)/gi;

/** Removes from a page what would make its reader load files or addresses; links stay. */
export function withoutReferences(page: string): string {
  let result = '';
  let at = 0;
  for (const open of page.matchAll(/<[a-z!?]/gi)) {
    if (open.index < at) continue;
    const end = endOfTag(page, open.index);
    const tag = page.slice(open.index, end);
    const kept = tag.replaceAll(loading, '$1');
    const followed = /^<(?:a|area)[\s/]/i.test(tag) ? kept : kept.replaceAll(linking, '$1');
    const moved = /^<meta\b[^>]*refresh/i.test(tag) ? '' : followed;
    result += page.slice(at, open.index) + withoutStyleReferences(moved);
    at = end;
  }
  result += page.slice(at);
  return result.replaceAll(/<style\b[\s\S]*?<\/style/gi, withoutStyleReferences);
}

function withoutStyleReferences(style: string): string {
  return style.replaceAll(/@import/gi, '@x').replaceAll(/url\s*\((?!\s*["']?data:image\/(?!svg))/gi, 'x(');
}

/** Finds where a tag ends: at the first bracket outside quotes, or at the end where a quote is never closed. */
function endOfTag(page: string, start: number): number {
  let quote = '';
  for (let at = start; at < page.length; at++) {
    const letter = page[at] ?? '';
    if (quote) quote = letter === quote ? '' : quote;
    else if (letter === '"' || letter === "'") quote = letter;
    else if (letter === '>') return at + 1;
  }
  return page.length;
}

function isKnown(encoding: string): boolean {
  try {
    new TextDecoder(encoding);
    return true;
  } catch {
    return false;
  }
}
