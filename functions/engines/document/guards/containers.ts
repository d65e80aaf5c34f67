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
/** Files up to this size are read into memory. */
const maxBufferedBytes = 32 * 1024 ** 2;
const maxGroupDepth = 1_000;
const maxTagDepth = 500;

const tooLarge = 'The document is too large when unpacked. Remove large content, or split it.';

type Zip = Awaited<ReturnType<typeof openPromise>>;
type Parts = Map<string, Buffer>;

/**
 * Unpacks a zipped document without storing it, and rejects decompression and XML bombs. Counts the actual bytes:
 * sizes in the headers of a zip cannot be trusted.
 */
export async function checkZip(path: string, size: number): Promise<void> {
  await orDamaged(() => withZip(path, size, (zip) => checkEntries(zip, size)));
}

/** Checks a zipped document and reads its parts. Throws on duplicate names, because parsers differ in which part they use. */
export async function readChecked(path: string, size: number): Promise<Parts> {
  return orDamaged(() => withZip(path, size, (zip) => checkAndRead(zip, size)));
}

/** Checks a zipped document inside another one and reads its parts. */
export async function checkAndReadParts(bytes: Buffer): Promise<Parts> {
  return orDamaged(async () => checkAndRead(await fromBufferPromise(bytes), bytes.length));
}

async function orDamaged<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof EngineError ? error : damaged(error);
  }
}

/** Opens a zip. Reads a small one into memory first, because its parts are read in many small pieces. */
async function withZip<T>(path: string, size: number, work: (zip: Zip) => Promise<T>): Promise<T> {
  return size <= maxBufferedBytes ? work(await fromBufferPromise(await readFile(path))) : withFile(path, work);
}

async function withFile<T>(path: string, work: (zip: Zip) => Promise<T>): Promise<T> {
  const zip = await openPromise(path, { autoClose: false });
  try {
    return await work(zip);
  } finally {
    zip.close();
  }
}

async function checkAndRead(zip: Zip, size: number): Promise<Parts> {
  const parts: Parts = new Map();
  await checkEntries(zip, size, (name, bytes) => addPart(parts, name, bytes));
  return parts;
}

function addPart(parts: Parts, name: string, bytes: Buffer): void {
  if (parts.has(name)) throw damaged(new Error(`two parts are called ${name}`));
  parts.set(name, bytes);
}

async function checkEntries(zip: Zip, size: number, onPart?: (name: string, bytes: Buffer) => void): Promise<void> {
  if (zip.entryCount > maxEntries)
    throw new EngineError(`The document contains more than ${maxEntries} parts. Split it.`);
  let total = 0;
  let markup = 0;
  for await (const entry of zip.eachEntry()) {
    if (entry.fileName.endsWith('/')) continue;
    let guard: MarkupGuard | undefined;
    let first = true;
    const chunks: Buffer[] = [];
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
      if (onPart) chunks.push(chunk);
    }
    onPart?.(entry.fileName, Buffer.concat(chunks));
  }
}

async function open(zip: Zip, entry: Entry): Promise<AsyncIterable<Buffer>> {
  if (entry.isEncrypted())
    throw new EngineError('The file is a password-protected ZIP archive, not a document. Remove the password first.');
  return zip.openReadStreamPromise(entry);
}

/** Three times as fast as the function of Node's stream consumers, which makes a Blob. */
async function readAll(stream: AsyncIterable<string | Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
  return Buffer.concat(chunks);
}

/** Lists the names of the parts of a zipped document. */
export async function listParts(path: string): Promise<string[]> {
  return withFile(path, async (zip) => {
    const names: string[] = [];
    for await (const { fileName } of zip.eachEntry()) names.push(fileName);
    return names;
  });
}

/** Returns the size of the XML in a checked zipped document, or 0 for any other file. */
export async function markupBytes(path: string): Promise<number> {
  if ((await firstBytes(path, 2)).toString('latin1') !== 'PK') return 0;
  return withFile(path, async (zip) => {
    let total = 0;
    for await (const { fileName, uncompressedSize } of zip.eachEntry())
      if (/\.(?:xml|x?html?|rels)$/i.test(fileName)) total += uncompressedSize;
    return total;
  });
}

/** Reads all parts of a document that the engine itself wrote. Throws on duplicate names. */
export async function readParts(path: string): Promise<Parts> {
  return withFile(path, async (zip) => {
    const parts: Parts = new Map();
    for await (const entry of zip.eachEntry())
      if (!entry.fileName.endsWith('/')) addPart(parts, entry.fileName, await readAll(await open(zip, entry)));
    return parts;
  });
}

/** Writes parts as a zipped document. Stores its media type first and uncompressed, as readers expect. */
export async function zipOf(parts: Map<string, Buffer>): Promise<Buffer> {
  const zip = new ZipFile();
  for (const [name, bytes] of parts)
    zip.addBuffer(bytes, name, { compress: name !== 'mimetype' && rasterType(bytes) === undefined });
  zip.end();
  return readAll(zip.outputStream);
}

/** Reads one part of a zipped document, if it exists. */
export async function readPart(path: string, name: string): Promise<Buffer | undefined> {
  return withFile(path, async (zip) => {
    for await (const entry of zip.eachEntry()) if (entry.fileName === name) return readAll(await open(zip, entry));
    return undefined;
  });
}

function damaged(cause: unknown): EngineError {
  const detail = cause instanceof Error ? cause.message : String(cause);
  return new EngineError('The file is damaged or incomplete: its parts cannot be unpacked.', { detail, cause });
}

/** Returns whether bytes start like XML or HTML, in UTF-16 or an encoding based on ASCII. */
export function isMarkup(start: Uint8Array): boolean {
  return /^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?\0?\s*\0?</.test(Buffer.from(start.subarray(0, 64)).toString('latin1'));
}

/** Throws on XML that expands or nests too much for its parser. */
export async function checkXml(path: string): Promise<void> {
  await watch(createReadStream(path));
}

/** Throws on XML, compressed with gzip or not, that expands or nests too much for its parser. */
export async function checkGzip(path: string): Promise<void> {
  const head = await firstBytes(path, 2);
  if (head[0] !== 0x1f || head[1] !== 0x8b) return checkXml(path);
  await orDamaged(() => pipeline(createReadStream(path), createGunzip(), watch));
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
  return readAll(createReadStream(path, { end: count - 1 }));
}

/** Rejects rich text with excessive nesting of groups. Returns it without fields that include files. */
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

/** Rejects HTML with excessive nesting of containers. Elements that are often left open do not count. */
export function checkHtml(text: string): void {
  const containers =
    /<(\/?)(?:div|span|table|tr|td|blockquote|ul|ol|dl|font|b|i|u|em|strong|center|section|article|form|a|sub|sup|big|small)\b/gi;
  let depth = 0;
  for (const match of text.matchAll(containers)) {
    depth = Math.max(0, depth + (match[1] ? -1 : 1));
    if (depth > maxTagDepth) throw new EngineError(`The page nests elements more than ${maxTagDepth} levels deep.`);
  }
}
