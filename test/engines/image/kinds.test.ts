import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { compare } from './compare.ts';
import { program } from './programs.ts';
import { detectFile, runEngine, runForPath } from './run-engine.ts';
import { drawing, makeSample } from './samples.ts';
import { animatorFile, toIndexed } from './writers/fli.ts';
import { icnsFile, packedArgb, packedColours } from './writers/icns.ts';
import { blp1File, blp2File, codeBc6h, codeChannel, ddsFile, type Pixels } from './writers/textures.ts';
import { directoryPointers, tiffFile, twelveBits } from './writers/tiff.ts';

// Kinds of files that were once refused or converted incorrectly. Each is made here and compared with another reader.

const [width, height] = [160, 120];
/** The drawing of all samples with a hole, so that it is seen whether transparency comes through. */
const withHole = drawing.replace('</svg>', '<circle cx="125" cy="85" r="12" fill="#000"/></svg>');

async function pixelsOf(size: { width: number; height: number } = { width, height }): Promise<Pixels> {
  const hole = `<svg width="${width}" height="${height}"><circle cx="60" cy="60" r="25" opacity="0.7"/></svg>`;
  const picture = await sharp(Buffer.from(withHole))
    .ensureAlpha()
    .composite([{ input: Buffer.from(hole), blend: 'dest-out' }])
    .png()
    .toBuffer();
  const data = await sharp(picture)
    .resize({ ...size, fit: 'fill' })
    .ensureAlpha()
    .raw()
    .toBuffer();
  return { data, ...size };
}

async function opaquePixels(): Promise<Pixels> {
  return { data: await sharp(Buffer.from(drawing)).flatten().ensureAlpha().raw().toBuffer(), width, height };
}

function png({ data, ...size }: Pixels): Promise<Buffer> {
  return sharp(data, { raw: { ...size, channels: 4 } })
    .png()
    .toBuffer();
}

type Reader = (path: string, png: string) => Promise<unknown>;

const python = (script: string, ...args: string[]) =>
  program('/usr/bin/python3', '-W', 'ignore', '-c', `import sys; from PIL import Image; ${script}`, ...args);
const pillow: Reader = (path, output) =>
  python('Image.open(sys.argv[1]).convert("RGBA").save(sys.argv[2])', path, output);
const graphicsMagick: Reader = (path, output) => program('gm', 'convert', path, output);
const imageMagick: Reader = (path, output) => program('/usr/bin/convert', `${path}[0]`, '-colorspace', 'sRGB', output);
const firstFrame = ['-frames:v', '1', '-update', '1'];
const ffmpeg: Reader = (path, output) => program('ffmpeg', '-v', 'error', '-y', '-i', path, ...firstFrame, output);
const ffmpegOpaque: Reader = (path, output) =>
  program('ffmpeg', '-v', 'error', '-y', '-i', path, ...firstFrame, '-pix_fmt', 'rgb24', output);

/** Compares pictures over white and over black, so that alpha counts. */
async function expectSame(actual: Buffer, expected: Buffer, tolerance: number): Promise<void> {
  const [is, should] = [await sharp(actual).metadata(), await sharp(expected).metadata()];
  expect([is.width, is.height]).toEqual([should.width, should.height]);
  for (const background of ['#ffffff', '#000000']) {
    const [one, other] = await Promise.all(
      [actual, expected].map((image) => sharp(image).flatten({ background }).png().toBuffer()),
    );
    if (!one || !other) throw new Error('A picture is missing.');
    expect((await compare(one, other, 'colour')).difference).toBeLessThan(tolerance);
  }
}

interface Kind {
  name: string;
  file: string;
  /** What it is to be known as. Defaults to its extension. */
  format?: string;
  make(path: string, folder: string): Promise<unknown>;
  /** Another reader, or the picture itself if no available reader supports the kind. */
  expected: Reader | { picture: () => Promise<Buffer> };
  tolerance?: number;
}

async function greys(): Promise<Buffer> {
  return sharp(Buffer.from(drawing)).flatten().greyscale().toColourspace('b-w').raw().toBuffer();
}

