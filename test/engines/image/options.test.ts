import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { describe, expect } from 'vitest';
import { leaveToBreadth } from '../../support/breadth.ts';
import { compare } from './compare.ts';
import { test } from './folder-test.ts';
import { program } from './programs.ts';
import { readBack } from './readers.ts';
import { inFolder, runEngine, runForPath } from './run-engine.ts';
import { drawing, makeSample, original } from './samples.ts';

leaveToBreadth([
  'jpg meets 25 percent of its size within 5 percent below.',
  'png meets 30 percent of its size within 5 percent below.',
  'webp meets 85 percent of its size within 5 percent below.',
  'A higher quality makes a larger jp2 that is nearer to the original.',
  'A higher quality makes a larger jng that is nearer to the original.',
]);

/** What ImageMagick's identify says of a file, by its escapes. */
async function identify(path: string, escapes: string): Promise<string> {
  return (await program('gm', 'identify', '-format', escapes, path)).toString().trim();
}

async function sizeOf(path: string): Promise<string> {
  return (await identify(path, '%wx%h\\n')).split('\n')[0] ?? '';
}

/** A detailed picture, so that sizes of files mean something. */
async function makePhoto(path: string, width: number, height: number): Promise<void> {
  const noise = await sharp({
    create: { width, height, channels: 3, background: '#000', noise: { type: 'gaussian', mean: 60, sigma: 25 } },
  })
    .blur(1.2)
    .png()
    .toBuffer();
  const shapes = await sharp(Buffer.from(drawing), { density: 72 * (width / 160) })
    .resize(width, height)
    .png()
    .toBuffer();
  await sharp(shapes)
    .composite([{ input: noise, blend: 'soft-light' }])
    .removeAlpha()
    .toFile(path);
}

async function pixelAt(path: string, x: number, y: number): Promise<number[]> {
  const { data, info } = await sharp(path).ensureAlpha().raw().toBuffer({ resolveWithObject: true });
  const at = (y * info.width + x) * info.channels;
  return [...data.subarray(at, at + info.channels)];
}

const convertPng = async (folder: string, outputFormat: string, options: Record<string, unknown>) =>
  runForPath({ inputs: [await makeSample('png', folder)], outputFormat, options, folder });

describe('Size', { timeout: 30_000 }, () => {
  test.for([
    [{ image_custom_width: 80 }, '80x60'],
    [{ image_custom_height: 240 }, '320x240'],
    [{ image_custom_width: 100, image_custom_height: 100 }, '100x75'],
    [{ image_custom_width: 100, image_custom_height: 100, fit: 'crop' }, '100x100'],
    [{ image_custom_width: 100, image_custom_height: 100, fit: 'scale' }, '100x100'],
    [{ image_custom_width: 100, image_custom_height: 100, fit: 'pad' }, '100x100'],
    [{ image_resize_percentage: 50 }, '80x60'],
    [{ image_resize_percentage: '200' }, '320x240'],
    [{ image_custom_width: 60, rotate: 90 }, '60x80'],
  ] as const)('%j makes %s.', async ([options, size], { folder }) => {
    expect(await sizeOf(await convertPng(folder, 'jpg', options))).toBe(size);
    expect(await sizeOf(await convertPng(folder, 'bmp', options))).toBe(size);
  });

  test('A drawing is rendered in the size that is wanted, sharp and not enlarged.', async ({ folder }) => {
    const svg = await makeSample('svg', folder);
    const run = (options: Record<string, unknown>) =>
      runForPath({ inputs: [svg], outputFormat: 'png', options, folder });
    const wide = await run({ image_custom_width: 1600 });
    expect(await sizeOf(wide)).toBe('1600x1200');
    expect(await sizeOf(await run({ image_resize_percentage: 200 }))).toBe('320x240');
    expect(await sizeOf(await run({ image_dpi: 192 }))).toBe('320x240');
    // One step from red to the background: an enlarged picture would have a wide ramp here.
    expect((await pixelAt(wide, 395, 140))[0]).toBeGreaterThan(200);
  });

  test('Icons are square, and at most 256 pixels.', async ({ folder }) => {
    expect(await sizeOf(await convertPng(folder, 'ico', { image_custom_width: 1000 }))).toBe('256x256');
  });
});

