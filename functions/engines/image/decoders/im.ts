import type { Frame } from '../codecs/magick.ts';
import { bitsToGrey, type Decoded, part, type SizeCheck, type Wanted } from './decoding.ts';

/** How the lines of a picture are stored: channels after each other within a line, pixel by pixel, or bits. */
type Layout = 'bits' | 'grey' | 'indices-2' | 'indices-4' | 'number' | { lines: string } | { pixels: string };

interface Header {
  width: number;
  height: number;
  frames: number;
  type: string;
  hasPalette: boolean;
  dataStart: number;
}

const layouts: Record<string, Layout> = {
  '0 1': 'bits',
  'L 1': 'bits',
  B1: 'bits',
  B2: 'indices-2',
  B4: 'indices-4',
  Greyscale: 'grey',
  Grayscale: 'grey',
  RGB: { lines: 'RGB' },
  RGBA: { lines: 'RGBA' },
  RGBX: { lines: 'RGBX' },
  LA: { lines: 'LA' },
  PA: { lines: 'LA' },
  CMYK: { lines: 'CMYK' },
  YCC: { lines: 'YCC' },
  'X 24': { pixels: 'RGB' },
};

const maxHeaderBytes = 4096;

/** Decodes an image memory of IFUNC, which Pillow writes too: a header of text, then lines from the bottom up. */
export function readIm(file: Buffer, check: SizeCheck, { all }: Wanted): Decoded {
  const { width, height, frames, type, hasPalette, dataStart } = parseHeader(file);
  check({ width, height, frames: all ? frames : 1 });
  const number = /^L[ *](8|8S|16|16S|16L|16B|32|32S|32F|32 S|32 F)$/.exec(type)?.[1]?.replace(' ', '');
  const layout = number ? 'number' : layouts[type];
  if (!layout) throw new Error(`Pictures of type ${JSON.stringify(type)} are not supported.`);
  const palette = hasPalette ? part(file, dataStart, 768) : undefined;
  const start = dataStart + (palette ? 768 : 0);
  const bits = number ? Number.parseInt(number, 10) : bitsPerPixel(layout);
  const bytesPerLine = Math.ceil((width * bits) / 8);
  const size = bytesPerLine * height;
  return {
    frames: Array.from({ length: all ? frames : 1 }, (_, index) => {
      const lines = flip(part(file, start + index * size, size), bytesPerLine, height);
      if (layout === 'bits') return bitsToGrey(lines, width, height, bytesPerLine);
      if (layout === 'number') return fromNumbers(lines, width, height, number ?? '');
      if (layout === 'grey' || layout === 'indices-2' || layout === 'indices-4') {
        return fromIndices(lines, width, height, bits, palette);
      }
      return fromChannels(lines, width, height, layout, palette);
    }),
  };
}

function bitsPerPixel(layout: Layout): number {
  if (typeof layout === 'object') return 8 * ('lines' in layout ? layout.lines : layout.pixels).length;
  return { bits: 1, 'indices-2': 2, 'indices-4': 4, grey: 8, number: 8 }[layout];
}

function parseHeader(file: Buffer): Header {
  const end = file.subarray(0, maxHeaderBytes).indexOf(0x1a);
  if (end < 0) throw new Error('The header has no end.');
  const fields = new Map(
    file
      .toString('latin1', 0, end)
      .split(/\r\n|\n\r|\n|\0/)
      .map((line) => /^([A-Za-z][^:]*):[ \t]*(.*?)[ \t]*$/.exec(line))
      .map((match) => [match?.[1] ?? '', match?.[2] ?? '']),
  );
  const [width, height] = (fields.get('Image size (x*y)') ?? '512*512').split(/[*,]/).map(Number);
  const frames = Number(fields.get('File size (no of images)') ?? 1);
  if (![width, height, frames].every((value) => Number.isInteger(value) && Number(value) > 0)) {
    throw new Error('The header gives no size.');
  }
  return {
    width: width ?? 0,
    height: height ?? 0,
    frames,
    type: (fields.get('Image type') ?? 'Greyscale').replace(/ image$/, ''),
    hasPalette: fields.has('Lut'),
    dataStart: end + 1,
  };
}

