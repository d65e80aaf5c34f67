import { open } from 'node:fs/promises';

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

/** Returns a JPEG without comments, EXIF, XMP and profiles; what decoding needs stays. */
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
  parts.push(file.subarray(at));
  return Buffer.concat(parts);
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
