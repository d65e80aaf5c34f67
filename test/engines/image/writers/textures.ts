/** Pixels of a picture, four bytes each. */
export interface Pixels {
  data: Uint8Array;
  width: number;
  height: number;
}

/** Calls with each block of 4 × 4 pixels, as 16 places in the data; blocks at the edges repeat the last line and column. */
function blocksOf({ width, height }: Pixels): number[][] {
  const blocks: number[][] = [];
  for (let top = 0; top < height; top += 4) {
    for (let left = 0; left < width; left += 4) {
      blocks.push(
        Array.from({ length: 16 }, (_, index) => {
          const x = Math.min(width - 1, left + (index & 3));
          const y = Math.min(height - 1, top + (index >> 2));
          return (y * width + x) * 4;
        }),
      );
    }
  }
  return blocks;
}

/** Codes one channel of each block as BC4 has it: the brightest and the darkest value, and six between them. */
export function codeChannel(pixels: Pixels, channel: number, isSigned = false): Buffer[] {
  return blocksOf(pixels).map((places) => {
    const values = places.map((at) => {
      const value = pixels.data[at + channel] ?? 0;
      return isSigned ? Math.round((value * 254) / 255) - 127 : value;
    });
    const [most, least] = [Math.max(...values), Math.min(...values)];
    const block = Buffer.alloc(8);
    if (isSigned) block.writeInt8(most, 0);
    else block.writeUInt8(most, 0);
    if (isSigned) block.writeInt8(least, 1);
    else block.writeUInt8(least, 1);
    let bits = 0n;
    for (const [index, value] of values.entries()) {
      const step = most === least ? 0 : Math.round(((most - value) * 7) / (most - least));
      const code = step === 0 ? 0 : step === 7 ? 1 : step + 1;
      bits |= BigInt(code) << BigInt(index * 3);
    }
    block.writeUIntLE(Number(bits & 0xffffffn), 2, 3);
    block.writeUIntLE(Number(bits >> 24n), 5, 3);
    return block;
  });
}

function toHalf(value: number): number {
  if (value < 2 ** -14) return Math.round(value * 2 ** 24);
  const exponent = Math.floor(Math.log2(value));
  return ((exponent + 15) << 10) + Math.round((value / 2 ** exponent - 1) * 1024);
}

/** Codes each block as BC6H with one region and corners of 10 bits, from linear light. */
export function codeBc6h(pixels: Pixels, isSigned: boolean): Buffer {
  const linear = (value: number) => (value <= 10 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);
  // The decoder stretches 10 bits to 16 (15 with a sign) and takes 31/64 (31/32) of it for a half.
  const quantise = (value: number) => Math.min(isSigned ? 511 : 1023, Math.round(toHalf(value) / (isSigned ? 62 : 31)));
  const blocks = blocksOf(pixels).map((places) => {
    const colours = places.map((at) => [0, 1, 2].map((channel) => linear(pixels.data[at + channel] ?? 0)));
    const codes = colours.map((colour) => colour.map(quantise));
    const sums = codes.map((code) => code.reduce((sum, value) => sum + value, 0));
    const darkest = sums.indexOf(Math.min(...sums));
    const brightest = sums.indexOf(Math.max(...sums));
    // The first index has no upper bit, so the corner that the first pixel is nearer to comes first.
    const [low, high] = [sums[darkest] ?? 0, sums[brightest] ?? 0];
    const isReversed = (sums[0] ?? 0) - low > high - (sums[0] ?? 0);
    const [from, to] = isReversed ? [brightest, darkest] : [darkest, brightest];
    let bits = 3n;
    let at = 5n;
    const put = (value: number, count: number) => {
      bits |= BigInt(value) << at;
      at += BigInt(count);
    };
    for (const corner of [from, to]) for (const value of codes[corner] ?? []) put(value, 10);
    for (const [index, sum] of sums.entries()) {
      const share = high === low ? 0 : (sum - low) / (high - low);
      put(Math.round((isReversed ? 1 - share : share) * 15), index === 0 ? 3 : 4);
    }
    const block = Buffer.alloc(16);
    block.writeBigUInt64LE(bits & 0xffffffffffffffffn, 0);
    block.writeBigUInt64LE(bits >> 64n, 8);
    return block;
  });
  return Buffer.concat(blocks);
}

/** Writes the header of a surface whose pixels are named by four letters or, with the extended header, by a number. */
export function ddsFile({ width, height }: Pixels, coding: string | number, blocks: Buffer): Buffer {
  const header = Buffer.alloc(typeof coding === 'number' ? 148 : 128);
  header.write('DDS ');
  header.writeUInt32LE(124, 4);
  header.writeUInt32LE(0x81007, 8);
  header.writeUInt32LE(height, 12);
  header.writeUInt32LE(width, 16);
  header.writeUInt32LE(blocks.length, 20);
  header.writeUInt32LE(32, 76);
  header.writeUInt32LE(4, 80);
  header.write(typeof coding === 'number' ? 'DX10' : coding, 84);
  header.writeUInt32LE(0x1000, 108);
  if (typeof coding === 'number') {
    header.writeUInt32LE(coding, 128);
    header.writeUInt32LE(3, 132);
    header.writeUInt32LE(1, 140);
  }
  return Buffer.concat([header, blocks]);
}

/** Writes a Blizzard texture of the second version with one picture. */
export function blp2File(
  { width, height }: Pixels,
  kind: { coding: number; alphaCoding: number },
  data: Buffer,
): Buffer {
  const header = Buffer.alloc(148 + 1024);
  header.write('BLP2');
  header.writeUInt32LE(1, 4);
  header.writeUInt8(kind.coding, 8);
  header.writeUInt8(8, 9);
  header.writeUInt8(kind.alphaCoding, 10);
  header.writeUInt32LE(width, 12);
  header.writeUInt32LE(height, 16);
  header.writeUInt32LE(header.length, 20);
  header.writeUInt32LE(data.length, 84);
  return Buffer.concat([header, data]);
}

/** Writes a Blizzard texture of the first version around a JPEG, whose start up to the scan is kept apart. */
export function blp1File({ width, height }: Pixels, jpeg: Buffer, alphaBits: number): Buffer {
  const scan = jpeg.indexOf(Buffer.from([0xff, 0xda]));
  const header = Buffer.alloc(160);
  header.write('BLP1');
  header.writeUInt32LE(alphaBits, 8);
  header.writeUInt32LE(width, 12);
  header.writeUInt32LE(height, 16);
  header.writeUInt32LE(5, 20);
  header.writeUInt32LE(160 + scan, 28);
  header.writeUInt32LE(jpeg.length - scan, 92);
  header.writeUInt32LE(scan, 156);
  return Buffer.concat([header, jpeg]);
}