/** Blocks of DXT1 or DXT5, as ImageMagick codes them. */
async function dxtBlocks(folder: string, kind: 'dxt1' | 'dxt5'): Promise<Buffer> {
  const [from, to] = [join(folder, 'blocks.png'), join(folder, 'blocks.dds')];
  await writeFile(from, await png(kind === 'dxt1' ? await opaquePixels() : await pixelsOf()));
  const options = ['-define', `dds:compression=${kind}`, '-define', 'dds:mipmaps=0'];
  await program('/usr/bin/convert', from, ...options, `dds:${to}`);
  return (await readFile(to)).subarray(128);
}

const tiffKinds: Kind[] = [
  {
    name: 'CIE Lab',
    file: 'lab.tiff',
    make: async (path, folder) =>
      program('/usr/bin/convert', await makeSample('png', folder), '-colorspace', 'Lab', path),
    expected: imageMagick,
    tolerance: 3,
  },
  {
    name: 'CIE Lab of 16 bits',
    file: 'lab16.tiff',
    make: async (path, folder) =>
      program('/usr/bin/convert', await makeSample('png', folder), '-colorspace', 'Lab', '-depth', '16', path),
    expected: imageMagick,
    tolerance: 3,
  },
  ...[8, 16].map(
    (bits): Kind => ({
      name: `separate planes in tiles, ${bits} bits`,
      file: 'tiles.tiff',
      make: async (path, folder) => {
        const plain = join(folder, 'plain.tiff');
        const layout = ['-depth', String(bits), '-interlace', 'Plane', '-compress', 'None'];
        await program('/usr/bin/convert', await makeSample('png', folder), ...layout, plain);
        await program('tiffcp', '-t', '-w', '64', '-l', '48', '-p', 'separate', plain, path);
      },
      expected: graphicsMagick,
    }),
  ),
  {
    name: 'old-style JPEG',
    file: 'old-jpeg.tiff',
    make: async (path, folder) => {
      const jpeg = await readFile(await makeSample('jpg', folder));
      const colour = { 256: width, 257: height, 258: [8, 8, 8], 259: 6, 262: 6, 277: 3, 278: height };
      const tags = { ...colour, 512: 1, 513: 8, 514: jpeg.length, 530: [2, 2] };
      await writeFile(path, tiffFile(jpeg, tags));
    },
    expected: pillow,
  },
  ...['lzma', 'lzma:p2'].map(
    (compression): Kind => ({
      name: `compression ${compression}`,
      file: 'lzma.tiff',
      make: async (path, folder) =>
        program('tiffcp', '-c', compression, '-r', '50', await makeSample('tiff', folder), path),
      expected: pillow,
      tolerance: 0.01,
    }),
  ),
  {
    name: '12 bits',
    file: 'twelve.tiff',
    make: async (path) => {
      const tags = { 256: width, 257: height, 258: 12, 259: 1, 262: 1, 277: 1, 278: height };
      await writeFile(path, tiffFile(twelveBits(await greys(), width), tags));
    },
    expected: graphicsMagick,
  },
  {
    name: 'floats without a word on their colours',
    file: 'float.tiff',
    make: async (path) => {
      const floats = Float32Array.from(await greys(), (value) => value * 1.2 - 20);
      const tags = { 256: width, 257: height, 258: 32, 259: 1, 277: 1, 278: height, 339: 3 };
      await writeFile(path, tiffFile(Buffer.from(floats.buffer), tags));
    },
    expected: pillow,
  },
  {
    name: 'pages that lead back to the first',
    file: 'loop.tiff',
    make: async (path, folder) => {
      const [one, two] = [await makeSample('tiff', folder), join(folder, 'two.tiff')];
      await program('tiffcp', one, one, two);
      const tiff = await readFile(two);
      const pointers = directoryPointers(tiff);
      tiff.copy(tiff, pointers.at(-1) ?? 0, 4, 8);
      await writeFile(path, tiff);
    },
    expected: pillow,
  },
];

