import { deflateSync, inflateSync } from 'node:zlib';
import { EngineError } from '../../runtime/engine.ts';
import { maxPixels, maxSide } from '../limits.ts';
import { int32 } from './bytes.ts';
import type { LinearPicture } from './linear-light.ts';

interface Box {
  left: number;
  top: number;
  width: number;
  height: number;
}

interface Channel {
  name: string;
  type: 'uint' | 'half' | 'float';
}

interface Header {
  channels: Channel[];
  compression: number;
  data: Box;
  display: Box;
  end: number;
}

/** Lines per block of the supported compressions: none, runs, zip by line, zip. */
const linesPerBlock: Record<number, number> = { 0: 1, 1: 1, 2: 1, 3: 16 };
const sampleBytes = { uint: 4, half: 2, float: 4 };
const readSample = {
  uint: (bytes: Buffer, at: number) => bytes.readUInt32LE(at),
  half: (bytes: Buffer, at: number) => fromHalf(bytes.readUInt16LE(at)),
  float: (bytes: Buffer, at: number) => bytes.readFloatLE(at),
};

/**
 * Decodes an OpenEXR picture in full precision if it has a single part of lines without wavelets. Returns undefined for
 * other kinds, which ImageMagick reads in 8 bits.
 */
export function readExr(file: Buffer): LinearPicture | undefined {
  const flags = file.readUInt32LE(4) >> 8;
  const header = parseHeader(file);
  const { display } = header;
  const lines = linesPerBlock[header.compression];
  const planes = ['R', 'G', 'B', 'A', 'Y'].map((name) => header.channels.findIndex((channel) => channel.name === name));
  const [red = -1, green = -1, blue = -1, alpha = -1, grey = -1] = planes;
  const isColour = red >= 0 && green >= 0 && blue >= 0;
  // Tiles, deep pixels and several parts; luminance with subsampled chroma.
  if ((flags & 0b1_1010) !== 0 || lines === undefined || !(isColour || (grey >= 0 && header.channels.length <= 2))) {
    return undefined;
  }
  const order = isColour ? [red, green, blue] : [grey, grey, grey];
  if (alpha >= 0) order.push(alpha);
  const channels = alpha >= 0 ? 4 : 3;
  const result = new Float32Array(display.width * display.height * channels);
  readBlocks(file, header, lines, (x, y, samples) => {
    const [column, row] = [x - display.left, y - display.top];
    if (column < 0 || row < 0 || column >= display.width || row >= display.height) return;
    const target = (row * display.width + column) * channels;
    const opacity = alpha >= 0 ? (samples[alpha] ?? 1) : 1;
    for (const [channel, plane] of order.entries()) {
      const value = samples[plane] ?? 0;
      // Colours are stored multiplied by their opacity.
      result[target + channel] = channel < 3 && opacity > 0 ? value / opacity : value;
    }
  });
  return { data: result, width: display.width, height: display.height, channels };
}

function parseHeader(file: Buffer): Header {
  const header: Partial<Header> = {};
  let at = 8;
  const text = () => {
    const end = file.indexOf(0, at);
    if (end < 0 || end - at > 255) throw new Error('The header is incomplete.');
    const value = file.toString('latin1', at, end);
    at = end + 1;
    return value;
  };
  for (let name = text(); name !== ''; name = text()) {
    text();
    const size = file.readInt32LE(at);
    at += 4;
    if (size < 0 || at + size > file.length) throw new Error('The header is incomplete.');
    const value = file.subarray(at, at + size);
    if (name === 'channels') header.channels = parseChannels(value);
    else if (name === 'compression') header.compression = value.readUInt8(0);
    else if (name === 'dataWindow') header.data = parseBox(value);
    else if (name === 'displayWindow') header.display = parseBox(value);
    at += size;
  }
  const { channels, compression, data, display } = header;
  if (!channels || compression === undefined || !data || !display) throw new Error('The header is incomplete.');
  return { channels, compression, data, display, end: at };
}

