import type { Frame } from '../codecs/magick.ts';
import {
  bitsToGrey,
  type Decoded,
  flipLines,
  fromPalette,
  part,
  type Size,
  type SizeCheck,
  unpackBits,
  type Wanted,
} from './decoding.ts';

interface Header extends Size {
  frames: number;
  type: string;
  hasPalette: boolean;
  dataStart: number;
}

/** The type with the channels of each pixel together. */
const byPixel = 'X 24';

/** The bits of an index into the palette, or the channels that follow each other within a line. */
const layouts: Record<string, number | string> = {
  ...{ '0 1': 1, 'L 1': 1, B1: 1, B2: 2, B4: 4, Greyscale: 8, Grayscale: 8 },
  ...{ RGB: 'RGB', RGBA: 'RGBA', RGBX: 'RGBX', LA: 'LA', PA: 'LA', CMYK: 'CMYK', YCC: 'YCC' },
  [byPixel]: 'RGB',
};

const maxHeaderBytes = 4096;

/** Decodes an image memory of IFUNC, which Pillow writes too: a header of text, then lines from the bottom up. */
export function readIm(file: Buffer, check: SizeCheck, { all }: Wanted): Decoded {
  const header = parseHeader(file);
  const { width, height, frames, type, hasPalette, dataStart } = header;
  check({ width, height, frames: all ? frames : 1 });
  const number = /^L[ *](8|8S|16|16S|16L|16B|32|32S|32F|32 S|32 F)$/.exec(type)?.[1]?.replace(' ', '');
  const layout = number ? Number.parseInt(number, 10) : layouts[type];
  if (!layout) throw new Error(`Pictures of type ${JSON.stringify(type)} are not supported.`);
  const stored = hasPalette ? part(file, dataStart, 768) : undefined;
  // Stored as all reds, then all greens, then all blues.
  const palette = Uint8Array.from({ length: 768 }, (_, at) => {
    const index = Math.floor(at / 3);
    return stored ? (stored[(at % 3) * 256 + index] ?? 0) : index;
  });
  const start = dataStart + (stored ? 768 : 0);
  const bytesPerLine = Math.ceil((width * (typeof layout === 'string' ? layout.length * 8 : layout)) / 8);
  const decode = (lines: Buffer) => {
    if (number) return fromNumbers(lines, header, number);
    if (layout === 1) return bitsToGrey(lines, header, bytesPerLine);
    if (typeof layout === 'string') return fromChannels(lines, header, layout, palette);
    return fromPalette(unpackBits(lines, header, layout, bytesPerLine), palette, header);
  };
  return {
    frames: Array.from({ length: all ? frames : 1 }, (_, index) => {
      const frame = decode(part(file, start + index * bytesPerLine * height, bytesPerLine * height));
      flipLines(frame);
      return frame;
    }),
  };
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

function fromChannels(lines: Buffer, { width, height, type }: Header, names: string, palette: Uint8Array): Frame {
  const count = names.length;
  const channels = names.endsWith('A') ? 4 : 3;
  const data = new Uint8Array(width * height * channels);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const at = (channel: number) =>
        lines[y * width * count + (type === byPixel ? x * count + channel : channel * width + x)] ?? 0;
      const target = (y * width + x) * channels;
      if (names === 'LA') data.set([...palette.subarray(at(0) * 3, at(0) * 3 + 3), at(1)], target);
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
function fromNumbers(lines: Buffer, { width, height }: Size, kind: string): Frame {
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
