import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { readBlp } from '../../../functions/engines/image/decoders/blp.ts';
import { readBmp } from '../../../functions/engines/image/decoders/bmp.ts';
import { readDds } from '../../../functions/engines/image/decoders/dds.ts';
import type { Decoder, SizeCheck } from '../../../functions/engines/image/decoders/decoding.ts';
import { readFli } from '../../../functions/engines/image/decoders/fli.ts';
import { readIcns } from '../../../functions/engines/image/decoders/icns.ts';
import { readIm } from '../../../functions/engines/image/decoders/im.ts';
import { readMsp } from '../../../functions/engines/image/decoders/msp.ts';
import { readGreyAlphaTga } from '../../../functions/engines/image/decoders/tga.ts';
import { routeTiff } from '../../../functions/engines/image/decoders/tiff.ts';
import { unpackXz } from '../../../functions/engines/image/decoders/xz.ts';
import { processorSeconds } from '../../support/processor-time.ts';
import { test } from './folder-test.ts';
import { program } from './programs.ts';
import { animatorFile, type Indexed } from './writers/fli.ts';
import { icnsFile, packedArgb, packedColours } from './writers/icns.ts';
import { blp2File, codeBc6h, codeChannel, ddsFile, type Pixels } from './writers/textures.ts';
import { tiffFile } from './writers/tiff.ts';

const [width, height] = [24, 16];
const pixels: Pixels = {
  data: Uint8Array.from({ length: width * height * 4 }, (_, at) => (at * 37 + (at >> 5)) & 255),
  width,
  height,
};
const indexed = (step: number): Indexed => ({
  width,
  height,
  indices: Uint8Array.from({ length: width * height }, (_, at) => (at >> 3) + step * (at % 5)),
  palette: pixels.data.slice(0, 768),
});

function bmpFile(bits: 4 | 8 | 32, compression: number, data: Buffer): Buffer {
  const header = Buffer.alloc(54 + (bits < 32 ? 4 << bits : 0));
  header.write('BM');
  header.writeUInt32LE(header.length, 10);
  header.writeUInt32LE(40, 14);
  header.writeInt32LE(width, 18);
  header.writeInt32LE(height, 22);
  header.writeUInt16LE(1, 26);
  header.writeUInt16LE(bits, 28);
  header.writeUInt32LE(compression, 30);
  return Buffer.concat([header, data]);
}

function tgaFile(): Buffer {
  const header = Buffer.alloc(18);
  header[2] = 11;
  header.writeUInt16LE(width, 12);
  header.writeUInt16LE(height, 14);
  header[16] = 16;
  const packets = Array.from({ length: (width * height) / 8 }, (_, index) =>
    index % 2 ? [0x87, index, 200] : [7, ...Array.from({ length: 16 }, (__, at) => at * 9)],
  );
  return Buffer.concat([header, Buffer.from(packets.flat())]);
}

function mspFile(): Buffer {
  const header = Buffer.alloc(32);
  header.write('LinS');
  header.writeUInt16LE(width, 4);
  header.writeUInt16LE(height, 6);
  let sum = 0;
  for (let at = 0; at < 32; at += 2) sum ^= header.readUInt16LE(at);
  header.writeUInt16LE(sum, 24);
  const table = Buffer.alloc(height * 2);
  for (let row = 0; row < height; row++) table.writeUInt16LE(5, row * 2);
  return Buffer.concat([header, table, ...Array.from({ length: height }, () => Buffer.from([0, 2, 0xaa, 1, 0x55]))]);
}

const { colours, mask } = packedColours(Uint8Array.from({ length: 1024 }, (_, at) => at & 0xf0));
const rle8 = Buffer.from([
  ...Array.from({ length: height }, (_, row) => [12, row, 0, 12, ...pixels.data.slice(0, 12), 0, 0]).flat(),
  0,
  1,
]);