function flip(bytes: Buffer, bytesPerLine: number, height: number): Buffer {
  const flipped = Buffer.alloc(bytes.length);
  for (let row = 0; row < height; row++) {
    bytes.copy(flipped, (height - 1 - row) * bytesPerLine, row * bytesPerLine, (row + 1) * bytesPerLine);
  }
  return flipped;
}

function fromIndices(lines: Buffer, width: number, height: number, bits: number, palette: Buffer | undefined): Frame {
  const bytesPerLine = Math.ceil((width * bits) / 8);
  const data = new Uint8Array(width * height * 3);
  const perByte = 8 / bits;
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const byte = lines[y * bytesPerLine + Math.floor(x / perByte)] ?? 0;
      const index = (byte >> (8 - bits - (x % perByte) * bits)) & ((1 << bits) - 1);
      data.set(colourOf(index, palette), (y * width + x) * 3);
    }
  }
  return { data, width, height, channels: 3 };
}

/** The palette holds all reds, then all greens, then all blues. */
function colourOf(index: number, palette: Buffer | undefined): [number, number, number] {
  if (!palette) return [index, index, index];
  return [palette[index] ?? 0, palette[256 + index] ?? 0, palette[512 + index] ?? 0];
}

function fromChannels(
  lines: Buffer,
  width: number,
  height: number,
  layout: { lines: string } | { pixels: string },
  palette: Buffer | undefined,
): Frame {
  const isByLine = 'lines' in layout;
  const names = isByLine ? layout.lines : layout.pixels;
  const count = names.length;
  const channels = names.endsWith('A') ? 4 : 3;
  const data = new Uint8Array(width * height * channels);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const at = (channel: number) =>
        lines[y * width * count + (isByLine ? channel * width + x : x * count + channel)] ?? 0;
      const target = (y * width + x) * channels;
      if (names === 'LA') data.set([...colourOf(at(0), palette), at(1)], target);
      else if (names === 'CMYK') data.set(fromCmyk(at(0), at(1), at(2), at(3)), target);
      else if (names === 'YCC') data.set(fromYcc(at(0), at(1), at(2)), target);
      else for (let channel = 0; channel < channels; channel++) data[target + channel] = at(channel);
    }
  }
  return { data, width, height, channels };
}

function fromCmyk(cyan: number, magenta: number, yellow: number, black: number): number[] {
  return [cyan, magenta, yellow].map((ink) => Math.round(((255 - ink) * (255 - black)) / 255));
}

function fromYcc(luma: number, blue: number, red: number): Uint8ClampedArray {
  return Uint8ClampedArray.of(
    luma + 1.402 * (red - 128),
    luma - 0.344136 * (blue - 128) - 0.714136 * (red - 128),
    luma + 1.772 * (blue - 128),
  );
}

/** Reads single numbers. 16 bits are scaled to 8. Others are clipped to 0 to 255, as their value for white is unknown. */
function fromNumbers(lines: Buffer, width: number, height: number, kind: string): Frame {
  const read: Record<string, (at: number) => number> = {
    '8': (at) => lines.readUInt8(at),
    '8S': (at) => lines.readInt8(at),
    '16': (at) => lines.readUInt16LE(at * 2) / 257,
    '16L': (at) => lines.readUInt16LE(at * 2) / 257,
    '16B': (at) => lines.readUInt16BE(at * 2) / 257,
    '16S': (at) => lines.readInt16LE(at * 2),
    '32': (at) => lines.readUInt32LE(at * 4),
    '32S': (at) => lines.readInt32LE(at * 4),
    '32F': (at) => lines.readFloatLE(at * 4),
  };
  const value = read[kind];
  if (!value) throw new Error(`Numbers of kind ${kind} are not supported.`);
  const data = Uint8ClampedArray.from({ length: width * height }, (_, at) => value(at));
  return { data: new Uint8Array(data.buffer), width, height, channels: 1 };
}
