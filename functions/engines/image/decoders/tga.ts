import { type Decoded, part, type SizeCheck } from './decoding.ts';

/** Decodes a grey TGA with alpha, 16 bits per pixel, which ImageMagick reads as colours. Returns undefined for other kinds. */
export function readGreyAlphaTga(file: Buffer, check: SizeCheck): Decoded | undefined {
  const [idLength, paletteKind, type, bits, descriptor] = [0, 1, 2, 16, 17].map((at) => file.readUInt8(at));
  const isPacked = type === 11;
  if ((type !== 3 && !isPacked) || bits !== 16) return undefined;
  const [width, height] = [file.readUInt16LE(12), file.readUInt16LE(14)];
  check({ width, height });
  const paletteBytes = paletteKind === 1 ? file.readUInt16LE(5) * Math.ceil(file.readUInt8(7) / 8) : 0;
  const start = 18 + (idLength ?? 0) + paletteBytes;
  const pixels = isPacked ? unpack(file, start, width * height) : part(file, start, width * height * 2);
  const isTopDown = ((descriptor ?? 0) & 0x20) !== 0;
  const isRightToLeft = ((descriptor ?? 0) & 0x10) !== 0;
  const data = new Uint8Array(width * height * 4);
  for (let row = 0; row < height; row++) {
    const y = isTopDown ? row : height - 1 - row;
    for (let column = 0; column < width; column++) {
      const x = isRightToLeft ? width - 1 - column : column;
      const [grey = 0, alpha = 0] = pixels.subarray((row * width + column) * 2, (row * width + column) * 2 + 2);
      data.set([grey, grey, grey, alpha], (y * width + x) * 4);
    }
  }
  return { frames: [{ data, width, height, channels: 4 }] };
}

function unpack(file: Buffer, start: number, count: number): Buffer {
  const pixels = Buffer.alloc(count * 2);
  let at = start;
  for (let done = 0; done < count; ) {
    const code = file.readUInt8(at++);
    const length = Math.min((code & 0x7f) + 1, count - done);
    if (code & 0x80) {
      pixels.fill(part(file, at, 2), done * 2, (done + length) * 2);
      at += 2;
    } else {
      part(file, at, length * 2).copy(pixels, done * 2);
      at += length * 2;
    }
    done += length;
  }
  return pixels;
}