describe('Turning', { timeout: 30_000 }, () => {
  test.for([
    [{ rotate: 90 }, 90, undefined],
    [{ rotate: 180 }, 180, undefined],
    [{ rotate: -90 }, 270, undefined],
    [{ flip: 'horizontal' }, 0, 'flop'],
    [{ flip: 'vertical' }, 0, 'flip'],
    [{ rotate: 90, flip: 'horizontal' }, 90, 'flop'],
  ] as const)('%j turns as another program does.', async ([options, angle, mirror], { folder }) => {
    const output = await convertPng(folder, 'png', options);
    const expected = join(folder, 'expected.png');
    const turns = [...(angle ? ['-rotate', String(angle)] : []), ...(mirror ? [`-${mirror}`] : [])];
    await program('gm', 'convert', join(folder, 'sample.png'), ...turns, expected);
    expect((await compare(await readFile(output), await readFile(expected), 'colour')).difference).toBeLessThan(1);
    expect(await sizeOf(output)).toBe(await sizeOf(expected));
  });

  test('An odd angle leaves corners of the background.', async ({ folder }) => {
    const output = await convertPng(folder, 'png', { rotate: 45, background: '#00ff00' });
    const clear = await convertPng(folder, 'png', { rotate: 45 });
    expect(await pixelAt(output, 0, 0)).toEqual([0, 255, 0, 255]);
    expect((await pixelAt(clear, 0, 0))[3]).toBe(0);
  });

  test('The EXIF orientation is applied by default.', async ({ folder }) => {
    const path = join(folder, 'turned.jpg');
    await sharp(await original())
      .withMetadata({ orientation: 6 })
      .jpeg()
      .toFile(path);
    const upright = await runForPath({ inputs: [path], outputFormat: 'png', folder });
    const asStored = await runForPath({
      inputs: [path],
      outputFormat: 'png',
      options: { 'auto-orient': false },
      folder,
    });
    const inPdf = await runForPath({ inputs: [path], outputFormat: 'pdf', folder });
    expect(await sizeOf(upright)).toBe('120x160');
    expect(await sizeOf(asStored)).toBe('160x120');
    expect((await program('pdfinfo', inPdf)).toString()).toMatch(/Page size:\s+120 x 160 pts/);
  });
});

describe('Colours', { timeout: 30_000 }, () => {
  async function makeTransparent(folder: string): Promise<string> {
    const path = join(folder, 'clear.png');
    const spot = await sharp({ create: { width: 20, height: 20, channels: 4, background: '#ff0000' } })
      .png()
      .toBuffer();
    await sharp({ create: { width: 60, height: 40, channels: 4, background: { r: 0, g: 0, b: 0, alpha: 0 } } })
      .composite([{ input: spot, left: 0, top: 0 }])
      .png()
      .toFile(path);
    return path;
  }

  test.for(['jpg', 'bmp', 'ppm', 'pcx'])(
    'Transparent parts become white in %s, or the background.',
    async (outputFormat, { folder }) => {
      const inputs = [await makeTransparent(folder)];
      const white = await readBack(await runForPath({ inputs, outputFormat, folder }), outputFormat);
      const blue = await readBack(
        await runForPath({ inputs, outputFormat, options: { background: '#0000ff' }, folder }),
        outputFormat,
      );
      for (const [png, colour] of [
        [white, [255, 255, 255]],
        [blue, [0, 0, 255]],
      ] as const) {
        const { data, info } = await sharp(png)
          .removeAlpha()
          .toColourspace('srgb')
          .raw()
          .toBuffer({ resolveWithObject: true });
        const last = data.subarray(-info.channels);
        for (const [channel, value] of colour.entries()) expect(Math.abs((last[channel] ?? 0) - value)).toBeLessThan(4);
      }
    },
  );

  test.for(['png', 'webp', 'gif', 'tiff', 'avif', 'apng', 'ico', 'tga', 'qoi', 'psd', 'jxl', 'dds', 'exr', 'jp2'])(
    'Transparency stays in %s.',
    async (outputFormat, { folder }) => {
      const output = await runForPath({ inputs: [await makeTransparent(folder)], outputFormat, folder });
      const png = join(folder, 'read.png');
      await writeFile(png, await readBack(output, outputFormat));
      expect((await pixelAt(png, 50, 30))[3]).toBeLessThan(8);
      // An icon is square, with the picture in its middle.
      const y = outputFormat === 'ico' ? 16 : 5;
      expect((await pixelAt(png, 5, y))[3]).toBeGreaterThan(247);
      expect((await pixelAt(png, 5, y))[0]).toBeGreaterThan(240);
    },
  );

  test('Grey and CMYK are what they are called.', async ({ folder }) => {
    expect(await identify(await convertPng(folder, 'jpg', { color_space: 'gray' }), '%[colorspace]%r')).toMatch(
      /Gray/i,
    );
    expect(await identify(await convertPng(folder, 'jpg', { color_space: 'cmyk' }), '%r')).toMatch(
      /CMYK|ColorSeparation/,
    );
    expect(await identify(await convertPng(folder, 'tiff', { color_space: 'cmyk' }), '%r')).toMatch(
      /CMYK|ColorSeparation/,
    );
  });

  test('16 bits stay 16 bits between formats that hold them.', async ({ folder }) => {
    const path = join(folder, 'deep.png');
    await sharp(await original())
      .toColourspace('rgb16')
      .png()
      .toFile(path);
    for (const outputFormat of ['png', 'tiff']) {
      const output = await runForPath({ inputs: [path], outputFormat, folder });
      expect((await sharp(output).metadata()).depth).toBe('ushort');
    }
  });
});

