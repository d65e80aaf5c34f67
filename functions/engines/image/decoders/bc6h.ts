import { fromHalf } from '../codecs/exr.ts';
import type { LinearPicture } from '../codecs/linear-light.ts';
import { readBlocks } from './block-textures.ts';
import type { Size } from './decoding.ts';

/** A layout of the bits of a block for its two or four corner colours. */
interface Mode {
  regions: 1 | 2;
  /** The other corners are stored as differences from the first. */
  isRelative: boolean;
  /** Bits of the first corner, and of the red, green and blue of the others. */
  bits: number[];
  /** For each bit in file order: which of the twelve values, and which bit of it. */
  places: { value: number; bit: number }[];
}

/**
 * From the BC6H tables of Direct3D and of OpenGL's ARB_texture_compression_bptc. A row has the bits of the first corner, those
 * of the red, green and blue of the others, then the meaning of each bit in file order: channel, corner, first to last bit.
 */
const modes = `
  10 5 5 5 g2:4 b2:4 b3:4 r0:0-9 g0:0-9 b0:0-9 r1:0-4 g3:4 g2:0-3 g1:0-4 b3:0 g3:0-3 b1:0-4 b3:1 b2:0-3 r2:0-4 b3:2 r3:0-4 b3:3
  7 6 6 6 g2:5 g3:4-5 r0:0-6 b3:0-1 b2:4 g0:0-6 b2:5 b3:2 g2:4 b0:0-6 b3:3 b3:5-4 r1:0-5 g2:0-3 g1:0-5 g3:0-3 b1:0-5 b2:0-3 r2:0-5 r3:0-5
  11 5 4 4 r0:0-9 g0:0-9 b0:0-9 r1:0-4 r0:10 g2:0-3 g1:0-3 g0:10 b3:0 g3:0-3 b1:0-3 b0:10 b3:1 b2:0-3 r2:0-4 b3:2 r3:0-4 b3:3
  11 4 5 4 r0:0-9 g0:0-9 b0:0-9 r1:0-3 r0:10 g3:4 g2:0-3 g1:0-4 g0:10 g3:0-3 b1:0-3 b0:10 b3:1 b2:0-3 r2:0-3 b3:0 b3:2 r3:0-3 g2:4 b3:3
  11 4 4 5 r0:0-9 g0:0-9 b0:0-9 r1:0-3 r0:10 b2:4 g2:0-3 g1:0-3 g0:10 b3:0 g3:0-3 b1:0-4 b0:10 b2:0-3 r2:0-3 b3:1-2 r3:0-3 b3:4-3
  9 5 5 5 r0:0-8 b2:4 g0:0-8 g2:4 b0:0-8 b3:4 r1:0-4 g3:4 g2:0-3 g1:0-4 b3:0 g3:0-3 b1:0-4 b3:1 b2:0-3 r2:0-4 b3:2 r3:0-4 b3:3
  8 6 5 5 r0:0-7 g3:4 b2:4 g0:0-7 b3:2 g2:4 b0:0-7 b3:3-4 r1:0-5 g2:0-3 g1:0-4 b3:0 g3:0-3 b1:0-4 b3:1 b2:0-3 r2:0-5 r3:0-5
  8 5 6 5 r0:0-7 b3:0 b2:4 g0:0-7 g2:5-4 b0:0-7 g3:5 b3:4 r1:0-4 g3:4 g2:0-3 g1:0-5 g3:0-3 b1:0-4 b3:1 b2:0-3 r2:0-4 b3:2 r3:0-4 b3:3
  8 5 5 6 r0:0-7 b3:1 b2:4 g0:0-7 b2:5 g2:4 b0:0-7 b3:5-4 r1:0-4 g3:4 g2:0-3 g1:0-4 b3:0 g3:0-3 b1:0-5 b2:0-3 r2:0-4 b3:2 r3:0-4 b3:3
  6 6 6 6 r0:0-5 g3:4 b3:0-1 b2:4 g0:0-5 g2:5 b2:5 b3:2 g2:4 b0:0-5 g3:5 b3:3 b3:5-4 r1:0-5 g2:0-3 g1:0-5 g3:0-3 b1:0-5 b2:0-3 r2:0-5 r3:0-5
  10 10 10 10 r0:0-9 g0:0-9 b0:0-9 r1:0-9 g1:0-9 b1:0-9
  11 9 9 9 r0:0-9 g0:0-9 b0:0-9 r1:0-8 r0:10 g1:0-8 g0:10 b1:0-8 b0:10
  12 8 8 8 r0:0-9 g0:0-9 b0:0-9 r1:0-7 r0:11-10 g1:0-7 g0:11-10 b1:0-7 b0:11-10
  16 4 4 4 r0:0-9 g0:0-9 b0:0-9 r1:0-3 r0:15-10 g1:0-3 g0:15-10 b1:0-3 b0:15-10
`
  .trim()
  .split('\n')
  .map(parseMode);