const ddsKinds: Kind[] = [
  ...(['ATI1', 'BC4U', 80, 79] as const).map(
    (coding): Kind => ({
      name: `BC4 called ${coding}`,
      file: 'bc4.dds',
      make: async (path) => {
        const pixels = await opaquePixels();
        await writeFile(path, ddsFile(pixels, coding, Buffer.concat(codeChannel(pixels, 1))));
      },
      expected: {
        picture: async () =>
          sharp(await png(await opaquePixels()))
            .extractChannel(1)
            .toColourspace('srgb')
            .png()
            .toBuffer(),
      },
      tolerance: 4,
    }),
  ),
  ...(['ATI2', 'BC5U', 83, 'BC5S', 84] as const).map(
    (coding): Kind => ({
      name: `BC5 called ${coding}`,
      file: 'bc5.dds',
      make: async (path) => {
        const pixels = await opaquePixels();
        const isSigned = coding === 'BC5S' || coding === 84;
        const [red, green] = [codeChannel(pixels, 0, isSigned), codeChannel(pixels, 1, isSigned)];
        const blocks = red.flatMap((block, index) => [block, green[index] ?? Buffer.alloc(8)]);
        await writeFile(path, ddsFile(pixels, coding, Buffer.concat(blocks)));
      },
      expected: {
        picture: async () => {
          const pixels = await opaquePixels();
          const blue = coding === 'BC5S' || coding === 84 ? 128 : 0;
          return png({ ...pixels, data: pixels.data.map((value, at) => (at % 4 === 2 ? blue : value)) });
        },
      },
      tolerance: 4,
    }),
  ),
  ...([95, 96] as const).map(
    (coding): Kind => ({
      name: `BC6H ${coding === 96 ? 'with' : 'without'} a sign`,
      file: 'bc6h.dds',
      make: async (path) => {
        const pixels = await opaquePixels();
        await writeFile(path, ddsFile(pixels, coding, codeBc6h(pixels, coding === 96)));
      },
      expected: { picture: async () => png(await opaquePixels()) },
      tolerance: 6,
    }),
  ),
  {
    name: 'BC1 in sRGB',
    file: 'bc1.dds',
    make: async (path, folder) => writeFile(path, ddsFile(await opaquePixels(), 72, await dxtBlocks(folder, 'dxt1'))),
    expected: ffmpeg,
    tolerance: 2,
  },
  {
    name: 'BC3 in sRGB, with alpha',
    file: 'bc3.dds',
    make: async (path, folder) => writeFile(path, ddsFile(await pixelsOf(), 78, await dxtBlocks(folder, 'dxt5'))),
    expected: ffmpeg,
    tolerance: 2,
  },
  {
    name: 'plain RGBA in sRGB',
    file: 'rgba.dds',
    make: async (path) => {
      const pixels = await pixelsOf();
      await writeFile(path, ddsFile(pixels, 29, Buffer.from(pixels.data)));
    },
    expected: { picture: async () => png(await pixelsOf()) },
    tolerance: 0.01,
  },
];

const textureKinds: Kind[] = [
  {
    name: 'BLP2 of DXT1',
    file: 'dxt1.blp',
    make: async (path, folder) =>
      writeFile(path, blp2File(await opaquePixels(), { coding: 2, alphaCoding: 0 }, await dxtBlocks(folder, 'dxt1'))),
    expected: pillow,
    tolerance: 4,
  },
  {
    name: 'BLP2 of DXT5, with alpha',
    file: 'dxt5.blp',
    make: async (path, folder) =>
      writeFile(path, blp2File(await pixelsOf(), { coding: 2, alphaCoding: 7 }, await dxtBlocks(folder, 'dxt5'))),
    expected: pillow,
    tolerance: 4,
  },
  {
    name: 'BLP2 of plain pixels',
    file: 'plain.blp',
    make: async (path) => {
      const pixels = await pixelsOf();
      const bgra = pixels.data.map((value, at) =>
        at % 4 === 0 ? (pixels.data[at + 2] ?? 0) : at % 4 === 2 ? (pixels.data[at - 2] ?? 0) : value,
      );
      await writeFile(path, blp2File(pixels, { coding: 3, alphaCoding: 0 }, Buffer.from(bgra)));
    },
    expected: { picture: async () => png(await pixelsOf()) },
    tolerance: 0.01,
  },
  {
    name: 'BLP1 of a JPEG',
    file: 'jpeg.blp',
    make: async (path, folder) => {
      const pixels = await opaquePixels();
      const jpeg = join(folder, 'bgra.jpg');
      // The JPEG of four components that this kind has holds blue, green, red and alpha as if they were inks.
      const script = `
im = Image.open(sys.argv[1]).convert("RGB"); r, g, b = im.split()
inverse = [band.point(lambda v: 255 - v) for band in (b, g, r)]
Image.merge("CMYK", (*inverse, Image.new("L", im.size, 0))).save(sys.argv[2], quality=95)`;
      await writeFile(join(folder, 'opaque.png'), await png(pixels));
      await python(script, join(folder, 'opaque.png'), jpeg);
      await writeFile(path, blp1File(pixels, withoutAdobe(await readFile(jpeg)), 0));
    },
    expected: pillow,
  },
];