describe('Quality and compression', { timeout: 60_000 }, () => {
  test.for(['jpg', 'webp', 'avif', 'jxl', 'jp2', 'jng'])(
    'A higher quality makes a larger %s that is nearer to the original.',
    async (outputFormat, { folder }) => {
      const photo = join(folder, 'photo.png');
      await makePhoto(photo, 300, 200);
      const results = [];
      for (const quality of [15, 90]) {
        const path = await runForPath({ inputs: [photo], outputFormat, options: { quality }, folder });
        const { difference } = await compare(await readBack(path, outputFormat), await readFile(photo), 'colour');
        results.push({ size: (await stat(path)).size, difference });
      }
      const [low, high] = results;
      expect(high?.size).toBeGreaterThan((low?.size ?? 0) * 1.5);
      expect(high?.difference).toBeLessThan(low?.difference ?? 0);
    },
  );

  test('The known name of the JPEG quality wins over the general one.', async ({ folder }) => {
    const photo = join(folder, 'photo.png');
    await makePhoto(photo, 300, 200);
    const run = (options: Record<string, unknown>) =>
      runForPath({ inputs: [photo], outputFormat: 'jpg', options, folder });
    expect(await identify(await run({ jpg_convert_compression_level: '35', quality: 90 }), '%Q')).toBe('35');
    expect(await identify(await run({ quality: 72 }), '%Q')).toBe('72');
    expect(await identify(await run({}), '%Q')).toBe('80');
  });

  test.for(['webp', 'avif', 'jxl', 'jp2'])('Lossless %s keeps every pixel.', async (outputFormat, { folder }) => {
    const path = await convertPng(folder, outputFormat, { lossless: true });
    const { difference } = await compare(await readBack(path, outputFormat), await original(), 'colour');
    expect(difference).toBeLessThan(outputFormat === 'avif' ? 0.6 : 0.01);
  });

  test('The levels of PNG go from large to small, and only lossy reduces the colours.', async ({ folder }) => {
    const photo = join(folder, 'photo.png');
    await makePhoto(photo, 300, 200);
    const sizes = [];
    for (const png_compression_level of ['none', 'light', 'lossy']) {
      const path = await runForPath({
        inputs: [photo],
        outputFormat: 'png',
        options: { png_compression_level },
        folder,
      });
      sizes.push((await stat(path)).size);
      const { difference } = await compare(await readFile(path), await readFile(photo), 'colour');
      if (png_compression_level !== 'lossy') expect(difference).toBe(0);
      else expect(Number(await identify(path, '%k'))).toBeLessThanOrEqual(256);
    }
    expect(sizes).toEqual([...sizes].sort((one, other) => other - one));
    const poor = { png_compression_level: 'lossy', png_convert_quality: 10 };
    const path = await runForPath({ inputs: [photo], outputFormat: 'png', options: poor, folder });
    expect((await stat(path)).size).toBeLessThan(sizes[2] ?? 0);
  });

  test('Progressive files are interlaced.', async ({ folder }) => {
    expect(
      (await readFile(await convertPng(folder, 'jpg', { progressive: true }))).includes(Buffer.from([0xff, 0xc2])),
    ).toBe(true);
    expect((await readFile(await convertPng(folder, 'jpg', {}))).includes(Buffer.from([0xff, 0xc2]))).toBe(false);
    expect((await readFile(await convertPng(folder, 'png', { progressive: true })))[28]).toBe(1);
  });

  test.for(['none', 'lzw', 'deflate', 'jpeg'])('TIFF is compressed with %s.', async (tiff_compression, { folder }) => {
    const path = await convertPng(folder, 'tiff', { tiff_compression });
    const said = { none: /None/, lzw: /LZW/, deflate: /deflate/i, jpeg: /JPEG/ }[tiff_compression] ?? /never/;
    expect((await program('tiffinfo', path)).toString()).toMatch(said);
  });
});

