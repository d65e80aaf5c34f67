import type { Frame } from '../codecs/magick.ts';

/** Throws if an image would not fit in memory. Decoders call it before they allocate memory by the size in a header. */
export type SizeCheck = (size: Size & { frames?: number }) => void;

export interface Size {
  width: number;
  height: number;
}

/** Result of a decoder. */
export interface Decoded {
  frames: Frame[];
  density?: number;
  /** Frames in the file, if not all of them were decoded. */
  total?: number;
}

/** Which pictures in a file are needed. Ignored for formats that hold one. */
export interface Wanted {
  all: boolean;
}

export type Decoder = (file: Buffer, check: SizeCheck, wanted: Wanted) => Decoded | Promise<Decoded>;

/** Returns a part of a file. Throws if the file is too short. */
export function part(file: Buffer, start: number, length: number): Buffer {
  if (start + length > file.length) {
    throw new Error(`The file ends at ${file.length}, within the ${length} bytes that start at ${start}.`);
  }
  return file.subarray(start, start + length);
}

/** Reads the numbers of pixels with at most 8 bits each. Every line starts at a whole byte. */
export function unpackBits(lines: Buffer, { width, height }: Size, bits: number, bytesPerLine: number): Uint8Array {
  const numbers = new Uint8Array(width * height);
  const perByte = 8 / bits;
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const byte = lines[y * bytesPerLine + Math.floor(x / perByte)] ?? 0;
      numbers[y * width + x] = (byte >> (8 - bits - (x % perByte) * bits)) & ((1 << bits) - 1);
    }
  }
  return numbers;
}

/** Converts bits to greys: 1 becomes white and 0 black. Lines start at whole bytes. */
export function bitsToGrey(lines: Buffer, { width, height }: Size, bytesPerLine: number): Frame {
  const data = unpackBits(lines, { width, height }, 1, bytesPerLine).map((bit) => bit * 255);
  return { data, width, height, channels: 1 };
}

/** Looks up the colours of indices. Indices beyond the palette are black, as in other readers. */
export function fromPalette(
  indices: Uint8Array,
  palette: Uint8Array,
  { width, height }: Size,
  channels: 3 | 4 = 3,
): Frame {
  const data = new Uint8Array(width * height * channels);
  for (let pixel = 0; pixel < width * height; pixel++) {
    const colour = (indices[pixel] ?? 0) * channels;
    for (let channel = 0; channel < channels; channel++) {
      data[pixel * channels + channel] = palette[colour + channel] ?? 0;
    }
  }
  return { data, width, height, channels };
}

/** Reverses the order of lines in place. */
export function flipLines({ data, width, channels }: Frame): void {
  const length = width * channels;
  for (let [top, bottom] = [0, data.length - length]; top < bottom; top += length, bottom -= length) {
    const line = Uint8Array.from(data.subarray(top, top + length));
    data.copyWithin(top, bottom, bottom + length);
    data.set(line, bottom);
  }
}

/** Drops the alpha channel if all pixels are opaque, as in most textures and icons. */
export function trimAlpha({ data, width, height, channels, delay }: Frame): Frame {
  if (channels !== 4) return { data, width, height, channels, delay };
  for (let at = 3; at < data.length; at += 4) {
    if (data[at] !== 255) return { data, width, height, channels, delay };
  }
  const opaque = new Uint8Array(width * height * 3);
  for (let pixel = 0; pixel < width * height; pixel++) opaque.set(data.subarray(pixel * 4, pixel * 4 + 3), pixel * 3);
  return { data: opaque, width, height, channels: 3, delay };
}

/** Returns a function that extracts the bits of a mask from a pixel and scales them to 8 bits. */
export function channelReader(mask: number): (pixel: number) => number {
  if (mask === 0) return () => 0;
  let shift = 0;
  while (((mask >>> shift) & 1) === 0) shift += 1;
  const largest = mask >>> shift;
  return (pixel) => Math.round(((((pixel & mask) >>> 0) >>> shift) * 255) / largest);
}
