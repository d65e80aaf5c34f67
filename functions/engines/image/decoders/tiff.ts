import { type FileHandle, open, readFile } from 'node:fs/promises';
import { deflateSync } from 'node:zlib';
import { maxFrames, maxMagickBytes } from '../limits.ts';
import { part, type Size } from './decoding.ts';
import type { LabCoding } from './lab.ts';
import { tags } from './tiff-directories.ts';
import { unpackXz } from './xz.ts';

/** How a TIFF is read: by libvips, by libvips after rewriting, or by ImageMagick. */
export type TiffRoute =
  | { by: 'sharp' }
  /** With the coding of each page in Lab colours. */
  | { by: 'sharp'; bytes: Buffer; lab: (LabCoding | undefined)[] }
  | { by: 'magick'; pages: Size[] };

const compressions = { oldJpeg: 6, deflate: 8, lzma: 34925 };
const separatePlanes = 2;
const colourModels = { grey: 1, rgb: 2, cieLab: 8, iccLab: 9 };
const usualBits = [1, 2, 4, 8, 16, 32, 64];
const typeBytes: Record<number, number> = { 1: 1, 3: 2, 4: 4 };
const [shortType, longType] = [3, 4];
const [maxEntries, maxValues] = [1024, 1_000_000];

interface Entry {
  tag: number;
  type: number;
  count: number;
  /** The four bytes that hold the values or their position. */
  value: Buffer;
}

/** The entries of its directory. */
type Page = Entry[];

/** Reads the directories of a TIFF by position, so that a large file is not read as a whole. */
class TiffFile {
  readonly isLittle: boolean;
  readonly #read: (at: number, length: number) => Promise<Buffer>;

  constructor(isLittle: boolean, read: (at: number, length: number) => Promise<Buffer>) {
    this.isLittle = isLittle;
    this.#read = read;
  }

  number(bytes: Buffer, at: number, size: number): number {
    return this.isLittle ? bytes.readUIntLE(at, size) : bytes.readUIntBE(at, size);
  }