describe('Metadata', { timeout: 30_000 }, () => {
  async function makeWithExif(folder: string, format: 'jpeg' | 'heic'): Promise<string> {
    const jpeg = join(folder, 'exif.jpg');
    await sharp(await original())
      .withExif({ IFD0: { Copyright: 'Somebody' } })
      .jpeg()
      .toFile(jpeg);
    if (format === 'jpeg') return jpeg;
    const heic = join(folder, 'exif.heic');
    await program('heif-enc', jpeg, '-o', heic);
    return heic;
  }

  test.for([
    ['jpeg', 'jpg'],
    ['jpeg', 'webp'],
    ['jpeg', 'png'],
    ['heic', 'jpg'],
    ['jpeg', 'jxl'],
  ] as const)('From %s to %s it goes unless it is to stay.', async ([from, outputFormat], { folder }) => {
    const inputs = [await makeWithExif(folder, from)];
    const stripped = await readFile(await runForPath({ inputs, outputFormat, folder }));
    const kept = await readFile(await runForPath({ inputs, outputFormat, options: { strip: false }, folder }));
    expect(stripped.includes('Somebody')).toBe(false);
    if (outputFormat !== 'jxl') expect(kept.includes('Somebody')).toBe(true);
  });

  test('The resolution is written into the file.', async ({ folder }) => {
    for (const outputFormat of ['jpg', 'png', 'tiff', 'bmp', 'psd']) {
      const path = await convertPng(folder, outputFormat, { image_dpi: 300 });
      const said = (
        await program(
          '/usr/bin/python3',
          '-c',
          'import sys; from PIL import Image; print(Image.open(sys.argv[1]).info.get("dpi"))',
          path,
        )
      ).toString();
      if (outputFormat === 'psd')
        expect(
          (await program('/usr/bin/identify', '-units', 'PixelsPerInch', '-format', '%x', `${path}[0]`)).toString(),
        ).toMatch(/^300/);
      else expect(said).toMatch(/\((?:299\.9\d*|300(?:\.0\d*)?), /);
    }
  });
});

describe('Frames and pages', { timeout: 60_000 }, () => {
  const colours = ['#ff0000', '#00ff00', '#0000ff'];

  async function makeFrames(folder: string): Promise<string[]> {
    return Promise.all(
      colours.map(async (background, index) => {
        const path = join(folder, `frame-${index}.png`);
        await sharp({ create: { width: 40, height: 30, channels: 3, background } })
          .png()
          .toFile(path);
        return path;
      }),
    );
  }

  async function makeAnimation(folder: string, format: 'gif' | 'tiff'): Promise<string> {
    const path = join(folder, `several.${format}`);
    await program('gm', 'convert', '-delay', '20', '-loop', '0', ...(await makeFrames(folder)), path);
    return path;
  }

  async function framesOf(path: string): Promise<number> {
    const said = await program(
      'ffprobe',
      '-v',
      'error',
      '-count_frames',
      '-show_entries',
      'stream=nb_read_frames',
      '-of',
      'csv=p=0',
      path,
    );
    return Number.parseInt(said.toString(), 10);
  }

  test('All frames are kept in formats that support them: gif, webp, apng, mng.', async ({ folder }) => {
    const gif = await makeAnimation(folder, 'gif');
    const run = (input: string, outputFormat: string, options = {}) =>
      runForPath({ inputs: [input], outputFormat, options, folder });
    const webp = await run(gif, 'webp');
    const apng = await run(gif, 'apng');
    const mng = await run(gif, 'mng');
    expect((await program('webpmux', '-info', webp)).toString()).toMatch(/Number of frames: 3/);
    expect(await framesOf(apng)).toBe(3);
    expect((await identify(mng, '%wx%h\n')).split('\n')).toEqual(['40x30', '40x30', '40x30']);
    for (const input of [webp, apng, mng]) {
      const back = await run(input, 'gif');
      expect(await framesOf(back)).toBe(3);
      expect((await sharp(back, { pages: -1 }).metadata()).delay).toEqual([200, 200, 200]);
    }
    const turned = await run(gif, 'gif', { rotate: 90, image_custom_width: 15 });
    expect(await identify(turned, '%wx%h ')).toBe('15x20 15x20 15x20');
  });

  test('Pages of a TIFF become pages of a PDF, frames of a GIF, or stay pages, in their order.', async ({ folder }) => {
    const tiff = await makeAnimation(folder, 'tiff');
    const pdf = await runForPath({ inputs: [tiff], outputFormat: 'pdf', folder });
    expect((await program('pdfinfo', pdf)).toString()).toMatch(/Pages:\s+3/);
    expect(await framesOf(await runForPath({ inputs: [tiff], outputFormat: 'gif', folder }))).toBe(3);
    expect(await identify(await runForPath({ inputs: [tiff], outputFormat: 'tiff', folder }), '%wx%h ')).toBe(
      '40x30 40x30 40x30',
    );
  });

  test.for(['gif', 'tiff'] as const)(
    'A single one of a %s can be chosen; otherwise it is the first frame, or each page.',
    async (format, { folder }) => {
      const inputs = [await makeAnimation(folder, format)];
      const { outputs, warnings } = await runEngine({ inputs, outputFormat: 'png', folder });
      expect(outputs.map(({ name }) => name)).toEqual(
        format === 'gif' ? ['several.png'] : ['several-1.png', 'several-2.png', 'several-3.png'],
      );
      expect(warnings).toEqual(format === 'gif' ? [expect.stringContaining('has 3 frames')] : []);
      const first = outputs[0]?.path ?? '';
      const third = await runForPath({ inputs, outputFormat: 'png', options: { page: 3 }, folder });
      expect((await pixelAt(first, 20, 15)).slice(0, 3)).toEqual([255, 0, 0]);
      expect((await pixelAt(third, 20, 15)).slice(0, 3)).toEqual([0, 0, 255]);
    },
  );
});

describe('PDF pages', { timeout: 60_000 }, () => {
  async function makePdf(folder: string, options: Record<string, unknown>): Promise<{ size: string; box: number[] }> {
    const path = join(folder, 'black.png');
    await sharp({ create: { width: 300, height: 150, channels: 3, background: '#000000' } })
      .png()
      .toFile(path);
    const pdf = await runForPath({ inputs: [path], outputFormat: 'pdf', options, folder });
    const size = /Page size:\s+([\d.]+ x [\d.]+) pts/.exec((await program('pdfinfo', pdf)).toString())?.[1] ?? '';
    const page = join(folder, 'page');
    await program('pdftoppm', '-r', '72', '-png', '-singlefile', pdf, page);
    const { info } = await sharp(`${page}.png`).trim({ background: '#ffffff' }).toBuffer({ resolveWithObject: true });
    return { size, box: [-(info.trimOffsetLeft ?? 0), -(info.trimOffsetTop ?? 0), info.width, info.height] };
  }

  const a4 = '1240.2x1753.95';

  test.for([
    ['as large as the image', {}, '300 x 150', [0, 0, 300, 150]],
    ['as large as the image when requested', { pdf_page_size: 'same-as-image' }, '300 x 150', [0, 0, 300, 150]],
    ['A4 with the image enlarged', { pdf_page_size: a4 }, '595.296 x 841.896', [0, 272, 595, 298]],
    ['A4 lying', { pdf_page_size: a4, pdf_orientation: 'landscape' }, '841.896 x 595.296', [0, 87, 842, 421]],
    [
      'A4 with the image as it is',
      { pdf_page_size: a4, enlarge_images_to_fit: false },
      '595.296 x 841.896',
      [226, 385, 144, 72],
    ],
    [
      'A4 with the image at the top left',
      { pdf_page_size: a4, enlarge_images_to_fit: false, pdf_image_alignment: 'TopLeft' },
      '595.296 x 841.896',
      [0, 0, 144, 72],
    ],
    [
      'A4 with the image at the bottom',
      { pdf_page_size: a4, enlarge_images_to_fit: false, pdf_image_alignment: 'Bottom' },
      '595.296 x 841.896',
      [226, 770, 144, 72],
    ],
  ] as const)('A page is %s.', async ([, options, size, box], { folder }) => {
    const made = await makePdf(folder, options);
    const asSeen = (value: string) => value.replace(/\.\d+/g, '');
    expect(asSeen(made.size)).toBe(asSeen(size));
    for (const [index, value] of box.entries()) expect(Math.abs((made.box[index] ?? 0) - value)).toBeLessThanOrEqual(2);
  });

  test('Letters of a drawing stay letters.', async ({ folder }) => {
    const path = join(folder, 'letters.svg');
    await writeFile(
      path,
      '<svg xmlns="http://www.w3.org/2000/svg" width="200" height="60"><text x="10" y="40" font-family="DejaVu Sans" font-size="24">Lathe turns</text></svg>',
    );
    const pdf = await runForPath({ inputs: [path], outputFormat: 'pdf', folder });
    expect((await program('pdftotext', pdf, '-')).toString()).toContain('Lathe turns');
  });

  test('The bytes of a JPEG are in the PDF as they were, without its metadata unless it is to stay.', async ({
    folder,
  }) => {
    const path = join(folder, 'photo.jpg');
    await sharp(await original())
      .withExif({ IFD0: { Copyright: 'Somebody' } })
      .jpeg()
      .toFile(path);
    const stripped = await readFile(await runForPath({ inputs: [path], outputFormat: 'pdf', folder }));
    const kept = await readFile(
      await runForPath({ inputs: [path], outputFormat: 'pdf', options: { strip: false }, folder }),
    );
    const pixels = (await readFile(path)).subarray(-400);
    expect(stripped.includes(pixels)).toBe(true);
    expect(stripped.includes('Somebody')).toBe(false);
    expect(kept.includes('Somebody')).toBe(true);
  });
});

describe('Merge', { timeout: 60_000 }, () => {
  test('Images and PDFs become one PDF in their order.', async ({ folder }) => {
    const [pdf, png, jpg] = [
      await makeSample('pdf', folder),
      await makeSample('png', folder),
      await makeSample('jpg', folder),
    ];
    const two = join(folder, 'two.pdf');
    await program('qpdf', '--empty', '--pages', pdf, pdf, '--', two);
    const merged = await runForPath({
      operation: 'merge',
      inputs: [png, two, jpg],
      outputFormat: 'pdf',
      options: { pdf_page_size: '1275x1650' },
      folder,
    });
    const said = (await program('pdfinfo', '-f', '1', '-l', '9', merged)).toString();
    const widths = [...said.matchAll(/size:\s+([\d.]+) x/g)].map(([, width]) => Math.round(Number(width)));
    expect(widths).toEqual([612, 120, 120, 612]);
  });

  test('Images and PDFs become one animation of one size, with the requested delays and loops.', async ({ folder }) => {
    const inputs = [await makeSample('png', folder), await makeSample('pdf', folder), await makeSample('heic', folder)];
    const options = {
      gif_delay: 250,
      gif_loop: 3,
      image_custom_width: 80,
      image_custom_height: 80,
      background: '#00ff00',
    };
    const gif = await runForPath({ operation: 'merge', inputs, outputFormat: 'gif', options, folder });
    const { delay, loop, pages, width, pageHeight } = await sharp(gif, { pages: -1 }).metadata();
    expect({ delay, loop, pages, width, pageHeight }).toEqual({
      delay: [250, 250, 250],
      loop: 3,
      pages: 3,
      width: 80,
      pageHeight: 80,
    });
    expect((await pixelAt(gif, 40, 2)).slice(0, 3)).toEqual([0, 255, 0]);
  });
});

describe('Crop', { timeout: 30_000 }, () => {
  test.for([
    [{ x: 100, y: 20, width: 30, height: 40 }, '30x40'],
    [{ width: 50, height: 50 }, '50x50'],
    [{ x: 60, y: 20 }, '100x100'],
    [{ aspect: '1:1' }, '120x120'],
    [{ aspect: '16:9' }, '160x90'],
    [{ aspect: '2:1', width: 60 }, '60x30'],
  ] as const)('%j leaves %s.', async ([options, size], { folder }) => {
    const inputs = [await makeSample('png', folder)];
    expect(await sizeOf(await runForPath({ operation: 'crop', inputs, outputFormat: 'png', options, folder }))).toBe(
      size,
    );
  });
});

describe('Compress', { timeout: 120_000 }, () => {
  const photoSize: [number, number] = [540, 360];

  async function compressed(format: string, options: Record<string, unknown>) {
    return inFolder(async (folder) => {
      const photo = join(folder, 'photo.png');
      await makePhoto(photo, ...photoSize);
      const path = join(folder, `photo.${format}`);
      const quality = format === 'png' || format === 'gif' ? {} : { quality: 95 };
      if (format !== 'png')
        await sharp(photo)
          .toFormat(format === 'jpg' ? 'jpeg' : format === 'gif' ? 'gif' : format === 'avif' ? 'avif' : 'webp', {
            ...quality,
            effort: 2,
          })
          .toFile(path);
      const { outputs, details } = await runEngine({
        operation: 'compress',
        inputs: [path],
        outputFormat: format,
        options,
        folder,
      });
      const output = await readFile(outputs[0]?.path ?? '');
      const before = (await stat(path)).size;
      expect(details).toMatchObject({ size_before: before, size_after: output.length });
      const { difference } = await compare(output, await readFile(photo), 'colour');
      expect(await sharp(output).metadata()).toMatchObject({ width: photoSize[0], height: photoSize[1] });
      return { before, after: output.length, difference };
    });
  }

  test.for(['jpg', 'png', 'webp', 'gif', 'avif'])(
    '%s becomes smaller by quality and is still the picture.',
    async (format) => {
      const { before, after, difference } = await compressed(format, {});
      expect(after).toBeLessThan(before);
      expect(difference).toBeLessThan(15);
    },
  );

  test.for([
    ['jpg', 60],
    ['jpg', 25],
    ['png', 70],
    ['png', 30],
    ['webp', 50],
    ['webp', 85],
    ['gif', 60],
    ['avif', 50],
  ] as const)('%s meets %s percent of its size within 5 percent below.', async ([format, percentage]) => {
    const options = { compress_image: 'by_percentage', image_compress_percentage: percentage };
    const { before, after } = await compressed(format, options);
    expect(after / ((before * percentage) / 100)).toBeLessThanOrEqual(1);
    expect(after / ((before * percentage) / 100)).toBeGreaterThan(0.95);
  });

  // The sizes of its palettes are far apart.
  test.for([24, 32, 80])(
    'A small drawing as gif meets %s percent of its size within 5 percent below.',
    async (share, { folder }) => {
      const path = join(folder, 'drawing.gif');
      const { size } = await sharp(Buffer.from(drawing)).resize(160, 107).flatten().gif({ effort: 2 }).toFile(path);
      const { outputs } = await runEngine({
        operation: 'compress',
        inputs: [path],
        outputFormat: 'gif',
        // By default, fewer pixels or colours that look better are preferred to a size that is nearer.
        options: { compress_image: 'by_percentage', image_compress_percentage: share, image_compress_resize: false },
        folder,
      });
      const target = Math.floor((size * share) / 100);
      const { size: after } = await stat(outputs[0]?.path ?? '');
      expect(after).toBeLessThanOrEqual(target);
      expect(after).toBeGreaterThan(target * 0.95);
    },
  );

  test('An animation keeps its frames and their times.', async ({ folder }) => {
    const frames = await Promise.all(
      [0, 1, 2].map((turn) =>
        sharp(Buffer.from(drawing))
          .resize(320, 240)
          .modulate({ hue: turn * 120 })
          .png()
          .toBuffer(),
      ),
    );
    const path = join(folder, 'moving.gif');
    await sharp(frames, { join: { animated: true } })
      .gif({ delay: [100, 200, 300], loop: 2 })
      .toFile(path);
    const options = { compress_image: 'by_percentage', image_compress_percentage: 60 };
    const { outputs } = await runEngine({
      operation: 'compress',
      inputs: [path],
      outputFormat: 'gif',
      options,
      folder,
    });
    const { pages, delay, loop } = await sharp(outputs[0]?.path ?? '', { pages: -1 }).metadata();
    expect({ pages, delay, loop }).toEqual({ pages: 3, delay: [100, 200, 300], loop: 2 });
  });

  test('A size in megabytes is met within 5 percent below.', async () => {
    const { after } = await compressed('jpg', { compress_image: 'by_size', image_compress_max_filesize: 0.03 });
    expect(after).toBeLessThanOrEqual(30_000);
    expect(after).toBeGreaterThan(28_500);
  });

  test('A file that is already small stays as it is, and is said to.', async ({ folder }) => {
    const path = join(folder, 'small.jpg');
    await sharp(await original())
      .jpeg({ quality: 20, mozjpeg: true })
      .toFile(path);
    const { outputs, details } = await runEngine({
      operation: 'compress',
      inputs: [path],
      outputFormat: 'jpg',
      options: { image_compress_quality: 95 },
      folder,
    });
    expect((await readFile(outputs[0]?.path ?? '')).equals(await readFile(path))).toBe(true);
    expect(details?.note).toMatch(/could not be made smaller/);
  });

  test('The output may be of another format.', async ({ folder }) => {
    const photo = join(folder, 'photo.png');
    await makePhoto(photo, ...photoSize);
    const options = { compress_image: 'by_size', image_compress_max_filesize: 0.02 };
    const { outputs } = await runEngine({
      operation: 'compress',
      inputs: [photo],
      outputFormat: 'webp',
      options,
      folder,
    });
    const size = (await stat(outputs[0]?.path ?? '')).size;
    expect(size).toBeLessThanOrEqual(20_000);
    expect(size).toBeGreaterThan(19_000);
  });
});

test('A JPEG becomes a JPEG of the same pixels, without other data in or after it, and a damaged one is drawn again', async ({
  folder,
}) => {
  const made = join(folder, 'made.jpg');
  await makePhoto(made, 320, 240);
  const plain = await readFile(made);
  const path = join(folder, 'in.jpg');
  const exif = await sharp(made)
    .withExif({ IFD0: { Artist: 'somebody' } })
    .jpeg({ quality: 80 })
    .toBuffer();
  await writeFile(path, Buffer.concat([exif, Buffer.from('behind it')]));
  const bytes = await readFile(await runForPath({ inputs: [path], outputFormat: 'jpg', folder }));
  expect(bytes.includes('somebody')).toBe(false);
  expect(bytes.includes('behind it')).toBe(false);
  expect(await sharp(bytes).raw().toBuffer()).toEqual(await sharp(exif).raw().toBuffer());

  await writeFile(path, Buffer.concat([plain.subarray(0, 9_000), Buffer.alloc(200), plain.subarray(9_200)]));
  const drawn = await runForPath({ inputs: [path], outputFormat: 'jpg', folder });
  expect(await sizeOf(drawn)).toBe('320x240');
  await expect(
    sharp(await readFile(drawn), { failOn: 'warning' })
      .raw()
      .toBuffer(),
  ).resolves.toBeDefined();
});
