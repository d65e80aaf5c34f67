import { defined } from '../../../../shared/defined.ts';
import type { Frame } from '../codecs/magick.ts';
import {
  channelReader,
  type Decoded,
  flipLines,
  fromPalette,
  part,
  type Size,
  type SizeCheck,
  unpackBits,
} from './decoding.ts';

interface Header extends Size {
  isTopDown: boolean;
  bits: number;
  compression: number;
  masks: [red: number, green: number, blue: number, alpha: number];
  /** Red, green and blue of each colour, if the pixels are indices. */
  palette: Uint8Array;
  pixelStart: number;
  density: number | undefined;
}

const compressions = { none: 0, rle8: 1, rle4: 2, masks: 3, masksWithAlpha: 6 };
const bitsByCompression: Record<number, number[]> = {
  [compressions.none]: [1, 2, 4, 8, 16, 24, 32],
  [compressions.rle8]: [8],
  [compressions.rle4]: [4],
  [compressions.masks]: [16, 24, 32],
  [compressions.masksWithAlpha]: [16, 24, 32],
};
const sizes = { file: 14, core: 12, shortOs2: 16, info: 40, os2: 64, version5: 124 };
const infoSizes = [40, 52, 56, 64, 108, 124];
const embeddedProfile = 0x4d424544;

/**
 * Decodes a Windows or OS/2 bitmap, with or without a file header. Ignores fields that are not needed and often wrong: the
 * file size, the number of planes, an impossible number of colours. Returns undefined for kinds that ImageMagick decodes.
 */
export function readBmp(file: Buffer, check: SizeCheck): Decoded | undefined {
  const header = parseHeader(file, check);
  if (!header) return undefined;
  const { compression, bits, density, isTopDown, palette } = header;
  const isPacked = compression === compressions.rle8 || compression === compressions.rle4;
  const frame =
    bits > 8
      ? fromMasks(file, header)
      : fromPalette(isPacked ? unpack(file, header) : readIndices(file, header), palette, header);
  if (!isTopDown) flipLines(frame);
  return { frames: [frame], ...defined({ density }) };
}

function parseHeader(file: Buffer, check: SizeCheck): Header | undefined {
  const start = file.toString('latin1', 0, 2) === 'BM' ? sizes.file : 0;
  const size = file.readUInt32LE(start);
  const isCore = size === sizes.core;
  const isInfo = infoSizes.includes(size);
  if (!isCore && !isInfo && size !== sizes.shortOs2) return undefined;
  const width = isCore ? file.readUInt16LE(start + 4) : file.readInt32LE(start + 4);
  const height = isCore ? file.readUInt16LE(start + 6) : file.readInt32LE(start + 8);
  const bits = file.readUInt16LE(start + (isCore ? 10 : 14));
  const compression = isInfo ? file.readUInt32LE(start + 16) : compressions.none;
  const hasMasks = compression === compressions.masks || compression === compressions.masksWithAlpha;
  // The numbers of masks have another meaning in OS/2.
  if (!bitsByCompression[compression]?.includes(bits) || (hasMasks && size === sizes.os2)) return undefined;
  if (size === sizes.version5 && file.readUInt32LE(start + 56) === embeddedProfile) return undefined;
  check({ width, height: Math.abs(height) });

  const masksBehind = hasMasks && size === sizes.info ? (compression === compressions.masks ? 12 : 16) : 0;
  const paletteStart = start + size + masksBehind;
  const colourBytes = isCore ? 3 : 4;
  const declared = isInfo ? file.readUInt32LE(start + 32) : 0;
  const colours = declared > 0 || bits > 8 ? declared : 1 << bits;
  const afterPalette = paletteStart + colours * colourBytes;
  const pixelStart = start > 0 ? file.readUInt32LE(10) : 0;
  const isPlausible = pixelStart >= paletteStart + (bits <= 8 ? colourBytes : 0) && pixelStart < file.length;
  return {
    width,
    height: Math.abs(height),
    isTopDown: height < 0,
    bits,
    compression,
    masks: hasMasks ? readMasks(file, start, size, masksBehind) : usualMasks(bits),
    // Stored as blue, green and red.
    palette: Uint8Array.from(
      { length: bits <= 8 ? Math.min(colours, 1 << bits) * 3 : 0 },
      (_, at) => file[paletteStart + Math.floor(at / 3) * colourBytes + 2 - (at % 3)] ?? 0,
    ),
    pixelStart: isPlausible ? pixelStart : afterPalette,
    density:
      isInfo && file.readInt32LE(start + 24) > 0 ? Math.round(file.readInt32LE(start + 24) / 3.937_01) / 10 : undefined,
  };
}

