import { open } from 'node:fs/promises';
import type { Metadata } from 'sharp';

/** How a JPEG was compressed, for an output that is to look the same. */
export interface JpegQuality {
  /** From 1 to 100, on the usual scale. */
  quality: number;
  /** Its colours have the full resolution in both directions, or in one. */
  isFine: boolean;
}

interface Segment {
  marker: number;
  /** From its marker to its end. */
  start: number;
  end: number;
}

/** Lists the segments before the pixels, as far as the bytes go. */
function segments(file: Buffer): Segment[] {
  const found: Segment[] = [];
  let at = 2;
  while (at + 4 <= file.length && file[at] === 0xff) {
    const marker = file[at + 1] ?? 0;
    // From the start of scan on there are only pixels.
    if (marker === 0xda) break;
    const end = at + 2 + file.readUInt16BE(at + 2);
    found.push({ marker, start: at, end });
    at = end;
  }
  return found;
}

/** Returns a JPEG without comments, EXIF, XMP, profiles and what follows its pixels; what decoding needs stays. */
export function stripJpeg(file: Buffer): Buffer {
  const parts = [file.subarray(0, 2)];
  let at = 2;
  for (const { marker, start, end } of segments(file)) {
    const isComment = marker === 0xfe;
    // The first application segment is JFIF's, the fourteenth declares how colours are encoded.
    const isMetadata = marker >= 0xe1 && marker <= 0xef && marker !== 0xee;
    if (!isComment && !isMetadata) parts.push(file.subarray(start, end));
    at = end;
  }
  parts.push(file.subarray(at, endOfPixels(file, at)));
  return Buffer.concat(parts);
}

/** Finds the end of a JPEG, behind which cameras keep previews and others whatever they like. */
function endOfPixels(file: Buffer, from: number): number {
  let at = file.indexOf(0xff, from);
  while (at >= 0 && at + 3 < file.length) {
    const marker = file[at + 1] ?? 0;
    if (marker === 0xd9) return at + 2;
    // Between pixels there are only stuffed bytes and restarts; other segments say how long they are.
    const isInPixels = marker === 0 || marker === 0xff || (marker >= 0xd0 && marker <= 0xd7);
    at = file.indexOf(0xff, isInPixels ? at + (marker === 0xff ? 1 : 2) : at + 2 + file.readUInt16BE(at + 2));
  }
  return file.length;
}

/** Profiles and previews of cameras come before the tables. */
const headerBytes = 1024 * 1024;

/** Estimates the quality of a JPEG from its tables; undefined if they are beyond the first megabyte. */
export async function jpegQuality(path: string): Promise<JpegQuality | undefined> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(headerBytes), 0, headerBytes, 0);
    return qualityOf(buffer.subarray(0, bytesRead));
  } finally {
    await file.close();
  }
}

/** The table for brightness that the standard gives as an example (Annex K.1), which encoders scale by the quality. */
const usualTable = [
  ...[16, 11, 12, 14, 12, 10, 16, 14, 13, 14, 18, 17, 16, 19, 24, 40],
  ...[26, 24, 22, 22, 24, 49, 35, 37, 29, 40, 58, 51, 61, 60, 57, 51],
  ...[56, 55, 64, 72, 92, 78, 64, 68, 87, 69, 55, 56, 80, 109, 81, 87],
  ...[95, 98, 103, 104, 103, 62, 77, 113, 121, 112, 100, 120, 92, 101, 103, 99],
];

function qualityOf(header: Buffer): JpegQuality | undefined {
  let sum: number | undefined;
  let isFine = true;
  for (const { marker, start, end } of segments(header)) {
    if (end > header.length) return undefined;
    const body = header.subarray(start + 4, end);
    if (marker === 0xdb) sum ??= brightnessSum(body);
    // Frames but for those of lossless and arithmetic coding; the first component is brightness.
    if (marker >= 0xc0 && marker <= 0xc2 && (body[5] ?? 0) >= 3) isFine = body[7] !== 0x22;
  }
  if (sum === undefined) return undefined;
  let [quality, smallest] = [100, Number.POSITIVE_INFINITY];
  for (let candidate = 100; candidate >= 1; candidate--) {
    const difference = Math.abs(scaledSum(candidate) - sum);
    if (difference < smallest) [quality, smallest] = [candidate, difference];
  }
  return { quality, isFine };
}

