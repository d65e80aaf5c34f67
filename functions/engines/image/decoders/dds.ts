import type { LinearPicture } from '../codecs/linear-light.ts';
import type { Frame } from '../codecs/magick.ts';
import { decodeBc6h } from './bc6h.ts';
import { type BlockCoding, decodeBlocks } from './block-textures.ts';
import { channelReader, type Decoded, fromPalette, part, type Size, type SizeCheck, trimAlpha } from './decoding.ts';

/** How the pixels of a surface are coded. */
type Coding =
  | { kind: 'blocks'; coding: BlockCoding }
  | { kind: 'bc6h'; isSigned: boolean }
  | { kind: 'palette' }
  | { kind: 'masks'; bits: number; red: number; green: number; blue: number; alpha: number; isGrey?: boolean };

const blocks = (coding: BlockCoding): Coding => ({ kind: 'blocks', coding });

const byCode: Record<string, Coding> = {
  DXT1: blocks('bc1'),
  DXT2: blocks('bc2'),
  DXT3: blocks('bc2'),
  DXT4: blocks('bc3'),
  DXT5: blocks('bc3'),
  ATI1: blocks('bc4'),
  BC4U: blocks('bc4'),
  BC4S: blocks('bc4-signed'),
  ATI2: blocks('bc5'),
  BC5U: blocks('bc5'),
  BC5S: blocks('bc5-signed'),
};

const rgba8: Coding = { kind: 'masks', bits: 32, red: 0xff, green: 0xff00, blue: 0xff0000, alpha: 0xff000000 };
const bgra8: Coding = { kind: 'masks', bits: 32, red: 0xff0000, green: 0xff00, blue: 0xff, alpha: 0xff000000 };
const bgrx8: Coding = { ...bgra8, alpha: 0 };

/** Values of DXGI_FORMAT. Typeless, plain and sRGB variants hold the same bits. */
const byDxgiFormat: { formats: number[]; coding: Coding }[] = [
  { formats: [27, 28, 29], coding: rgba8 },
  { formats: [61], coding: { kind: 'masks', bits: 8, red: 0xff, green: 0, blue: 0, alpha: 0, isGrey: true } },
  { formats: [70, 71, 72], coding: blocks('bc1') },
  { formats: [73, 74, 75], coding: blocks('bc2') },
  { formats: [76, 77, 78], coding: blocks('bc3') },
  { formats: [79, 80], coding: blocks('bc4') },
  { formats: [81], coding: blocks('bc4-signed') },
  { formats: [82, 83], coding: blocks('bc5') },
  { formats: [84], coding: blocks('bc5-signed') },
  { formats: [85], coding: { kind: 'masks', bits: 16, red: 0xf800, green: 0x7e0, blue: 0x1f, alpha: 0 } },
  { formats: [86], coding: { kind: 'masks', bits: 16, red: 0x7c00, green: 0x3e0, blue: 0x1f, alpha: 0x8000 } },
  { formats: [87, 90, 91], coding: bgra8 },
  { formats: [88, 92, 93], coding: bgrx8 },
  { formats: [94, 95], coding: { kind: 'bc6h', isSigned: false } },
  { formats: [96], coding: { kind: 'bc6h', isSigned: true } },
];

const flags = { alpha: 0x1, code: 0x4, palette: 0x20, rgb: 0x40, luminance: 0x20000 };

/** Decodes the largest surface of a DirectDraw file. Returns undefined for codings that ImageMagick decodes. */
export function readDds(file: Buffer, check: SizeCheck): Decoded | LinearPicture | undefined {
  const [height, width] = [file.readUInt32LE(12), file.readUInt32LE(16)];
  const found = codingOf(file);
  if (!found) return undefined;
  check({ width, height });
  const { coding, start } = found;
  const size = { width, height };
  switch (coding.kind) {
    case 'bc6h':
      return decodeBc6h(file, start, size, coding.isSigned);
    case 'blocks':
      return { frames: [trimAlpha(decodeBlocks(file, start, size, coding.coding))] };
    case 'palette': {
      const indices = part(file, start + 1024, width * height);
      return { frames: [trimAlpha(fromPalette(indices, part(file, start, 1024), size, 4))] };
    }
    case 'masks':
      return { frames: [trimAlpha(fromMasks(part(file, start, width * height * (coding.bits >> 3)), size, coding))] };
  }
}

function codingOf(file: Buffer): { coding: Coding; start: number } | undefined {
  const kind = file.readUInt32LE(80);
  if (kind & flags.code) {
    const code = file.toString('latin1', 84, 88);
    if (code !== 'DX10') {
      const coding = byCode[code];
      return coding && { coding, start: 128 };
    }
    const format = file.readUInt32LE(128);
    const coding = byDxgiFormat.find(({ formats }) => formats.includes(format))?.coding;
    return coding && { coding, start: 148 };
  }
  const bits = file.readUInt32LE(88);
  if (kind & flags.palette) return { coding: { kind: 'palette' }, start: 128 };
  const isGrey = (kind & flags.luminance) !== 0;
  if (!isGrey && !(kind & flags.rgb)) return undefined;
  if (![8, 16, 24, 32].includes(bits)) throw new Error(`Surfaces with ${bits} bits per pixel are not supported.`);
  const mask = (at: number) => (file.readUInt32LE(at) & (2 ** bits - 1)) >>> 0;
  const hasAlpha = (kind & flags.alpha) !== 0;
  // Some writers set masks for channels that grey surfaces do not have.
  const red = mask(92) || (isGrey ? 0xff : 0);
  const alpha = hasAlpha ? mask(104) || (isGrey && bits === 16 ? 0xff00 : 0) : 0;
  return { coding: { kind: 'masks', bits, red, green: mask(96), blue: mask(100), alpha, isGrey }, start: 128 };
}

function fromMasks(bytes: Buffer, { width, height }: Size, coding: Extract<Coding, { kind: 'masks' }>): Frame {
  const { bits, alpha, isGrey = false } = coding;
  const step = bits >> 3;
  const masks = isGrey ? [coding.red, coding.red, coding.red] : [coding.red, coding.green, coding.blue];
  const readers = [...masks.map(channelReader), alpha ? channelReader(alpha) : () => 255];
  const data = new Uint8Array(width * height * 4);
  for (let pixel = 0; pixel < width * height; pixel++) {
    const value = bytes.readUIntLE(pixel * step, step);
    for (let channel = 0; channel < 4; channel++) data[pixel * 4 + channel] = readers[channel]?.(value) ?? 0;
  }
  return { data, width, height, channels: 4 };
}
