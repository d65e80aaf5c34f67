import type { Frame } from '../codecs/magick.ts';
import { part, type Size } from './decoding.ts';

/** How the 4 × 4 blocks of a texture are coded: colours (bc1 to bc3), one channel (bc4) or two (bc5), from 0 to 1 or from -1 to 1. */
export type BlockCoding = 'bc1' | 'bc2' | 'bc3' | 'bc4' | 'bc4-signed' | 'bc5' | 'bc5-signed';

/** Decodes a block-coded texture to RGBA. */
export function decodeBlocks(file: Buffer, start: number, size: Size, coding: BlockCoding): Frame {
  const bytesPerBlock = coding === 'bc1' || coding === 'bc4' || coding === 'bc4-signed' ? 8 : 16;
  const data = new Uint8Array(size.width * size.height * 4);
  const block = new Uint8Array(64);
  readBlocks(file, start, size, { bytesPerBlock, block, data }, (at) => decodeBlock(file, at, block, coding));
  return { data, width: size.width, height: size.height, channels: 4 };
}

/** Decodes each block of 4 × 4 pixels, and copies the part of it that is within the picture. */
export function readBlocks<T extends Uint8Array | Float32Array>(
  file: Buffer,
  start: number,
  { width, height }: Size,
  { bytesPerBlock, block, data }: { bytesPerBlock: number; block: T; data: T },
  decode: (at: number) => void,
): void {
  part(file, start, Math.ceil(width / 4) * Math.ceil(height / 4) * bytesPerBlock);
  const channels = block.length / 16;
  let at = start;
  for (let top = 0; top < height; top += 4) {
    for (let left = 0; left < width; left += 4, at += bytesPerBlock) {
      decode(at);
      const values = Math.min(4, width - left) * channels;
      for (let row = 0; row < Math.min(4, height - top); row++) {
        const from = row * 4 * channels;
        data.set(block.subarray(from, from + values), ((top + row) * width + left) * channels);
      }
    }
  }
}

function decodeBlock(bytes: Buffer, at: number, block: Uint8Array, coding: BlockCoding): void {
  const isSigned = coding === 'bc4-signed' || coding === 'bc5-signed';
  if (coding === 'bc1') decodeColours(bytes, at, block, true);
  else if (coding === 'bc2') {
    decodeColours(bytes, at + 8, block, false);
    for (let pixel = 0; pixel < 16; pixel++) {
      block[pixel * 4 + 3] = (((bytes[at + (pixel >> 1)] ?? 0) >> ((pixel & 1) * 4)) & 15) * 17;
    }
  } else if (coding === 'bc3') {
    decodeColours(bytes, at + 8, block, false);
    decodeChannel(bytes, at, block, 3, false);
  } else if (coding === 'bc4' || coding === 'bc4-signed') {
    decodeChannel(bytes, at, block, 0, isSigned);
    for (let pixel = 0; pixel < 64; pixel += 4) block.set([block[pixel] ?? 0, block[pixel] ?? 0, 255], pixel + 1);
  } else {
    decodeChannel(bytes, at, block, 0, isSigned);
    decodeChannel(bytes, at + 8, block, 1, isSigned);
    // The missing third channel is 0, which is medium blue in a signed range.
    for (let pixel = 0; pixel < 64; pixel += 4) block.set([isSigned ? 128 : 0, 255], pixel + 2);
  }
}

/** Decodes two colours of 16 bits and an index per pixel that selects one of them or a mixture. */
function decodeColours(bytes: Buffer, at: number, block: Uint8Array, hasTransparency: boolean): void {
  const [first, second] = [bytes.readUInt16LE(at), bytes.readUInt16LE(at + 2)];
  const [one, other] = [from565(first), from565(second)];
  const isTransparent = hasTransparency && first <= second;
  const mix = (share: number, of: number) =>
    one.map((value, channel) => Math.floor((value * (of - share) + (other[channel] ?? 0) * share) / of));
  const palette = isTransparent
    ? [...one, 255, ...other, 255, ...mix(1, 2), 255, 0, 0, 0, 0]
    : [...one, 255, ...other, 255, ...mix(1, 3), 255, ...mix(2, 3), 255];
  const choices = bytes.readUInt32LE(at + 4);
  for (let pixel = 0; pixel < 16; pixel++) {
    const choice = ((choices >>> (pixel * 2)) & 3) * 4;
    for (let channel = 0; channel < 4; channel++) block[pixel * 4 + channel] = palette[choice + channel] ?? 0;
  }
}

function from565(colour: number): [number, number, number] {
  const [red, green, blue] = [colour >> 11, (colour >> 5) & 63, colour & 31];
  return [(red << 3) | (red >> 2), (green << 2) | (green >> 4), (blue << 3) | (blue >> 2)];
}

/** Decodes two values of 8 bits and an index per pixel that selects one of them or one of up to six between them. */
function decodeChannel(bytes: Buffer, at: number, block: Uint8Array, channel: number, isSigned: boolean): void {
  const read = (place: number) => (isSigned ? Math.max(-127, bytes.readInt8(place)) : bytes.readUInt8(place));
  const [first, second] = [read(at), read(at + 1)];
  const values = [first, second];
  const steps = first > second ? 7 : 5;
  for (let step = 1; step < steps; step++) values.push((first * (steps - step) + second * step) / steps);
  if (steps === 5) values.push(isSigned ? -127 : 0, isSigned ? 127 : 255);
  const levels = values.map((value) => Math.floor(isSigned ? ((value + 127) * 255) / 254 : value));
  // 48 bits are read in halves, because bit operations are limited to 32.
  const halves = [bytes.readUIntLE(at + 2, 3), bytes.readUIntLE(at + 5, 3)];
  for (let pixel = 0; pixel < 16; pixel++) {
    const choice = ((halves[pixel >> 3] ?? 0) >> ((pixel & 7) * 3)) & 7;
    block[pixel * 4 + channel] = levels[choice] ?? 0;
  }
}