/** Adds up the first table, if this segment has it: encoders that use their own tables still make coarser ones for less quality. */
function brightnessSum(body: Buffer): number | undefined {
  for (let at = 0; at < body.length; ) {
    const [precision, number] = [(body[at] ?? 0) >> 4, (body[at] ?? 0) & 15];
    const size = precision === 0 ? 1 : 2;
    if (at + 1 + 64 * size > body.length) return undefined;
    if (number === 0) {
      let sum = 0;
      for (let index = 0; index < 64; index++) sum += body.readUIntBE(at + 1 + index * size, size);
      return sum;
    }
    at += 1 + 64 * size;
  }
  return undefined;
}

/** The sum of the usual table at a quality, as the encoder of the Independent JPEG Group scales it. */
function scaledSum(quality: number): number {
  const scale = quality < 50 ? 5000 / quality : 200 - quality * 2;
  return usualTable.reduce((sum, value) => sum + Math.min(255, Math.max(1, Math.floor((value * scale + 50) / 100))), 0);
}

/** Says in a JPEG how many pixels an inch has. Returns false if it has no place for that. */
export function setJpegDensity(file: Buffer, dpi: number): boolean {
  const jfif = segments(file).find(
    ({ marker, start }) => marker === 0xe0 && file.toString('latin1', start + 4, start + 8) === 'JFIF',
  );
  if (!jfif) return false;
  file[jfif.start + 11] = 1;
  file.writeUInt16BE(Math.round(dpi), jfif.start + 12);
  file.writeUInt16BE(Math.round(dpi), jfif.start + 14);
  return true;
}

/** Returns whether an embedded profile, if there is one, is that of screens. */
export function isSrgb(icc: Buffer | undefined): boolean {
  return !icc || icc.includes('sRGB') || icc.includes(Buffer.from('sRGB', 'utf16le').swap16());
}

/** Maps the position of a pixel: the first row gives its new column, the second its new row. */
type Matrix = [number, number, number, number];

/** The turns that EXIF numbers, from 1, each with the arguments of jpegtran. */
const turns: { matrix: Matrix; args: string[] }[] = [
  { matrix: [1, 0, 0, 1], args: [] },
  { matrix: [-1, 0, 0, 1], args: ['-flip', 'horizontal'] },
  { matrix: [-1, 0, 0, -1], args: ['-rotate', '180'] },
  { matrix: [1, 0, 0, -1], args: ['-flip', 'vertical'] },
  { matrix: [0, 1, 1, 0], args: ['-transpose'] },
  { matrix: [0, -1, 1, 0], args: ['-rotate', '90'] },
  { matrix: [0, -1, -1, 0], args: ['-transverse'] },
  { matrix: [0, 1, -1, 0], args: ['-rotate', '270'] },
];

export interface Turning {
  /** By EXIF; 1 if the pixels are to stay as they are stored. */
  orientation: number;
  /** A multiple of 90 degrees, clockwise. */
  angle: number;
  flip: string | undefined;
}

/** Returns the arguments with which jpegtran turns a JPEG upright, then by an angle, and mirrors it then. */
export function turningArguments({ orientation, angle, flip }: Turning): string[] {
  const upright = turns[orientation - 1]?.matrix ?? [1, 0, 0, 1];
  const rotated = turns[[0, 5, 2, 7][(((angle / 90) % 4) + 4) % 4] ?? 0]?.matrix ?? [1, 0, 0, 1];
  const [across, down] = [
    flip === 'horizontal' || flip === 'both' ? -1 : 1,
    flip === 'vertical' || flip === 'both' ? -1 : 1,
  ];
  const sum = product([across, 0, 0, down], product(rotated, upright));
  return turns.find(({ matrix }) => matrix.every((value, index) => value === sum[index]))?.args ?? [];
}

function product([a, b, c, d]: Matrix, [e, f, g, h]: Matrix): Matrix {
  return [a * e + b * g, a * f + b * h, c * e + d * g, c * f + d * h];
}

/** Returns the pixels of a side of the blocks that a JPEG consists of, which cannot be cut without loss. */
export function jpegBlock({ chromaSubsampling, channels }: Pick<Metadata, 'chromaSubsampling' | 'channels'>): number {
  return channels === 1 || chromaSubsampling === '4:4:4' ? 8 : 16;
}