const samples: [name: string, file: Buffer, decode: (...args: Parameters<Decoder>) => unknown][] = [
  ['DDS of BC4', ddsFile(pixels, 'ATI1', Buffer.concat(codeChannel(pixels, 0))), readDds],
  ['DDS of BC6H', ddsFile(pixels, 96, codeBc6h(pixels, true)), readDds],
  ['DDS of plain pixels', ddsFile(pixels, 28, Buffer.from(pixels.data)), readDds],
  ['BLP', blp2File(pixels, { coding: 3, alphaCoding: 0 }, Buffer.from(pixels.data)), readBlp],
  ['FLI', animatorFile('fli', [indexed(0), indexed(1)], 7), readFli],
  ['FLC', animatorFile('flc', [indexed(0), indexed(1), indexed(2)], 7), readFli],
  [
    'ICNS',
    icnsFile([
      ['is32', colours],
      ['s8mk', mask],
      ['ic04', packedArgb(pixels.data.slice(0, 1024))],
    ]),
    readIcns,
  ],
  [
    'IM',
    Buffer.concat([
      Buffer.from(
        `Image type: RGB image\r\nImage size (x*y): ${width}*${height}\r\nFile size (no of images): 1\r\n`.padEnd(
          511,
          '\0',
        ),
      ),
      Buffer.from([0x1a]),
      Buffer.from(pixels.data.slice(0, width * height * 3)),
    ]),
    readIm,
  ],
  ['MSP', mspFile(), readMsp],
  ['BMP', bmpFile(32, 0, Buffer.from(pixels.data)), readBmp],
  ['BMP of packed indices', bmpFile(8, 1, rle8), readBmp],
  ['TGA', tgaFile(), readGreyAlphaTga],
];

/** The same numbers in every run. */
function* numbers(seed: number): Generator<number> {
  for (let state = seed; ; ) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    yield state >> 8;
  }
}

/** Yields a file cut at many places, and with bits turned over, most of them in its header. */
function* damage(file: Buffer): Generator<Buffer> {
  for (let cut = 0; cut < file.length; cut += Math.ceil(file.length / 60)) yield file.subarray(0, cut);
  const random = numbers(file.length);
  const pick = (below: number) => random.next().value % below;
  for (let round = 0; round < 300; round++) {
    const flipped = Buffer.from(file);
    for (let flip = 0; flip <= round % 4; flip++) {
      const at = pick(round % 2 ? Math.min(160, file.length) : file.length);
      flipped[at] = (flipped[at] ?? 0) ^ (1 << pick(8));
    }
    yield flipped;
  }
}

/** Refuses as the engine does, only earlier, so that a changed size costs no time here. */
const check: SizeCheck = (size) => {
  if (size.width < 1 || size.height < 1 || size.width * size.height * (size.frames ?? 1) > 1_000_000) {
    throw new Error('The picture is too large.');
  }
};

describe('Decoders of this engine', () => {
  test.for(samples)('A %s decodes, and with any damage decodes or is refused, at once.', async ([, file, decode]) => {
    const whole = await decode(file, check, { all: true });
    expect(whole).toBeDefined();
    for (const damaged of damage(file)) {
      const start = processorSeconds();
      const outcome: unknown = await (async () => decode(damaged, check, { all: true }))().catch(
        (error: unknown) => error,
      );
      if (outcome instanceof Error) expect(outcome.message).not.toBe('');
      expect(processorSeconds() - start).toBeLessThan(1);
    }
  });

  test('xz streams of all filters that TIFF uses unpack, and with any damage unpack or are refused.', async ({
    folder,
  }) => {
    const plain = Buffer.from(pixels.data);
    const path = join(folder, 'plain');
    await writeFile(path, Buffer.concat([plain, plain, Buffer.alloc(3_000)]));
    const variants = [
      ['-6'],
      ['--check=none', '--delta=dist=3', '--lzma2=preset=6'],
      ['--check=sha256', '--block-size=1000'],
      ['--lzma2=preset=6,lc=1,lp=3,pb=4'],
    ];
    for (const options of variants) {
      const packed = await program('xz', '-c', ...options, path);
      expect(
        unpackXz(packed, 2 * plain.length + 3_000).equals(Buffer.concat([plain, plain, Buffer.alloc(3_000)])),
      ).toBe(true);
      expect(() => unpackXz(packed, 2 * plain.length)).toThrow(/more than the picture needs/);
      for (const damaged of damage(packed)) {
        try {
          expect(unpackXz(damaged, 10_000).length).toBeLessThanOrEqual(10_000);
        } catch (error) {
          expect(error).toBeInstanceOf(Error);
        }
      }
    }
  });

  test('A damaged TIFF is routed or refused.', async ({ folder }) => {
    const path = join(folder, 'damaged.tiff');
    const size = { 256: width, 257: height, 258: [8, 8, 8, 8], 259: 1, 262: 8, 277: 4, 278: height };
    for (const damaged of damage(tiffFile(Buffer.from(pixels.data), size))) {
      await writeFile(path, damaged);
      const outcome: unknown = await routeTiff(path).catch((error: unknown) => error);
      if (!(outcome instanceof Error)) expect(outcome).toHaveProperty('by');
    }
  });
});
