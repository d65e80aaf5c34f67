import type { Metadata } from 'sharp';
import { readStart } from './bytes.ts';

/** The compression settings of a JPEG, for an output of the same quality. */
export interface JpegQuality {
  /** From 1 to 100, on the usual scale. */
  quality: number;
  /** Its colours have the full resolution in at least one direction. */
  isFine: boolean;
}

interface Segment {
  marker: number;
  /** All bytes, including its marker. */
  start: number;
  end: number;
}

/** Lists the segments before the pixels that are within the bytes. */
function segments(file: Buffer): Segment[] {
  const found: Segment[] = [];
  let at = 2;
  while (at + 4 <= file.length && file[at] === 0xff) {
    const marker = file[at + 1] ?? 0;
    // The pixels begin at the start of scan.
    if (marker === 0xda) break;
    const end = at + 2 + file.readUInt16BE(at + 2);
    found.push({ marker, start: at, end });
    at = end;
  }
  return found;
}

/** Removes comments, EXIF, XMP, profiles and trailing data from a JPEG. Keeps what decoding needs. */
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

/** Finds the end of a JPEG. Cameras store previews after it. */
function endOfPixels(file: Buffer, from: number): number {
  let at = file.indexOf(0xff, from);
  while (at >= 0 && at + 3 < file.length) {
    const marker = file[at + 1] ?? 0;
    if (marker === 0xd9) return at + 2;
    // Pixels contain only stuffed bytes and restarts. Other segments declare their length.
    const isInPixels = marker === 0 || marker === 0xff || (marker >= 0xd0 && marker <= 0xd7);
    at = file.indexOf(0xff, isInPixels ? at + (marker === 0xff ? 1 : 2) : at + 2 + file.readUInt16BE(at + 2));
  }
  return file.length;
}

/** Profiles and previews of cameras precede the tables. */
const headerBytes = 1024 * 1024;

/** Estimates the quality of a JPEG from its tables. Returns undefined if they are beyond the first megabyte. */
export async function jpegQuality(path: string): Promise<JpegQuality | undefined> {
  return qualityOf(await readStart(path, headerBytes));
}

/** The example table for brightness in the standard (Annex K.1), which encoders scale by the quality. */
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
    // Frames, except those of lossless and arithmetic coding. The first component is brightness.
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

/** Adds up the first table, if this segment has it. Tables of lower quality are coarser in all encoders. */
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

/** Returns the sum of the standard table at a quality, as the encoder of the Independent JPEG Group scales it. */
function scaledSum(quality: number): number {
  const scale = quality < 50 ? 5000 / quality : 200 - quality * 2;
  return usualTable.reduce((sum, value) => sum + Math.min(255, Math.max(1, Math.floor((value * scale + 50) / 100))), 0);
}

/** Sets the resolution of a JPEG in its header. Returns false if it has no field for that. */
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

/** Returns whether the embedded profile is sRGB or absent. */
export function isSrgb(icc: Buffer | undefined): boolean {
  return !icc || icc.includes('sRGB') || icc.includes(Buffer.from('sRGB', 'utf16le').swap16());
}

/** A matrix for the position of a pixel: the first row gives its new column, the second its new row. */
type Matrix = [number, number, number, number];

/** The orientations of EXIF, numbered from 1, each with the arguments of jpegtran. */
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
  /** EXIF orientation; 1 keeps the pixels as stored. */
  orientation: number;
  /** A multiple of 90 degrees, clockwise. */
  angle: number;
  flip: string | undefined;
}

/** Returns the arguments for jpegtran to turn a JPEG upright, rotate it by an angle, and then mirror it. */
export function turningArguments({ orientation, angle, flip }: Turning): string[] {
  const upright = turns[orientation - 1]?.matrix ?? [1, 0, 0, 1];
  const rotated = turns[[0, 5, 2, 7][(((angle / 90) % 4) + 4) % 4] ?? 0]?.matrix ?? [1, 0, 0, 1];
  const [across, down] = ['horizontal', 'vertical'].map((way) => (flip === way || flip === 'both' ? -1 : 1));
  const sum = product([across ?? 1, 0, 0, down ?? 1], product(rotated, upright));
  return turns.find(({ matrix }) => matrix.every((value, index) => value === sum[index]))?.args ?? [];
}

function product([a, b, c, d]: Matrix, [e, f, g, h]: Matrix): Matrix {
  return [a * e + b * g, a * f + b * h, c * e + d * g, c * f + d * h];
}

/** Returns the side length of the blocks of a JPEG, which cannot be cut losslessly. */
export function jpegBlock({ chromaSubsampling, channels }: Pick<Metadata, 'chromaSubsampling' | 'channels'>): number {
  return channels === 1 || chromaSubsampling === '4:4:4' ? 8 : 16;
}
