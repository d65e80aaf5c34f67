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

/** Reads HTML in its declared encoding. */
export async function readHtml(path: string): Promise<string> {
  const head = (await readFile(path)).subarray(0, 4096).toString('latin1');
  const declared = /charset\s*=\s*["']?\s*([\w-]+)/i.exec(head)?.[1];
  return readText(path, declared !== undefined && isKnown(declared) ? declared : 'auto');
}

function isKnown(encoding: string): boolean {
  try {
    new TextDecoder(encoding);
    return true;
  } catch {
    return false;
  }
}
