import sharp from 'sharp';
import type { Frame } from '../codecs/magick.ts';
import { maxPixels } from '../limits.ts';
import { type BlockCoding, decodeBlocks } from './block-textures.ts';
import { type Decoded, fromPalette, part, type Size, type SizeCheck, trimAlpha } from './decoding.ts';

interface Header extends Size {
  coding: 'jpeg' | 'palette' | 'bgra' | BlockCoding;
  alphaBits: number;
  /** Position of the palette, or of the header that all JPEGs in the file share. */
  shared: number;
  /** Size of the largest picture. Smaller ones follow. */
  start: number;
  length: number;
}

const paletteBytes = 1024;

/** Decodes the largest picture of a Blizzard texture: BLP1 of Warcraft III, BLP2 of World of Warcraft. */
export async function readBlp(file: Buffer, check: SizeCheck): Promise<Decoded> {
  const header = parseHeader(file);
  check(header);
  return { frames: [trimAlpha(await decode(file, header))] };
}

function decode(file: Buffer, header: Header): Frame | Promise<Frame> {
  const { coding, width, height, start } = header;
  switch (coding) {
    case 'jpeg':
      return decodeJpeg(file, header);
    case 'palette':
      return decodePalette(file, header);
    case 'bgra':
      return fromBgra(part(file, start, width * height * 4), header);
    default: {
      const frame = decodeBlocks(file, start, header, coding);
      if (header.alphaBits === 0) for (let at = 3; at < frame.data.length; at += 4) frame.data[at] = 255;
      return frame;
    }
  }
}

function parseHeader(file: Buffer): Header {
  const isFirst = file.toString('latin1', 0, 4) === 'BLP1';
  const isJpeg = file.readUInt32LE(4) === 0;
  const tables = isFirst ? 28 : 20;
  return {
    coding: isJpeg ? 'jpeg' : isFirst ? 'palette' : codingOf(file),
    alphaBits: isFirst ? file.readUInt32LE(8) : file.readUInt8(9),
    width: file.readUInt32LE(12),
    height: file.readUInt32LE(16),
    shared: tables + 128,
    start: file.readUInt32LE(tables),
    length: file.readUInt32LE(tables + 64),
  };
}

function codingOf(file: Buffer): Exclude<Header['coding'], 'jpeg'> {
  const [coding, alphaCoding] = [file.readUInt8(8), file.readUInt8(10)];
  if (coding === 1) return 'palette';
  if (coding === 3 || coding === 4) return 'bgra';
  const blocks = { 0: 'bc1', 1: 'bc2', 7: 'bc3' } as const;
  const found = coding === 2 ? blocks[alphaCoding as keyof typeof blocks] : undefined;
  if (!found) throw new Error(`Textures of coding ${coding} with alpha of coding ${alphaCoding} are not supported.`);
  return found;
}

function fromBgra(bytes: Uint8Array, { width, height, alphaBits }: Header): Frame {
  const data = Uint8Array.from(bytes);
  for (let at = 0; at < data.length; at += 4) {
    data[at] = bytes[at + 2] ?? 0;
    data[at + 2] = bytes[at] ?? 0;
    if (alphaBits === 0) data[at + 3] = 255;
  }
  return { data, width, height, channels: 4 };
}

/** Decodes indices, followed by the alpha of each pixel. Some writers omit it and store alpha in the palette. */
function decodePalette(file: Buffer, header: Header): Frame {
  const { alphaBits, width, height, shared, start, length } = header;
  const pixels = width * height;
  const alphaBytes = [1, 4, 8].includes(alphaBits) ? Math.ceil((pixels * alphaBits) / 8) : 0;
  const coloured = fromPalette(part(file, start, pixels), part(file, shared, paletteBytes), header, 4);
  const frame = fromBgra(coloured.data, header);
  if (alphaBytes > 0 && length >= pixels + alphaBytes) {
    const alpha = part(file, start + pixels, alphaBytes);
    for (let pixel = 0; pixel < pixels; pixel++) frame.data[pixel * 4 + 3] = bitsAt(alpha, pixel, alphaBits);
  }
  return frame;
}

function bitsAt(bytes: Buffer, index: number, bits: number): number {
  const place = index * bits;
  const largest = (1 << bits) - 1;
  return ((((bytes[place >> 3] ?? 0) >> (place & 7)) & largest) * 255) / largest;
}

/** Decodes a JPEG with the components blue, green, red and alpha. The pictures of all sizes share its header. */
async function decodeJpeg(file: Buffer, header: Header): Promise<Frame> {
  const { width, height, shared, start, length } = header;
  const head = part(file, shared + 4, file.readUInt32LE(shared));
  const jpeg = Buffer.concat([head, part(file, start, length)]);
  const options = { limitInputPixels: maxPixels, failOn: 'truncated' } as const;
  const { channels, ...size } = await sharp(jpeg, options).metadata();
  // Some writers round sizes up to whole blocks.
  if (size.width < width || size.height < height) throw new Error('The JPEG is smaller than the texture.');
  const picture = sharp(jpeg, options).extract({ left: 0, top: 0, width, height });
  if (channels !== 4) {
    const { data, info } = await picture.toColourspace('srgb').raw().toBuffer({ resolveWithObject: true });
    if (info.channels !== 3) throw new Error(`A JPEG with ${info.channels} components is not a texture.`);
    for (let at = 0; at < data.length; at += 3) [data[at], data[at + 2]] = [data[at + 2] ?? 0, data[at] ?? 0];
    return { data, width, height, channels: 3 };
  }
  // libvips reads four components as CMYK, which files store inverted.
  const inks = await picture.pipelineColourspace('cmyk').toColourspace('cmyk').raw().toBuffer();
  return fromBgra(
    inks.map((ink) => 255 - ink),
    header,
  );
}
