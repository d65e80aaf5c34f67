import { randomBytes } from 'node:crypto';
import { appendFile, open, stat } from 'node:fs/promises';
import { isDict, type PdfDict, type PdfObject, type PdfObjects, type PdfValue } from '../objects.ts';

/** Where the last cross-reference section of a file is, and of what kind. */
export interface Tail {
  start: number;
  isStream: boolean;
}

/** Bytes at the end of a file that have the offset of its cross-reference section. */
const tailBytes = 1_024;

/** Finds the last cross-reference section. Returns undefined if a file does not begin or end as it should. */
export async function findTail(path: string): Promise<Tail | undefined> {
  const { size } = await stat(path);
  const text = async (from: number, length: number) =>
    (await readBytes(path, Math.max(0, from), length)).toString('latin1');
  const [, start] = /startxref\s+(\d{1,15})\s+%%EOF\s*$/.exec(await text(size - tailBytes, tailBytes)) ?? [];
  if (start === undefined || !(await text(0, 5)).startsWith('%PDF-')) return undefined;
  const section = await text(Number(start), 30);
  const isStream = /^\d+ \d+ obj\b/.test(section);
  return isStream || /^xref\s/.test(section) ? { start: Number(start), isStream } : undefined;
}

export async function readBytes(path: string, from: number, length: number): Promise<Buffer> {
  const file = await open(path);
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(length), 0, length, from);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/** Encrypts the strings and streams of an object. */
export type Encrypt = (bytes: Buffer, reference: string) => Buffer;

/**
 * Appends the changes of a PDF to its file, which stays as it is. Returns the offsets of the changed objects. `plain` is an
 * object with strings that are not encrypted.
 */
export async function appendChanges(
  path: string,
  objects: PdfObjects,
  tail: Tail,
  { encrypt, plain }: { encrypt?: Encrypt | undefined; plain?: string } = {},
): Promise<Map<string, number>> {
  const { size } = await stat(path);
  const pieces: Buffer[] = [Buffer.from('\n')];
  let at = size + 1;
  const offsets = new Map<string, number>();
  for (const [reference, object] of objects.changes) {
    const written = writeObject(reference, object, reference === plain ? undefined : encrypt);
    offsets.set(reference, at);
    pieces.push(written);
    at += written.length;
  }
  pieces.push(tail.isStream ? xrefStream(objects, offsets, at, tail) : xrefTable(objects, offsets, at, tail));
  pieces.push(Buffer.from(`startxref\n${at}\n%%EOF\n`));
  await appendFile(path, Buffer.concat(pieces));
  return offsets;
}

function writeObject(reference: string, { value = null, stream }: PdfObject, encrypt: Encrypt | undefined): Buffer {
  const [number, generation] = reference.split(' ');
  const string = (bytes: Buffer) => hex(encrypt ? encrypt(bytes, reference) : bytes);
  const head = `${number} ${generation} obj\n`;
  if (!stream) return Buffer.from(`${head}${write(value, string)}\nendobj\n`, 'latin1');
  const raw = Buffer.from(stream.data ?? '', 'base64');
  const data = encrypt ? encrypt(raw, reference) : raw;
  const dict = write({ ...stream.dict, '/Length': data.length }, string);
  return Buffer.concat([Buffer.from(`${head}${dict}\nstream\n`, 'latin1'), data, Buffer.from('\nendstream\nendobj\n')]);
}

function write(value: PdfValue, string: (bytes: Buffer) => string): string {
  if (Array.isArray(value)) return `[${value.map((item) => write(item, string)).join(' ')}]`;
  if (isDict(value))
    return `<<${Object.entries(value)
      .map(([key, item]) => `${writeName(key)} ${write(item ?? null, string)}`)
      .join('\n')}>>`;
  // PDF has no exponents.
  if (typeof value === 'number') return /e/.test(String(value)) ? value.toFixed(10) : String(value);
  if (typeof value !== 'string') return String(value);
  if (value.startsWith('/')) return writeName(value);
  if (value.startsWith('b:')) return string(Buffer.from(value.slice(2), 'hex'));
  return value.startsWith('u:') ? string(encodeText(value.slice(2))) : value;
}

