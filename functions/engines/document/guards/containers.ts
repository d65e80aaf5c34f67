import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { type Entry, fromBufferPromise, openPromise } from 'yauzl';
import { ZipFile } from 'yazl';
import { EngineError } from '../../runtime/engine.ts';
import { MarkupGuard } from './markup-guard.ts';
import { rasterType } from './pictures.ts';

const maxEntries = 20_000;
const maxBytes = 1_000_000_000;
const maxMarkupBytes = 200_000_000;
/** Below this a high ratio is common and harmless. */
const unsuspiciousBytes = 16_000_000;
const maxRatio = 200;
const maxGroupDepth = 1_000;
const maxTagDepth = 500;

const tooLarge = 'The document is too large when unpacked. Remove large content, or split it.';

/**
 * Unpacks a zipped document without storing it, and rejects decompression and XML bombs. Counts the actual bytes:
 * sizes in the headers of a zip cannot be trusted.
 */
export async function checkZip(path: string, size: number): Promise<void> {
  const zip = await openPromise(path, { autoClose: false }).catch((error: unknown) => {
    throw damaged(error);
  });
  try {
    await checkEntries(zip, size);
  } catch (error) {
    throw error instanceof EngineError ? error : damaged(error);
  } finally {
    zip.close();
  }
}

/** Checks a zipped document inside another likewise, and reads its parts. */
export async function checkAndReadParts(bytes: Buffer): Promise<Map<string, Buffer>> {
  try {
    await checkEntries(await fromBufferPromise(bytes), bytes.length);
    return await partsOf(await fromBufferPromise(bytes));
  } catch (error) {
    throw error instanceof EngineError ? error : damaged(error);
  }
}

type Zip = Awaited<ReturnType<typeof openPromise>>;

async function checkEntries(zip: Zip, size: number): Promise<void> {
  if (zip.entryCount > maxEntries)
    throw new EngineError(`The document contains more than ${maxEntries} parts. Split it.`);
  let total = 0;
  let markup = 0;
  for await (const entry of zip.eachEntry()) {
    if (entry.fileName.endsWith('/')) continue;
    let guard: MarkupGuard | undefined;
    let first = true;
    for await (const chunk of await open(zip, entry)) {
      total += chunk.length;
      if (first) guard = isMarkup(chunk) ? new MarkupGuard() : undefined;
      first = false;
      if (guard) {
        markup += chunk.length;
        guard.write(chunk);
      }
      const bomb = total > unsuspiciousBytes && total / size > maxRatio;
      if (bomb || total > maxBytes || markup > maxMarkupBytes) throw new EngineError(tooLarge);
    }
  }
}

async function open(zip: Zip, entry: Entry): Promise<AsyncIterable<Buffer>> {
  if (entry.isEncrypted())
    throw new EngineError('The file is a password-protected ZIP archive, not a document. Remove the password first.');
  return zip.openReadStreamPromise(entry);
}

/** Lists the names of the parts of a zipped document. */
export async function listParts(path: string): Promise<string[]> {
  const zip = await openPromise(path, { autoClose: false });
  const names: string[] = [];
  try {
    for await (const { fileName } of zip.eachEntry()) names.push(fileName);
    return names;
  } finally {
    zip.close();
  }
}

/** Reads all parts of a checked document. Throws on duplicate names, as parsers differ in which part they use. */
export async function readParts(path: string): Promise<Map<string, Buffer>> {
  const zip = await openPromise(path, { autoClose: false });
  try {
    return await partsOf(zip);
  } finally {
    zip.close();
  }
}

async function partsOf(zip: Zip): Promise<Map<string, Buffer>> {
  const parts = new Map<string, Buffer>();
  for await (const entry of zip.eachEntry()) {
    if (entry.fileName.endsWith('/')) continue;
    if (parts.has(entry.fileName)) throw damaged(new Error(`two parts are called ${entry.fileName}`));
    const chunks: Buffer[] = [];
    for await (const chunk of await open(zip, entry)) chunks.push(chunk);
    parts.set(entry.fileName, Buffer.concat(chunks));
  }
  return parts;
}