/** Removes the segment by which decoders know the inks of Adobe's JPEGs. */
function withoutAdobe(jpeg: Buffer): Buffer {
  const at = jpeg.indexOf('Adobe') - 4;
  return at < 0 ? jpeg : Buffer.concat([jpeg.subarray(0, at), jpeg.subarray(at + 2 + jpeg.readUInt16BE(at + 2))]);
}

async function bmpSample(folder: string, change: (bmp: Buffer) => Buffer): Promise<Buffer> {
  const few = join(folder, 'few.bmp');
  await makeSample('bmp', folder);
  await program('/usr/bin/convert', join(folder, 'original-few.ppm'), '-type', 'Palette', `bmp3:${few}`);
  return change(await readFile(few));
}

const bmpKinds: Kind[] = (
  [
    ['a wrong file size', (bmp) => bmp.fill(0xff, 2, 5)],
    ['no file size', (bmp) => bmp.fill(0, 2, 6)],
    ['a wrong number of planes', (bmp) => bmp.fill(5, 26, 27)],
    [
      'colours beyond its palette',
      (bmp) => {
        // The last hundred colours are taken out of the palette.
        const colours = bmp.readUInt32LE(46) || 256;
        const cut = 54 + (colours - 100) * 4;
        const short = Buffer.concat([bmp.subarray(0, cut), bmp.subarray(54 + colours * 4)]);
        short.writeUInt32LE(colours - 100, 46);
        short.writeUInt32LE(cut, 10);
        short.writeUInt32LE(short.length, 2);
        return short;
      },
    ],
    ['no file header', (bmp) => bmp.subarray(14)],
  ] as const satisfies [string, (bmp: Buffer) => Buffer][]
).map(([name, change]) => ({
  name: `BMP with ${name}`,
  file: name === 'no file header' ? 'bare.dib' : 'odd.bmp',
  format: 'bmp',
  make: async (path, folder) => writeFile(path, await bmpSample(folder, change)),
  // Old versions of Pillow return greys, newer ones black.
  expected: name === 'colours beyond its palette' ? ffmpegOpaque : pillow,
  tolerance: 0.01,
}));

const pillowSave = (mode: string, ...options: string[]) =>
  `Image.open(sys.argv[1]).convert("${mode}").save(${['sys.argv[2]', ...options].join(', ')})`;