function parseChannels(value: Buffer): Channel[] {
  const channels: Channel[] = [];
  for (let at = 0; value[at] !== 0 && at < value.length; ) {
    const end = value.indexOf(0, at);
    const name = value.toString('latin1', at, end);
    const type = (['uint', 'half', 'float'] as const)[value.readInt32LE(end + 1)];
    if (!type) throw new Error('A channel is of an unknown type.');
    channels.push({ name, type });
    at = end + 17;
  }
  return channels;
}

function parseBox(value: Buffer): Box {
  const [left, top] = [value.readInt32LE(0), value.readInt32LE(4)];
  const [width, height] = [value.readInt32LE(8) - left + 1, value.readInt32LE(12) - top + 1];
  if (width < 1 || height < 1) throw new Error('The picture has no pixels.');
  if (width * height > maxPixels || Math.max(width, height) > maxSide) {
    throw new EngineError(`The image has more than ${maxPixels / 1_000_000} million pixels. Scale it down first.`);
  }
  return { left, top, width, height };
}

function readBlocks(
  file: Buffer,
  { channels, compression, data, end }: Header,
  lines: number,
  draw: (x: number, y: number, samples: number[]) => void,
): void {
  const blocks = Math.ceil(data.height / lines);
  const lineBytes = channels.reduce((sum, { type }) => sum + sampleBytes[type] * data.width, 0);
  const samples = channels.map(() => 0);
  for (let block = 0; block < blocks; block++) {
    const at = Number(file.readBigUInt64LE(end + block * 8));
    if (at + 8 > file.length) throw new Error('The picture ends early.');
    const top = file.readInt32LE(at);
    const size = file.readInt32LE(at + 4);
    const count = Math.min(lines, data.top + data.height - top);
    if (count < 1 || top < data.top || size < 0 || at + 8 + size > file.length)
      throw new Error('The picture ends early.');
    const pixels = unpack(file.subarray(at + 8, at + 8 + size), compression, lineBytes * count);
    for (let line = 0; line < count; line++) {
      for (let column = 0; column < data.width; column++) {
        let plane = line * lineBytes;
        for (const [index, { type }] of channels.entries()) {
          samples[index] = readSample[type](pixels, plane + column * sampleBytes[type]);
          plane += sampleBytes[type] * data.width;
        }
        draw(data.left + column, top + line, samples);
      }
    }
  }
}

function unpack(packed: Buffer, compression: number, size: number): Buffer {
  if (compression === 0 || packed.length === size) {
    if (packed.length < size) throw new Error('A block is too short.');
    return packed;
  }
  const bytes = compression === 1 ? unpackRuns(packed, size) : inflateSync(packed, { maxOutputLength: size });
  if (bytes.length !== size) throw new Error('A block is too short.');
  for (let at = 1; at < size; at++) bytes[at] = ((bytes[at] ?? 0) + (bytes[at - 1] ?? 0) - 128) & 255;
  const result = Buffer.alloc(size);
  const half = (size + 1) >> 1;
  for (let at = 0; at < size; at++) result[at] = bytes[(at >> 1) + (at & 1 ? half : 0)] ?? 0;
  return result;
}

function unpackRuns(packed: Buffer, size: number): Buffer {
  const result = Buffer.alloc(size);
  let [from, to] = [0, 0];
  while (from < packed.length) {
    const count = packed.readInt8(from++);
    const length = count < 0 ? -count : count + 1;
    if (to + length > size) throw new Error('A run is longer than its block.');
    if (count < 0) {
      packed.copy(result, to, from, from + length);
      from += length;
    } else result.fill(packed[from++] ?? 0, to, to + length);
    to += length;
  }
  return result.subarray(0, to);
}