/** Writes parts as a zipped document; its media type is stored first and plain, as readers expect. */
export async function zipOf(parts: Map<string, Buffer>): Promise<Buffer> {
  const zip = new ZipFile();
  for (const [name, bytes] of parts)
    zip.addBuffer(bytes, name, { compress: name !== 'mimetype' && rasterType(bytes) === undefined });
  zip.end();
  const chunks: Buffer[] = [];
  for await (const chunk of zip.outputStream) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

/** Reads one part of a zipped document, if it has it. */
export async function readPart(path: string, name: string): Promise<Buffer | undefined> {
  const zip = await openPromise(path, { autoClose: false });
  try {
    for await (const entry of zip.eachEntry()) {
      if (entry.fileName !== name) continue;
      const chunks: Buffer[] = [];
      for await (const chunk of await open(zip, entry)) chunks.push(chunk);
      return Buffer.concat(chunks);
    }
    return undefined;
  } finally {
    zip.close();
  }
}

function damaged(cause: unknown): EngineError {
  const detail = cause instanceof Error ? cause.message : String(cause);
  return new EngineError('The file is damaged or incomplete: its parts cannot be unpacked.', { detail, cause });
}

/** Returns whether bytes start as XML or HTML does, in an encoding that has ASCII or UTF-16 in it. */
export function isMarkup(start: Uint8Array): boolean {
  return /^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?\0?\s*\0?</.test(Buffer.from(start.subarray(0, 64)).toString('latin1'));
}

/** Throws on XML that would expand or nest too much for its parser. */
export async function checkXml(path: string): Promise<void> {
  await watch(createReadStream(path));
}

/** Does the same for XML compressed with gzip, and for plain XML. */
export async function checkGzip(path: string): Promise<void> {
  const head = await firstBytes(path, 2);
  if (head[0] !== 0x1f || head[1] !== 0x8b) return checkXml(path);
  try {
    await pipeline(createReadStream(path), createGunzip(), watch);
  } catch (error) {
    throw error instanceof EngineError ? error : damaged(error);
  }
}

async function watch(chunks: AsyncIterable<Buffer>): Promise<void> {
  const guard = new MarkupGuard();
  let total = 0;
  for await (const chunk of chunks) {
    total += chunk.length;
    if (total > maxMarkupBytes) throw new EngineError(tooLarge);
    guard.write(chunk);
  }
}

/** Reads the start of a file. */
export async function firstBytes(path: string, count: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of createReadStream(path, { end: count - 1 })) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Rejects rich text with excessive nesting of groups; returns it without the fields that include files. */
export async function readRtf(path: string): Promise<Buffer> {
  const bytes = await readFile(path);
  let depth = 0;
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index];
    if (byte === 0x5c) index += 1;
    else if (byte === 0x7b) depth += 1;
    else if (byte === 0x7d) depth -= 1;
    if (depth > maxGroupDepth)
      throw new EngineError(`The document nests groups more than ${maxGroupDepth} levels deep.`);
  }
  return Buffer.from(bytes.toString('latin1').replaceAll(/INCLUDE(PICTURE|TEXT)/gi, 'EXCLUDE$1'), 'latin1');
}

/** Rejects HTML with excessive nesting of containers; elements that are commonly left open do not count. */
export function checkHtml(text: string): void {
  const containers =
    /<(\/?)(?:div|span|table|tr|td|blockquote|ul|ol|dl|font|b|i|u|em|strong|center|section|article|form|a|sub|sup|big|small)\b/gi;
  let depth = 0;
  for (const match of text.matchAll(containers)) {
    depth = Math.max(0, depth + (match[1] ? -1 : 1));
    if (depth > maxTagDepth) throw new EngineError(`The page nests elements more than ${maxTagDepth} levels deep.`);
  }
}