  /** Returns the pages in order. A circular chain ends at the first repeated page. */
  async pages(): Promise<Page[]> {
    const pages: Page[] = [];
    const seen = new Set<number>();
    let pointer = 4;
    while (pages.length < maxFrames) {
      const at = this.number(await this.#read(pointer, 4), 0, 4);
      if (at === 0 || seen.has(at)) break;
      seen.add(at);
      const count = this.number(await this.#read(at, 2), 0, 2);
      if (count === 0 || count > maxEntries) break;
      const bytes = await this.#read(at + 2, count * 12);
      pages.push(
        Array.from({ length: count }, (_, index) => ({
          tag: this.number(bytes, index * 12, 2),
          type: this.number(bytes, index * 12 + 2, 2),
          count: this.number(bytes, index * 12 + 4, 4),
          value: bytes.subarray(index * 12 + 8, index * 12 + 12),
        })),
      );
      pointer = at + 2 + count * 12;
    }
    return pages;
  }

  /** Returns the whole numbers of a tag. */
  async values(page: Page, tag: number): Promise<number[]> {
    const entry = page.find((candidate) => candidate.tag === tag);
    const size = entry && typeBytes[entry.type];
    if (!size || entry.count > maxValues) return [];
    const length = size * entry.count;
    const bytes = length <= 4 ? entry.value : await this.#read(this.number(entry.value, 0, 4), length);
    return Array.from({ length: entry.count }, (_, index) => this.number(bytes, index * size, size));
  }

  async value(page: Page, tag: number, otherwise: number): Promise<number> {
    return (await this.values(page, tag))[0] ?? otherwise;
  }

  async size(page: Page): Promise<Size> {
    return { width: await this.value(page, tags.width, 0), height: await this.value(page, tags.height, 0) };
  }
}

/** Decides how to read a TIFF and rewrites it if needed. */
export async function routeTiff(path: string): Promise<TiffRoute> {
  const handle = await open(path);
  try {
    const file = await openTiff(handle);
    if (!file) return { by: 'sharp' };
    const pages = await file.pages();
    let needsRewriting = false;
    const lab: (LabCoding | undefined)[] = [];
    for (const page of pages) {
      if (await needsMagick(file, page)) {
        return { by: 'magick', pages: await Promise.all(pages.map((each) => file.size(each))) };
      }
      const model = await file.value(page, tags.colours, -1);
      lab.push(({ 8: 'cie', 9: 'icc' } as const)[model]);
      needsRewriting ||=
        model < 0 || isLab(model) || (await file.value(page, tags.compression, 1)) === compressions.lzma;
    }
    const { size } = await handle.stat();
    if (!needsRewriting || size > maxMagickBytes) return { by: 'sharp' };
    return { by: 'sharp', bytes: await rewrite(await readFile(path), file, pages), lab };
  } finally {
    await handle.close();
  }
}

/** Returns undefined for BigTIFF, which has none of the old kinds. */
async function openTiff(handle: FileHandle): Promise<TiffFile | undefined> {
  const read = async (at: number, length: number) => {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(length), 0, length, at);
    if (bytesRead < length) throw new Error(`The file ends within the ${length} bytes that start at ${at}.`);
    return buffer;
  };
  const head = await read(0, 8);
  const file = new TiffFile(head.toString('latin1', 0, 2) === 'II', read);
  return file.number(head, 2, 2) === 42 ? file : undefined;
}

function isLab(model: number): boolean {
  return model === colourModels.cieLab || model === colourModels.iccLab;
}

/** Returns whether a page is of a kind that libvips does not read. */
async function needsMagick(file: TiffFile, page: Page): Promise<boolean> {
  const isTiled = page.some(({ tag }) => tag === tags.tileOffsets);
  const bits = await file.values(page, tags.bitsPerSample);
  return (
    (await file.value(page, tags.compression, 1)) === compressions.oldJpeg ||
    (isTiled && (await file.value(page, tags.planes, 1)) === separatePlanes) ||
    bits.some((depth) => !usualBits.includes(depth))
  );
}

/**
 * Appends rewritten pages: adds a missing tag for their colours, declares the channels of Lab as red, green and blue, because
 * libvips rejects Lab, and recompresses LZMA strips with Deflate, which has the same predictors.
 */
async function rewrite(bytes: Buffer, file: TiffFile, pages: Page[]): Promise<Buffer> {
  const parts = [bytes];
  let end = bytes.length;
  const append = (data: Buffer) => {
    const at = end;
    const padded = data.length & 1 ? Buffer.concat([data, Buffer.alloc(1)]) : data;
    parts.push(padded);
    end += padded.length;
    return at;
  };
  if (end & 1) append(Buffer.alloc(1));
  const number = (value: number, size: number) => {
    const buffer = Buffer.alloc(size);
    if (file.isLittle) buffer.writeUIntLE(value, 0, size);
    else buffer.writeUIntBE(value, 0, size);
    return buffer;
  };
  const entryOf = (tag: number, type: number, values: number[]): Entry => {
    const size = typeBytes[type] ?? 4;
    const packed = Buffer.concat(values.map((value) => number(value, size)));
    const value = packed.length <= 4 ? Buffer.concat([packed, Buffer.alloc(4 - packed.length)]) : undefined;
    return { tag, type, count: values.length, value: value ?? number(append(packed), 4) };
  };

  const directories: { at: number; length: number }[] = [];
  for (const page of pages) {
    const changed = new Map(page.map((entry) => [entry.tag, entry]));
    const model = await file.value(page, tags.colours, -1);
    if (model < 0) changed.set(tags.colours, entryOf(tags.colours, shortType, [colourModels.grey]));
    if (isLab(model)) {
      const isColoured = (await file.value(page, tags.samplesPerPixel, 1)) >= 3;
      const called = isColoured ? colourModels.rgb : colourModels.grey;
      changed.set(tags.colours, entryOf(tags.colours, shortType, [called]));
      changed.delete(tags.colourProfile);
    }
    if ((await file.value(page, tags.compression, 1)) === compressions.lzma) {
      const { offsets, strips } = await unpackStrips(file, page, bytes);
      const packed = strips.map((strip) => deflateSync(strip, { level: 1 }));
      const starts = packed.map(append);
      const lengths = packed.map(({ length }) => length);
      changed.set(tags.compression, entryOf(tags.compression, shortType, [compressions.deflate]));
      changed.set(offsets.at, entryOf(offsets.at, longType, starts));
      changed.set(offsets.bytes, entryOf(offsets.bytes, longType, lengths));
    }
    const entries = [...changed.values()].sort((one, other) => one.tag - other.tag);
    const directory = Buffer.concat([
      number(entries.length, 2),
      ...entries.flatMap(({ tag, type, count, value }) => [number(tag, 2), number(type, 2), number(count, 4), value]),
      Buffer.alloc(4),
    ]);
    directories.push({ at: append(directory), length: directory.length });
  }
  const result = Buffer.concat(parts);
  // Each directory ends with the position of the next one.
  let pointer = 4;
  for (const { at, length } of directories) {
    number(at, 4).copy(result, pointer);
    pointer = at + length - 4;
  }
  return result;
}

async function unpackStrips(file: TiffFile, page: Page, bytes: Buffer) {
  const isTiled = page.some(({ tag }) => tag === tags.tileOffsets);
  const offsets = isTiled
    ? { at: tags.tileOffsets, bytes: tags.tileBytes }
    : { at: tags.stripOffsets, bytes: tags.stripBytes };
  const { width, height } = await file.size(page);
  const [columns, rows] = isTiled
    ? [await file.value(page, tags.tileWidth, 0), await file.value(page, tags.tileHeight, 0)]
    : [width, Math.min(height, await file.value(page, tags.rowsPerStrip, height))];
  const samples = await file.value(page, tags.samplesPerPixel, 1);
  const bits = await file.value(page, tags.bitsPerSample, 1);
  const perPixel = (await file.value(page, tags.planes, 1)) === separatePlanes ? 1 : samples;
  const stripBytes = Math.ceil((columns * perPixel * bits) / 8) * rows;
  const starts = await file.values(page, offsets.at);
  const lengths = await file.values(page, offsets.bytes);
  // All strips together have the size of the picture plus the margins of tiles. A larger one is an attack.
  const maxBytes = 8 * (width + columns) * (height + rows) * samples * Math.max(1, bits / 8);
  if (!(stripBytes > 0) || stripBytes * starts.length > Math.min(maxBytes, maxMagickBytes * 2)) {
    throw new Error('The strips have an impossible size.');
  }
  const strips = starts.map((start, index) => unpackXz(part(bytes, start, lengths[index] ?? 0), stripBytes));
  return { offsets, strips };
}
