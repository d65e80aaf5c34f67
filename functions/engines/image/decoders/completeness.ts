import { imageFormat } from '../formats.ts';
import { rawLength } from './raw-files.ts';

/**
 * Returns whether a file is as long as its header declares. Checks only formats with a decoder that silently fills in missing
 * pixels, and returns true for others.
 */
export function isComplete(bytes: Buffer, format: string): boolean {
  try {
    if (format === 'psd' || format === 'psb') return bytes.length >= photoshopLength(bytes, format === 'psb');
    if (format === 'dds') return bytes.length >= surfaceLength(bytes);
    if (format === 'vips') return bytes.length >= vipsLength(bytes);
    if (imageFormat(format).camera) return bytes.length >= rawLength(bytes, format);
    return true;
  } catch (error) {
    // Thrown if the header is truncated.
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** Adds up the sections of a Photoshop file. The merged picture is the last one. */
function photoshopLength(bytes: Buffer, isLarge: boolean): number {
  const [channels, depth] = [bytes.readUInt16BE(12), bytes.readUInt16BE(22)];
  const [height, width] = [bytes.readUInt32BE(14), bytes.readUInt32BE(18)];
  let at = 26;
  at += 4 + bytes.readUInt32BE(at);
  at += 4 + bytes.readUInt32BE(at);
  at += isLarge ? 8 + Number(bytes.readBigUInt64BE(at)) : 4 + bytes.readUInt32BE(at);
  const compression = bytes.readUInt16BE(at);
  at += 2;
  if (compression === 0) return at + channels * height * Math.ceil((width * depth) / 8);
  if (compression !== 1) return at + 1;
  const counts = at;
  const lines = channels * height;
  const countBytes = isLarge ? 4 : 2;
  at += lines * countBytes;
  for (let line = 0; line < lines; line++) at += bytes.readUIntBE(counts + line * countBytes, countBytes);
  return at;
}

function surfaceLength(bytes: Buffer): number {
  const [height, width, flags] = [bytes.readUInt32LE(12), bytes.readUInt32LE(16), bytes.readUInt32LE(80)];
  const code = bytes.toString('latin1', 84, 88);
  const isCompressed = (flags & 4) !== 0;
  if (!isCompressed) return 128 + Math.ceil((width * height * bytes.readUInt32LE(88)) / 8);
  const blocks = Math.ceil(width / 4) * Math.ceil(height / 4);
  if (code === 'DXT1' || code === 'ATI1' || code === 'BC4U') return 128 + blocks * 8;
  return code === 'DX10' ? 148 + blocks * 8 : 128 + blocks * 16;
}

function vipsLength(bytes: Buffer): number {
  const isLittle = bytes.readUInt32BE(0) === 0xb6a6f208;
  const field = (at: number) => (isLittle ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at));
  const sampleBytes = [1, 1, 2, 2, 4, 4, 4, 8, 8, 16][field(20)] ?? 1;
  return 64 + field(4) * field(8) * field(12) * sampleBytes;
}
