import sharp from 'sharp';
import { type Frame, pingMagick, readMagick } from '../codecs/magick.ts';
import { maxPixels } from '../limits.ts';
import { type Decoded, part, type SizeCheck, type Wanted } from './decoding.ts';

/** One picture of an icon file. The masks of older kinds are separate parts. */
interface Icon {
  type: string;
  side: number;
  data: Buffer;
}

/** Types that hold a PNG, a JPEG 2000 or packed channels, by the length of their side. */
const typesBySide: Record<number, string[]> = {
  16: ['is32', 'icp4', 'ic04'],
  18: ['icsb'],
  24: ['sb24'],
  32: ['il32', 'icp5', 'ic05', 'ic11'],
  36: ['icsB'],
  48: ['ih32', 'SB24'],
  64: ['icp6', 'ic12'],
  128: ['it32', 'ic07'],
  256: ['ic08', 'ic13'],
  512: ['ic09', 'ic14'],
  1024: ['ic10'],
};
const masks: Record<string, string> = { is32: 's8mk', il32: 'l8mk', ih32: 'h8mk', it32: 't8mk' };
const maxParts = 256;

/** Decodes the pictures of a macOS icon: all of them, or the largest. */
export async function readIcns(file: Buffer, check: SizeCheck, { all }: Wanted): Promise<Decoded> {
  const parts = partsOf(file);
  const icons = [...parts].flatMap(([type, data]): Icon[] => {
    const [side] = Object.entries(typesBySide).find(([, types]) => types.includes(type)) ?? [];
    return side === undefined ? [] : [{ type, side: Number(side), data }];
  });
  const [first] = icons;
  if (!first) throw new Error('The file contains no icon of a known kind.');
  const largest = icons.reduce((one, other) => (other.side > one.side ? other : one), first);
  const frames: Frame[] = [];
  for (const icon of all ? icons : [largest]) frames.push(await decodeIcon(icon, parts, check));
  return { frames };
}

function partsOf(file: Buffer): Map<string, Buffer> {
  const end = Math.min(file.length, file.readUInt32BE(4));
  const parts = new Map<string, Buffer>();
  for (let at = 8; at + 8 <= end && parts.size < maxParts; ) {
    const length = file.readUInt32BE(at + 4);
    if (length < 8) throw new Error(`A part of ${length} bytes is too short.`);
    parts.set(file.toString('latin1', at, at + 4), part(file, at + 8, length - 8));
    at += length;
  }
  return parts;
}

async function decodeIcon(icon: Icon, parts: Map<string, Buffer>, check: SizeCheck): Promise<Frame> {
  const { type, side, data } = icon;
  if (data.subarray(0, 8).equals(Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'))) return decodePng(data, check);
  if (data.readUInt32BE(0) === 0xff4fff51) return decodeJpeg2000(data, 'J2K', check);
  if (data.toString('latin1', 4, 8) === 'jP  ') return decodeJpeg2000(data, 'JP2', check);
  const pixels = side * side;
  if (data.toString('latin1', 0, 4) === 'ARGB') {
    const [alpha, ...colours] = unpackChannels(data.subarray(4), pixels, 4);
    return join(side, colours, alpha);
  }
  // The largest of the older kinds starts with four zero bytes.
  const packed = type === 'it32' && data.readUInt32BE(0) === 0 ? data.subarray(4) : data;
  const mask = parts.get(masks[type] ?? '');
  const alpha = mask ? part(mask, 0, pixels) : undefined;
  if (packed.length === pixels * 3) {
    const plain = [0, 1, 2].map((channel) => packed.filter((_, at) => at % 3 === channel));
    return join(side, plain, alpha);
  }
  return join(side, unpackChannels(packed, pixels, 3), alpha);
}

/** Unpacks channels one after the other from runs of 3 to 130 bytes and 1 to 128 literal bytes. */
function unpackChannels(packed: Buffer, pixels: number, count: number): Uint8Array[] {
  let at = 0;
  return Array.from({ length: count }, () => {
    const channel = new Uint8Array(pixels);
    for (let done = 0; done < pixels; ) {
      const code = packed.readUInt8(at++);
      const length = code & 0x80 ? code - 125 : code + 1;
      const fits = Math.min(length, pixels - done);
      if (code & 0x80) channel.fill(packed.readUInt8(at++), done, done + fits);
      else {
        channel.set(part(packed, at, length).subarray(0, fits), done);
        at += length;
      }
      done += fits;
    }
    return channel;
  });
}

function join(side: number, colours: Uint8Array[], alpha: Uint8Array | undefined): Frame {
  const channels = alpha ? 4 : 3;
  const data = new Uint8Array(side * side * channels);
  for (const [index, values] of [...colours, ...(alpha ? [alpha] : [])].entries()) {
    for (let pixel = 0; pixel < side * side; pixel++) data[pixel * channels + index] = values[pixel] ?? 0;
  }
  return { data, width: side, height: side, channels };
}

async function decodePng(png: Buffer, check: SizeCheck): Promise<Frame> {
  const options = { limitInputPixels: maxPixels, failOn: 'truncated' } as const;
  const { width, height, hasAlpha } = await sharp(png, options).metadata();
  check({ width, height });
  const image = sharp(png, options).toColourspace('srgb');
  const data = await (hasAlpha ? image.ensureAlpha() : image.removeAlpha()).raw().toBuffer();
  return { data, width, height, channels: hasAlpha ? 4 : 3 };
}

async function decodeJpeg2000(bytes: Buffer, format: 'J2K' | 'JP2', check: SizeCheck): Promise<Frame> {
  const { width, height } = await pingMagick(bytes, format);
  check({ width, height });
  const { frames } = await readMagick(bytes, { format, take: { frame: 0 }, autoOrient: false });
  const [frame] = frames;
  if (!frame) throw new Error('A part of the icon contains no picture.');
  return frame;
}