const otherKinds: Kind[] = [
  {
    name: 'PCX of one bit',
    file: 'bit.pcx',
    make: async (path, folder) => python(pillowSave('1'), await makeSample('png', folder), path),
    expected: graphicsMagick,
    tolerance: 0.01,
  },
  ...(['None', '"tga_rle"'] as const).map(
    (compression): Kind => ({
      name: `TGA of greys with alpha, compression ${compression}`,
      file: 'grey-alpha.tga',
      make: async (path, folder) => {
        await writeFile(join(folder, 'hole.png'), await png(await pixelsOf()));
        const script = pillowSave('LA', `compression=${compression}`);
        await python(script, join(folder, 'hole.png'), path);
      },
      expected: pillow,
      tolerance: 0.5,
    }),
  ),
  {
    name: 'MSP of the second version',
    file: 'packed.msp',
    make: async (path, folder) => {
      const plain = await readFile(await makeSample('msp', folder));
      const lines: Buffer[] = [];
      for (let at = 32; at < plain.length; at += width / 8) {
        const line = plain.subarray(at, at + width / 8);
        // A run of the first byte, then the others as they are.
        lines.push(Buffer.concat([Buffer.from([0, 1, line[0] ?? 0, line.length - 1]), line.subarray(1)]));
      }
      const table = Buffer.alloc(lines.length * 2);
      for (const [index, { length }] of lines.entries()) table.writeUInt16LE(length, index * 2);
      const header = Buffer.from(plain.subarray(0, 32));
      header.write('LinS');
      header.writeUInt16LE(0, 24);
      let sum = 0;
      for (let at = 0; at < 32; at += 2) sum ^= header.readUInt16LE(at);
      header.writeUInt16LE(sum, 24);
      await writeFile(path, Buffer.concat([header, table, ...lines]));
    },
    expected: pillow,
    tolerance: 0.01,
  },
  ...['1', 'L', 'LA', 'RGBA', 'CMYK', 'YCbCr'].map(
    (mode): Kind => ({
      name: `IM of ${mode}`,
      file: 'mode.im',
      make: async (path, folder) => {
        await writeFile(join(folder, 'hole.png'), await png(await pixelsOf()));
        await python(pillowSave(mode), join(folder, 'hole.png'), path);
      },
      expected:
        mode === 'YCbCr' || mode === 'CMYK' || mode === 'LA'
          ? (path, output) =>
              python(
                'im = Image.open(sys.argv[1]); (im if im.mode == "LA" else im.convert("RGB")).save(sys.argv[2])',
                path,
                output,
              )
          : pillow,
      tolerance: 1,
    }),
  ),
  ...(['fli', 'flc'] as const).map(
    (kind): Kind => ({
      name: kind.toUpperCase(),
      file: `animation.${kind}`,
      format: 'fli',
      make: async (path) => writeFile(path, animatorFile(kind, await steps(), 7)),
      expected: ffmpeg,
      tolerance: 2,
    }),
  ),
  ...(['il32', 'it32', 'ARGB', 'JPEG 2000'] as const).map(
    (kind): Kind => ({
      name: `ICNS of ${kind}`,
      file: 'icon.icns',
      make: (path, folder) => makeIcon(kind, path, folder),
      // Pillow has no word for the kind of 2013.
      expected: kind === 'ARGB' ? { picture: async () => png(await pixelsOf({ width: 32, height: 32 })) } : pillow,
      tolerance: kind === 'JPEG 2000' ? 3 : 0.5,
    }),
  ),
];

async function makeIcon(kind: 'ARGB' | 'il32' | 'it32' | 'JPEG 2000', path: string, folder: string): Promise<void> {
  const side = kind === 'it32' ? 128 : 32;
  const { data } = await pixelsOf({ width: side, height: side });
  const { colours, mask } = packedColours(data);
  const small = packedColours((await pixelsOf({ width: 16, height: 16 })).data);
  const parts: [string, Buffer][] = [
    ['is32', small.colours],
    ['s8mk', small.mask],
  ];
  if (kind === 'il32') parts.push(['il32', colours], ['l8mk', mask]);
  if (kind === 'it32') parts.push(['it32', Buffer.concat([Buffer.alloc(4), colours])], ['t8mk', mask]);
  if (kind === 'ARGB') parts.push(['ic05', packedArgb(data)]);
  if (kind === 'JPEG 2000') {
    const [from, to] = [join(folder, 'icon.png'), join(folder, 'icon.jp2')];
    await writeFile(
      from,
      await sharp(await png(await opaquePixels()))
        .resize({ width: 256, height: 256, fit: 'fill' })
        .png()
        .toBuffer(),
    );
    await program('opj_compress', '-i', from, '-o', to);
    parts.push(['ic08', await readFile(to)]);
  }
  await writeFile(path, icnsFile(parts));
}