/** Writes a name. Bytes that are not UTF-8 were read as lone surrogates. */
function writeName(name: string): string {
  const bytes = [...name.slice(1)].flatMap((character) => {
    const code = character.charCodeAt(0);
    return character.length === 1 && code >= 0xdc80 && code <= 0xdcff ? [code - 0xdc00] : [...Buffer.from(character)];
  });
  const written = bytes.map((byte) =>
    isRegular(byte) ? String.fromCharCode(byte) : `#${byte.toString(16).padStart(2, '0')}`,
  );
  return `/${written.join('')}`;
}

function isRegular(byte: number): boolean {
  return byte > 0x20 && byte < 0x7f && !'()<>[]{}/%#'.includes(String.fromCharCode(byte));
}

function encodeText(text: string): Buffer {
  if (/^[\x20-\x7e\n\r\t]*$/.test(text)) return Buffer.from(text, 'latin1');
  return Buffer.concat([Buffer.from([0xfe, 0xff]), Buffer.from(text, 'utf16le').swap16()]);
}

function hex(bytes: Buffer): string {
  return `<${bytes.toString('hex')}>`;
}

/** Returns what the trailer of an update has: all of the last one but what describes its own section. */
function trailerOf(objects: PdfObjects, size: number, tail: Tail): PdfDict {
  const { '/Root': root, '/Info': info, '/ID': id, '/Encrypt': encryption, '/Size': known } = objects.trailer;
  const first = objects.array(id)[0] ?? `b:${randomBytes(16).toString('hex')}`;
  return {
    ...(root === undefined ? {} : { '/Root': root }),
    ...(info === undefined ? {} : { '/Info': info }),
    ...(encryption === undefined ? {} : { '/Encrypt': encryption }),
    '/ID': [first, `b:${randomBytes(16).toString('hex')}`],
    '/Size': Math.max(size, typeof known === 'number' ? known : 0),
    '/Prev': tail.start,
  };
}

function numberOf(reference: string): number {
  return Number(reference.split(' ')[0]);
}

/** Returns runs of successive object numbers. */
function sectionsOf(offsets: Map<string, number>): [string, number][][] {
  const sorted = [...offsets].sort(([one], [other]) => numberOf(one) - numberOf(other));
  const sections: [string, number][][] = [];
  let next = -1;
  for (const entry of sorted) {
    const number = numberOf(entry[0]);
    if (number === next) sections.at(-1)?.push(entry);
    else sections.push([entry]);
    next = number + 1;
  }
  return sections;
}

function sizeOf(offsets: Map<string, number>): number {
  return Math.max(...[...offsets.keys()].map(numberOf)) + 1;
}

function xrefTable(objects: PdfObjects, offsets: Map<string, number>, _at: number, tail: Tail): Buffer {
  const lines = sectionsOf(offsets).flatMap((section) => [
    `${numberOf(section[0]?.[0] ?? '')} ${section.length}\n`,
    ...section.map(([reference, offset]) => {
      const generation = reference.split(' ')[1] ?? '0';
      return `${String(offset).padStart(10, '0')} ${generation.padStart(5, '0')} n \n`;
    }),
  ]);
  const trailer = write(trailerOf(objects, sizeOf(offsets), tail), hex);
  return Buffer.from(`xref\n${lines.join('')}trailer\n${trailer}\n`, 'latin1');
}

function xrefStream(objects: PdfObjects, offsets: Map<string, number>, at: number, tail: Tail): Buffer {
  const own = `${Math.max(sizeOf(offsets), Number(objects.trailer['/Size'] ?? 0))} 0 R`;
  const all = new Map([...offsets, [own, at]]);
  const sections = sectionsOf(all);
  const rows = sections.flat().map(([reference, offset]) => {
    const row = Buffer.alloc(9);
    row[0] = 1;
    row.writeUIntBE(offset, 1, 6);
    row.writeUInt16BE(Number(reference.split(' ')[1]), 7);
    return row;
  });
  const dict: PdfDict = {
    '/Type': '/XRef',
    ...trailerOf(objects, sizeOf(all), tail),
    '/W': [1, 6, 2],
    '/Index': sections.flatMap((section) => [numberOf(section[0]?.[0] ?? ''), section.length]),
  };
  return writeObject(own, { stream: { dict, data: Buffer.concat(rows).toString('base64') } }, undefined);
}
