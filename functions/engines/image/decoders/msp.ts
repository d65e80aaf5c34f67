import { bitsToGrey, type Decoded, part, type SizeCheck } from './decoding.ts';

const headerBytes = 32;

/** Decodes a picture of the first Microsoft Paint: plain in version 1, packed line by line in version 2. */
export function readMsp(file: Buffer, check: SizeCheck): Decoded {
  const header = part(file, 0, headerBytes);
  let sum = 0;
  for (let at = 0; at < headerBytes; at += 2) sum ^= header.readUInt16LE(at);
  if (sum !== 0) throw new Error('The checksum of the header is wrong.');
  const [width, height] = [header.readUInt16LE(4), header.readUInt16LE(6)];
  check({ width, height });
  const bytesPerLine = (width + 7) >> 3;
  const isPacked = header.toString('latin1', 0, 4) === 'LinS';
  const lines = isPacked ? unpack(file, height, bytesPerLine) : part(file, headerBytes, bytesPerLine * height);
  return { frames: [bitsToGrey(lines, { width, height }, bytesPerLine)] };
}

/** Unpacks lines. A table of their lengths comes first. An empty line is white. */
function unpack(file: Buffer, height: number, bytesPerLine: number): Buffer {
  const lines = Buffer.alloc(bytesPerLine * height, 0xff);
  let start = headerBytes + height * 2;
  for (let row = 0; row < height; row++) {
    const packed = part(file, start, file.readUInt16LE(headerBytes + row * 2));
    start += packed.length;
    let target = row * bytesPerLine;
    const end = target + bytesPerLine;
    for (let at = 0; at < packed.length && target < end; ) {
      const count = packed.readUInt8(at);
      if (count === 0) {
        const run = packed.readUInt8(at + 1);
        lines.fill(packed.readUInt8(at + 2), target, Math.min(end, target + run));
        target += run;
        at += 3;
      } else {
        part(packed, at + 1, count).copy(lines, target, 0, Math.min(count, end - target));
        target += count;
        at += 1 + count;
      }
    }
  }
  return lines;
}