function parseMode(row: string): Mode {
  const fields = row.trim().split(' ');
  const bits = fields.slice(0, 4).map(Number);
  const places = fields.slice(4).flatMap((field) => {
    const [, channel = 'r', corner = '0', from = '0', to = from] = /^([rgb])(\d):(\d+)(?:-(\d+))?$/.exec(field) ?? [];
    const value = Number(corner) * 3 + 'rgb'.indexOf(channel);
    const [first, last] = [Number(from), Number(to)];
    return Array.from({ length: Math.abs(last - first) + 1 }, (_, index) => ({
      value,
      bit: first + (last < first ? -index : index),
    }));
  });
  // Two regions have four corners. Differences have fewer bits than the first corner.
  return { regions: row.includes('r2:') ? 2 : 1, isRelative: bits[0] !== bits[1], bits, places };
}

/** Pixels of the second region, a bit each, by partition. */
const secondRegions = [
  0xcccc, 0x8888, 0xeeee, 0xecc8, 0xc880, 0xfeec, 0xfec8, 0xec80, 0xc800, 0xffec, 0xfe80, 0xe800, 0xffe8, 0xff00,
  0xfff0, 0xf000, 0xf710, 0x008e, 0x7100, 0x08ce, 0x008c, 0x7310, 0x3100, 0x8cce, 0x088c, 0x3110, 0x6666, 0x366c,
  0x17e8, 0x0ff0, 0x718e, 0x399c,
];
/** The pixel of the second region with an index that is one bit shorter, by partition. */
const secondAnchors = [
  15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 2, 8, 2, 2, 8, 8, 15, 2, 8, 2, 2, 8, 8, 2, 2,
];
const weights = {
  3: [0, 9, 18, 27, 37, 46, 55, 64],
  4: [0, 4, 9, 13, 17, 21, 26, 30, 34, 38, 43, 47, 51, 55, 60, 64],
} as const;

/** Decodes a texture of half-precision colours in linear light. */
export function decodeBc6h(file: Buffer, start: number, size: Size, isSigned: boolean): LinearPicture {
  const data = new Float32Array(size.width * size.height * 3);
  const block = new Float32Array(48);
  readBlocks(file, start, size, { bytesPerBlock: 16, block, data }, (at) => decodeBlock(file, at, block, isSigned));
  return { data, width: size.width, height: size.height, channels: 3 };
}

function decodeBlock(bytes: Buffer, at: number, block: Float32Array, isSigned: boolean): void {
  let position = 0;
  const take = (count: number) => {
    let value = 0;
    for (let bit = 0; bit < count; bit++, position++) {
      value |= (((bytes[at + (position >> 3)] ?? 0) >> (position & 7)) & 1) << bit;
    }
    return value;
  };
  let number = take(2);
  if (number >= 2) number = (number === 2 ? 2 : 10) + take(3);
  const mode = modes[number];
  // Reserved modes are black.
  if (!mode) {
    block.fill(0);
    return;
  }

  const corners = new Int32Array(12);
  for (const { value, bit } of mode.places) corners[value] = (corners[value] ?? 0) | (take(1) << bit);
  const partition = mode.regions === 2 ? take(5) : 0;
  const values = completeCorners(corners, mode, isSigned);

  const indexBits = mode.regions === 2 ? 3 : 4;
  const second = mode.regions === 2 ? (secondRegions[partition] ?? 0) : 0;
  for (let pixel = 0; pixel < 16; pixel++) {
    const isAnchor = pixel === 0 || (mode.regions === 2 && pixel === secondAnchors[partition]);
    const weight = weights[indexBits][take(indexBits - (isAnchor ? 1 : 0))] ?? 0;
    const region = ((second >> pixel) & 1) * 6;
    for (let channel = 0; channel < 3; channel++) {
      const from = values[region + channel] ?? 0;
      const to = values[region + 3 + channel] ?? 0;
      block[pixel * 3 + channel] = finish((from * (64 - weight) + to * weight + 32) >> 6, isSigned);
    }
  }
}

/** Adds differences to the first corner and stretches all values to 16 bits. */
function completeCorners(corners: Int32Array, { isRelative, bits }: Mode, isSigned: boolean): number[] {
  const [precision = 0] = bits;
  return Array.from(corners, (value, index) => {
    const isFirst = index < 3;
    const own = isFirst ? precision : (bits[(index % 3) + 1] ?? precision);
    let whole = isSigned || (isRelative && !isFirst) ? extendSign(value, own) : value;
    if (isRelative && !isFirst) {
      whole = ((corners[index % 3] ?? 0) + whole) & ((1 << precision) - 1);
      if (isSigned) whole = extendSign(whole, precision);
    }
    return isSigned ? stretchSigned(whole, precision) : stretch(whole, precision);
  });
}

function extendSign(value: number, bits: number): number {
  return (value << (32 - bits)) >> (32 - bits);
}

function stretch(value: number, precision: number): number {
  if (precision >= 15 || value === 0) return value;
  if (value === (1 << precision) - 1) return 0xffff;
  return ((value << 15) + 0x4000) >> (precision - 1);
}

function stretchSigned(value: number, precision: number): number {
  if (precision >= 16 || value === 0) return value;
  const size = Math.abs(value);
  const stretched = size >= (1 << (precision - 1)) - 1 ? 0x7fff : ((size << 15) + 0x4000) >> (precision - 1);
  return value < 0 ? -stretched : stretched;
}

/** Scales to the range of half-precision numbers and reads it as one. */
function finish(value: number, isSigned: boolean): number {
  if (!isSigned) return fromHalf((value * 31) >> 6);
  return value < 0 ? -fromHalf((-value * 31) >> 5) : fromHalf((value * 31) >> 5);
}