/** Three pictures in which a square moves to the right. */
async function steps() {
  const rgb = await sharp(await png(await opaquePixels()))
    .removeAlpha()
    .png({ palette: true, colours: 128 })
    .toBuffer();
  const first = toIndexed(await sharp(rgb).removeAlpha().raw().toBuffer(), width, height);
  return [0, 1, 2].map((step) => {
    const indices = Uint8Array.from(first.indices);
    for (let y = 50; y < 70; y++) indices.fill(0, y * width + 20 + step * 30, y * width + 40 + step * 30);
    return { ...first, indices };
  });
}

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'image-kinds-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('Kinds of files that other programs read', { timeout: 30_000 }, () => {
  const kinds = [...tiffKinds, ...ddsKinds, ...textureKinds, ...bmpKinds, ...otherKinds];
  test.for(kinds.map((kind) => ({ format: extname(kind.file).slice(1), ...kind })))(
    '$format: $name looks as another reader has it.',
    async ({ file, format, make, expected, tolerance = 1 }) => {
      const path = join(folder, file);
      const read = join(folder, 'expected.png');
      await make(path, folder);
      // Other pages than the first become files of their own.
      const { outputs } = await runEngine({ inputs: [path], outputFormat: 'png', folder });
      if (typeof expected === 'function') await expected(path, read);
      else await writeFile(read, await expected.picture());
      expect(await detectFile(path)).toBe(format);
      await expectSame(await readFile(outputs[0]?.path ?? ''), await readFile(read), tolerance);
    },
  );
});

describe('Several pictures in a file', { timeout: 30_000 }, () => {
  test.for(['fli', 'flc'] as const)('An animation of %s keeps its frames and their times.', async (kind) => {
    const path = join(folder, `animation.${kind}`);
    // 7 seventieths of a second are 100 milliseconds.
    await writeFile(path, animatorFile(kind, await steps(), kind === 'fli' ? 7 : 100));
    const output = await runForPath({ inputs: [path], outputFormat: 'webp', folder });
    const { pages, delay } = await sharp(output).metadata();
    await program('ffmpeg', '-v', 'error', '-y', '-i', path, join(folder, 'frame-%d.png'));
    expect([pages, delay]).toEqual([3, [100, 100, 100]]);
    for (const page of [0, 1, 2]) {
      const frame = await sharp(output, { page }).png().toBuffer();
      await expectSame(frame, await readFile(join(folder, `frame-${page + 1}.png`)), 4);
    }
  });

  test('The page option takes any size of a macOS icon; without it the largest is taken.', async () => {
    const path = join(folder, 'icon.icns');
    await makeIcon('it32', path, folder);
    const sizes = await Promise.all(
      [undefined, 1, 2].map(async (page) => {
        const options = page === undefined ? {} : { page };
        const output = await runForPath({ inputs: [path], outputFormat: 'png', options, folder });
        return (await sharp(output).metadata()).width;
      }),
    );
    expect(sizes).toEqual([128, 16, 128]);
  });

  test('Pages of a TIFF come in the order of their directories, wherever those are.', async () => {
    const sample = await makeSample('tiff', folder);
    const other = join(folder, 'other.tiff');
    const both = join(folder, 'both.tiff');
    await program('/usr/bin/convert', sample, '-flip', other);
    await program('tiffcp', sample, other, both);
    const tiff = await readFile(both);
    const [first = 0, second = 0, end = 0] = directoryPointers(tiff);
    const [one, two] = [tiff.readUInt32LE(first), tiff.readUInt32LE(second)];
    // The directory that comes second in the file is made the first page.
    tiff.writeUInt32LE(two, first);
    tiff.writeUInt32LE(one, end);
    tiff.writeUInt32LE(0, second);
    await writeFile(both, tiff);
    const output = await runForPath({ inputs: [both], outputFormat: 'png', options: { page: 1 }, folder });
    await pillow(both, join(folder, 'expected.png'));
    await expectSame(await readFile(output), await readFile(join(folder, 'expected.png')), 0.01);
    const upright = await readFile(await makeSample('png', folder));
    const secondPage = await runForPath({ inputs: [both], outputFormat: 'png', options: { page: 2 }, folder });
    await expectSame(await readFile(secondPage), upright, 0.01);
  });
});