function usualMasks(bits: number): Header['masks'] {
  return bits === 16 ? [0x7c00, 0x3e0, 0x1f, 0] : [0xff0000, 0xff00, 0xff, 0];
}

function readMasks(file: Buffer, start: number, size: number, masksBehind: number): Header['masks'] {
  const mask = (index: number) => file.readUInt32LE(start + sizes.info + index * 4);
  const hasAlpha = masksBehind === 16 || size >= 56;
  return [mask(0), mask(1), mask(2), hasAlpha ? mask(3) : 0];
}

/** Lines start at multiples of four bytes. */
function linesOf(file: Buffer, { width, height, bits, pixelStart }: Header): { lines: Buffer; bytesPerLine: number } {
  const bytesPerLine = Math.ceil((width * bits) / 32) * 4;
  // The padding of the last line is sometimes missing.
  const length = bytesPerLine * (height - 1) + Math.ceil((width * bits) / 8);
  return { lines: part(file, pixelStart, length), bytesPerLine };
}

function fromMasks(file: Buffer, header: Header): Frame {
  const { width, height, bits, masks } = header;
  const { lines, bytesPerLine } = linesOf(file, header);
  const channels = masks[3] === 0 ? 3 : 4;
  const readers = masks.slice(0, channels).map(channelReader);
  const bytes = bits >> 3;
  const data = new Uint8Array(width * height * channels);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const pixel = lines.readUIntLE(y * bytesPerLine + x * bytes, bytes);
      const target = (y * width + x) * channels;
      for (let channel = 0; channel < channels; channel++) data[target + channel] = readers[channel]?.(pixel) ?? 0;
    }
  }
  return { data, width, height, channels };
}

function readIndices(file: Buffer, header: Header): Uint8Array {
  const { lines, bytesPerLine } = linesOf(file, header);
  return unpackBits(lines, header, header.bits, bytesPerLine);
}

/** Unpacks runs of indices. Skipped pixels have the first colour. Pixels outside the picture are dropped. */
function unpack(file: Buffer, { width, height, bits, pixelStart }: Header): Uint8Array {
  const indices = new Uint8Array(width * height);
  let [at, x, row] = [pixelStart, 0, 0];
  const put = (index: number) => {
    if (x < width && row < height) indices[row * width + x] = index;
    x += 1;
  };
  const nibble = (byte: number, index: number) => (bits === 8 ? byte : index % 2 === 0 ? byte >> 4 : byte & 15);
  while (row < height) {
    const [count, value] = [file.readUInt8(at), file.readUInt8(at + 1)];
    at += 2;
    if (count > 0) for (let index = 0; index < count; index++) put(nibble(value, index));
    else if (value === 0) [x, row] = [0, row + 1];
    else if (value === 1) break;
    else if (value === 2) {
      x += file.readUInt8(at);
      row += file.readUInt8(at + 1);
      at += 2;
    } else {
      const bytes = part(file, at, Math.ceil((value * bits) / 8));
      for (let index = 0; index < value; index++) put(nibble(bytes[bits === 8 ? index : index >> 1] ?? 0, index));
      at += bytes.length + (bytes.length & 1);
    }
  }
  return indices;
}