/** Encodes an OpenEXR picture with half floats, compressed without loss. */
export function writeExr({ data, width, height, channels }: LinearPicture): Buffer {
  const order = channels === 4 ? ['A', 'B', 'G', 'R'] : ['B', 'G', 'R'];
  const places = order.map((name) => 'RGBA'.indexOf(name));
  const header = exrHeader(order, width, height);
  const lineBytes = width * order.length * 2;
  const blocks: Buffer[] = [];
  for (let top = 0; top < height; top += 16) {
    const count = Math.min(16, height - top);
    const pixels = Buffer.alloc(lineBytes * count);
    for (let line = 0; line < count; line++) {
      for (const [plane, place] of places.entries()) {
        for (let column = 0; column < width; column++) {
          const at = ((top + line) * width + column) * channels;
          const opacity = channels === 4 && place < 3 ? (data[at + 3] ?? 1) : 1;
          pixels.writeUInt16LE(
            toHalf((data[at + place] ?? 0) * opacity),
            line * lineBytes + (plane * width + column) * 2,
          );
        }
      }
    }
    const packed = pack(pixels);
    blocks.push(Buffer.concat([int32(top, packed.length), packed]));
  }
  const offsets = Buffer.alloc(blocks.length * 8);
  let at = header.length + offsets.length;
  for (const [index, block] of blocks.entries()) {
    offsets.writeBigUInt64LE(BigInt(at), index * 8);
    at += block.length;
  }
  return Buffer.concat([header, offsets, ...blocks]);
}

function exrHeader(order: string[], width: number, height: number): Buffer {
  const float = (...values: number[]) => Buffer.from(Float32Array.from(values).buffer);
  const attribute = (name: string, type: string, value: Buffer) =>
    Buffer.concat([Buffer.from(`${name}\0${type}\0`, 'latin1'), int32(value.length), value]);
  const channel = (name: string) => Buffer.concat([Buffer.from(`${name}\0`, 'latin1'), int32(1, 0, 1, 1)]);
  const box = int32(0, 0, width - 1, height - 1);
  return Buffer.concat([
    int32(20_000_630, 2),
    attribute('channels', 'chlist', Buffer.concat([...order.map(channel), Buffer.alloc(1)])),
    attribute('compression', 'compression', Buffer.from([3])),
    attribute('dataWindow', 'box2i', box),
    attribute('displayWindow', 'box2i', box),
    attribute('lineOrder', 'lineOrder', Buffer.from([0])),
    attribute('pixelAspectRatio', 'float', float(1)),
    attribute('screenWindowCenter', 'v2f', float(0, 0)),
    attribute('screenWindowWidth', 'float', float(1)),
    Buffer.alloc(1),
  ]);
}

function pack(pixels: Buffer): Buffer {
  const size = pixels.length;
  const half = (size + 1) >> 1;
  const split = Buffer.alloc(size);
  for (let at = 0; at < size; at++) split[(at >> 1) + (at & 1 ? half : 0)] = pixels[at] ?? 0;
  for (let at = size - 1; at > 0; at--) split[at] = ((split[at] ?? 0) - (split[at - 1] ?? 0) + 384) & 255;
  const packed = deflateSync(split);
  return packed.length < size ? packed : pixels;
}

/** Returns the value of a half-precision number. */
export function fromHalf(half: number): number {
  const exponent = (half >> 10) & 31;
  const fraction = half & 1023;
  const sign = half & 0x8000 ? -1 : 1;
  if (exponent === 31) return fraction ? 0 : sign * 65_504;
  return sign * (exponent === 0 ? fraction * 2 ** -24 : (1 + fraction / 1024) * 2 ** (exponent - 15));
}

function toHalf(value: number): number {
  const limited = Math.min(65_504, Math.max(0, value));
  if (limited < 2 ** -14) return Math.round(limited * 2 ** 24);
  const exponent = Math.floor(Math.log2(limited));
  // Rounding up to the next power of two carries into the exponent.
  return ((exponent + 15) << 10) + Math.round((limited / 2 ** exponent - 1) * 1024);
}
