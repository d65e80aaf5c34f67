import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { OutputFile } from '../../functions/engines/runtime/engine.ts';
import { program, programTo } from '../engines/image/programs.ts';
import { eachTo, type QualityCase, testQuality } from './case.ts';
import { each, identified, likeness, middles, names, only, pixels, tags } from './readers.ts';

/** Makes an input by ImageMagick. */
const drawn =
  (name: string, ...args: string[]) =>
  async (folder: string): Promise<string> => {
    const path = join(folder, name);
    await program('/usr/bin/convert', ...args, path);
    return path;
  };

/** Makes a photograph's JPEG with EXIF: 64 × 48 pixels at 300 dpi, with an artist and a position. */
const camera =
  (orientation: number) =>
  async (folder: string): Promise<string> => {
    const dots = ['-density', '300', '-units', 'PixelsPerInch', '-quality', '92'];
    const path = await drawn('camera.jpg', '-size', '64x48', 'gradient:red-blue', ...dots)(folder);
    const said = [`-Orientation#=${orientation}`, '-Artist=Ada', '-GPSLatitude=52.5', '-GPSLatitudeRef=N'];
    const more = ['-XResolution=300', '-YResolution=300', '-ISO=200', '-FNumber=2.8'];
    await program('exiftool', '-q', '-overwrite_original', ...said, ...more, path);
    return path;
  };

/** Makes a TIFF of pages that differ in size, colours and resolution: red, grey, and black and white. */
async function mixedPages(folder: string): Promise<string> {
  const dots = ['-density', '300', '-units', 'PixelsPerInch'];
  const pages = [
    await drawn('1.tif', '-size', '60x40', 'xc:red', '-depth', '8', ...dots)(folder),
    await drawn('2.tif', '-size', '30x50', 'xc:gray(50%)', '-colorspace', 'Gray', '-depth', '8')(folder),
    await drawn('3.tif', '-size', '80x20', 'xc:black', '-monochrome', '-compress', 'Group4')(folder),
  ];
  const path = join(folder, 'pages.tif');
  await program('tiffcp', ...pages, path);
  return path;
}

const threeFrames = drawn('moving.gif', '-delay', '20', '-size', '40x30', 'xc:red', 'xc:lime', 'xc:blue');

/** Makes a PostScript document of two pages: red and blue. */
async function postScript(folder: string): Promise<string> {
  const path = join(folder, 'pages.ps');
  const page = (number: number, colour: string) =>
    `%%Page: ${number} ${number}\n${colour} setrgbcolor 0 0 100 100 rectfill showpage\n`;
  const setup = '<< /PageSize [100 100] >> setpagedevice';
  await writeFile(path, `%!PS-Adobe-3.0\n%%Pages: 2\n${setup}\n${page(1, '1 0 0')}${page(2, '0 0 1')}%%EOF\n`);
  return path;
}

/** Makes a drawing of a size, with a red square of an inch in its corner. */
const drawing =
  (size: string, content = '<rect width="1in" height="1in" fill="red"/>') =>
  async (folder: string): Promise<string> => {
    const path = join(folder, 'drawing.svg');
    await writeFile(path, `<svg xmlns="http://www.w3.org/2000/svg" ${size}>${content}</svg>`);
    return path;
  };

/** Makes a picture of 20,000 × 20 pixels, more than ImageMagick takes here. */
async function wideLine(folder: string): Promise<string> {
  const [plain, path] = [join(folder, 'wide.ppm'), join(folder, 'wide.png')];
  await writeFile(plain, Buffer.concat([Buffer.from('P6 20000 20 255\n'), Buffer.alloc(20_000 * 20 * 3, 200)]));
  await programTo(path, 'pamtopng', plain);
  return path;
}

/** Makes a picture with as much detail as a photograph. */
const photo = (name: string, size: string, ...more: string[]) =>
  drawn(
    name,
    ...['-seed', '7', '-size', size, 'plasma:red-blue', '-blur', '0x1', '-fill', 'yellow'],
    ...['-draw', 'circle 80,80 120,100', '-fill', 'black', '-pointsize', '40', '-draw', 'text 150,120 Sharp', ...more],
  );

const warned = (text: string) => [expect.stringContaining(text)];
const red = [255, 0, 0, 255];
const lime = [0, 255, 0, 255];
const blue = [0, 0, 255, 255];
const near = (...colour: number[]) => colour.map((value) => expect.closeTo(value, -1));
/** JFIF and EXIF number the units differently; JPEGs have the one or the other. */
const inches = (format: string) => (format === 'jpg' ? between(1, 2) : 2);
const dpi = tags('XResolution', 'ResolutionUnit');

/** Returns the size of the only output, and how near it is to the picture that it was made of. */
const sizeAndLikeness =
  (name: string, size: string, ...more: string[]) =>
  async (outputs: OutputFile[]) => {
    const [output] = outputs;
    if (!output) throw new Error('There is no output.');
    const source = await photo(name, size, ...more)(join(output.path, '..'));
    const bytes = (await stat(output.path)).size;
    return { bytes, likeness: await likeness(source)(output.path) };
  };

/** Numbers between two. */
const between = (low: number, high: number) => ({
  asymmetricMatch: (value: unknown) => typeof value === 'number' && value >= low && value <= high,
  toString: () => `between ${low} and ${high}`,
});

const cases: QualityCase[] = [
  {
    name: 'a JPEG at 300 dpi becomes a PNG at 300 dpi',
    input: drawn('dots.jpg', '-size', '64x64', 'xc:red', '-density', '300', '-units', 'PixelsPerInch'),
    to: 'png',
    read: only(tags('PixelsPerUnitX', 'PixelUnits')),
    expected: { PixelsPerUnitX: 11811, PixelUnits: 1 },
    usual: true,
  },
  ...eachTo(['jpg', 'webp', 'avif', 'tiff'], (to) => ({
    name: `a JPEG at 300 dpi becomes ${to} at 300 dpi, without its artist and position`,
    input: camera(1),
    read: only(tags('XResolution', 'ResolutionUnit', 'Artist', 'GPSLatitude', 'ISO')),
    expected: { XResolution: 300, ResolutionUnit: inches(to) },
    usual: to === 'tiff',
  })),
  ...(
    [
      ['rotated by 90 degrees', { rotate: 90 }],
      ['rotated by 33 degrees', { rotate: 33 }],
      ['flipped', { flip: 'vertical' }],
      ['scaled', { image_custom_width: 20 }],
    ] as const
  ).flatMap(([what, options]) =>
    ['jpg', 'tiff', 'webp'].map(
      (to): QualityCase => ({
        name: `a JPEG at 300 dpi that is ${what} stays at 300 dpi as ${to}`,
        input: camera(6),
        to,
        options,
        read: only(dpi),
        expected: { XResolution: 300, ResolutionUnit: inches(to) },
      }),
    ),
  ),
  ...(['crop', 'compress'] as const).flatMap((operation) =>
    ['jpg', 'webp'].map(
      (to): QualityCase => ({
        name: `${operation} keeps 300 dpi in ${to}`,
        input: photoAt300,
        operation,
        to,
        options: operation === 'crop' ? { width: 20, height: 20 } : { image_compress_quality: 40 },
        read: only(dpi),
        expected: { XResolution: 300, ResolutionUnit: inches(to) },
      }),
    ),
  ),
  {
    name: 'a resolution that is set does not bring the position back',
    input: camera(1),
    to: 'jpg',
    options: { image_dpi: 150 },
    read: only(tags('XResolution', 'GPSLatitude', 'Artist')),
    expected: { XResolution: 150 },
    usual: true,
  },
  ...eachTo(['tiff', 'webp', 'png', 'jpg'], (to) => ({
    name: `with strip false, EXIF goes from jpg into ${to}`,
    input: camera(1),
    options: { strip: false },
    read: only(tags('Artist', 'GPSLatitude', 'ISO', 'FNumber', 'XResolution')),
    expected: { Artist: 'Ada', GPSLatitude: 52.5, ISO: 200, FNumber: 2.8, XResolution: 300 },
  })),
  ...eachTo(['jpg', 'png', 'tiff'], (to) => ({
    name: `without auto-orient, ${to} keeps the orientation and nothing else of EXIF`,
    input: camera(6),
    options: { 'auto-orient': false },
    read: only(tags('Orientation', 'Artist', 'GPSLatitude', 'ImageWidth')),
    expected: { Orientation: 6, ImageWidth: 64 },
    usual: to === 'jpg',
  })),
  {
    name: 'without auto-orient, bmp comes with a warning that it may be shown turned',
    input: camera(6),
    to: 'bmp',
    options: { 'auto-orient': false },
    read: only(identified('%wx%h')),
    expected: ['64x48'],
    warnings: warned('Leave out auto-orient'),
  },
  {
    name: 'by default the pixels are turned as the orientation says',
    input: camera(6),
    to: 'jpg',
    read: only(tags('ImageWidth', 'ImageHeight')),
    expected: { ImageWidth: 48, ImageHeight: 64 },
  },
  ...(
    [
      ...[1, 2, 3, 4, 5, 6, 7, 8].map((orientation) => [orientation, {}, []] as const),
      [1, { rotate: 90 }, ['-rotate', '90']],
      [6, { rotate: 90 }, ['-rotate', '90']],
      [1, { rotate: -90, flip: 'horizontal' }, ['-rotate', '270', '-flop']],
      [5, { rotate: 180, flip: 'vertical' }, ['-rotate', '180', '-flip']],
    ] as const
  ).map(
    ([orientation, options, turned]): QualityCase => ({
      name: `a JPEG of orientation ${orientation} with ${JSON.stringify(options)} is turned without loss`,
      input: patches(orientation),
      to: 'jpg',
      options,
      read: async ([output]) => {
        const [path, folder] = [output?.path ?? '', join(output?.path ?? '', '..')];
        const upright = join(folder, 'upright.png');
        await program('/usr/bin/convert', await patches(orientation)(folder), '-auto-orient', ...turned, upright);
        return likeness(upright)(path);
      },
      expected: between(55, 100),
    }),
  ),
  {
    name: 'a JPEG that is cut at whole blocks loses nothing',
    input: patches(1),
    operation: 'crop',
    to: 'jpg',
    options: { x: 16, y: 16, width: 30, height: 20 },
    read: async ([output]) => {
      const [path, folder] = [output?.path ?? '', join(output?.path ?? '', '..')];
      const cut = join(folder, 'cut.png');
      await program('/usr/bin/convert', await patches(1)(folder), '-crop', '30x20+16+16', '+repage', cut);
      return likeness(cut)(path);
    },
    expected: between(55, 100),
  },
  ...eachTo(['gif', 'webp'], (to) => ({
    name: `pages of several sizes are all seen, unscaled, in ${to}`,
    input: mixedPages,
    read: only(async (path) => ({ sizes: await identified('%W %H')(path), middles: await middles(path) })),
    expected: {
      sizes: ['80 50', '80 50', '80 50'],
      middles: [near(...red), [...near(126, 126, 126), 255], near(0, 0, 0, 255)],
    },
    usual: to === 'gif',
  })),
  {
    name: 'pages of several sizes are all seen in apng',
    input: mixedPages,
    to: 'apng',
    read: only(async (path) => {
      const raw = await program('ffmpeg', '-v', 'error', '-i', path, '-f', 'rawvideo', '-pix_fmt', 'rgba', '-');
      const middle = (25 * 80 + 40) * 4;
      return [0, 1, 2].map((frame) => [...raw.subarray(frame * 80 * 50 * 4 + middle).subarray(0, 4)]);
    }),
    expected: [near(...red), near(126, 126, 126, 255), near(0, 0, 0, 255)],
  },
  {
    name: 'pages of a TIFF become a png each, with their sizes, kinds and resolutions',
    input: mixedPages,
    to: 'png',
    read: async (outputs) => ({
      names: await names(outputs),
      facts: (await each(identified('%wx%h %[type]'))(outputs)).flat(),
      bits: await each(tags('BitDepth'))(outputs),
      dpi: await each(tags('PixelsPerUnitX'))(outputs),
    }),
    expected: {
      names: ['pages-1.png', 'pages-2.png', 'pages-3.png'],
      facts: ['60x40 Palette', '30x50 Grayscale', '80x20 Bilevel'],
      bits: [{ BitDepth: 8 }, { BitDepth: 8 }, { BitDepth: 1 }],
      dpi: [{ PixelsPerUnitX: 11811 }, expect.anything(), expect.anything()],
    },
    usual: true,
  },
  {
    name: 'pages of a TIFF become a jpg each',
    input: mixedPages,
    to: 'jpg',
    read: async (outputs) => (await each(identified('%wx%h'))(outputs)).flat(),
    expected: ['60x40', '30x50', '80x20'],
  },
  {
    name: 'the option page chooses one of the pages',
    input: mixedPages,
    to: 'jpg',
    options: { page: 2 },
    read: only(identified('%wx%h')),
    expected: ['30x50'],
  },
  {
    name: 'pages of a TIFF stay pages with their sizes and kinds',
    input: mixedPages,
    to: 'tiff',
    read: only(async (path) => {
      const said = (await program('tiffinfo', path)).toString();
      return [...said.matchAll(/Image Width: (\d+) Image Length: (\d+)[\s\S]*?Bits\/Sample: (\d+)/g)].map((found) =>
        found.slice(1).join(' '),
      );
    }),
    expected: ['60 40 8', '30 50 8', '80 20 1'],
  },
  {
    name: 'pages of a TIFF become pages of a PDF, in the size that their resolution says',
    input: mixedPages,
    to: 'pdf',
    read: only(async (path) =>
      [...(await program('mutool', 'info', '-M', path)).toString().matchAll(/\[ 0 0 ([\d.]+) ([\d.]+) \]/g)].map(
        (box) => box.slice(1).map(Number),
      ),
    ),
    expected: [
      [14.4, 9.6],
      [30, 50],
      [80, 20],
    ],
  },
  {
    name: 'pages of a DCX become a png each',
    input: drawn('pages.dcx', '-size', '40x30', 'xc:red', 'xc:blue'),
    to: 'png',
    read: async (outputs) => (await each(middles)(outputs)).flat(),
    expected: [red, blue],
  },
  {
    name: 'pages of PostScript become a png each',
    input: postScript,
    to: 'png',
    read: async (outputs) => (await each(middles)(outputs)).flat(),
    expected: [red, blue],
  },
  {
    name: 'pages of PostScript become one TIFF',
    input: postScript,
    to: 'tiff',
    read: only(identified('%wx%h')),
    expected: ['209x209', '209x209'],
  },
  {
    name: 'pages of a PDF become one TIFF',
    input: async (folder) => {
      const path = join(folder, 'pages.pdf');
      await program('ps2pdf', await postScript(folder), path);
      return path;
    },
    to: 'tiff',
    options: { image_dpi: 72 },
    read: only(async (path) => ({ sizes: await identified('%wx%h %x')(path), middles: await middles(path) })),
    expected: { sizes: ['100x100 72', '100x100 72'], middles: [red, blue] },
  },
  ...eachTo(['avif', 'jpg', 'png', 'bmp'], (to) => ({
    name: `of an animation ${to} has the first frame, with a warning`,
    input: threeFrames,
    read: only(pixels([20, 15])),
    expected: [near(255, 0, 0)],
    warnings: warned('has 3 frames. Only the first is converted'),
    usual: to === 'jpg',
  })),
  {
    name: 'of an animation a PDF has the first frame, with a warning',
    input: threeFrames,
    to: 'pdf',
    read: only(async (path) => (await program('mutool', 'info', path)).toString().match(/Pages: \d+/)?.[0]),
    expected: 'Pages: 1',
    warnings: warned('has 3 frames'),
  },
  {
    name: 'a chosen frame of an animation needs no warning',
    input: threeFrames,
    to: 'png',
    options: { page: 3 },
    read: only(middles),
    expected: [blue],
  },
  {
    name: 'an APNG as jpg says how many frames are left out',
    input: async (folder) => {
      const path = join(folder, 'moving.apng');
      await program('ffmpeg', '-v', 'error', '-i', await threeFrames(folder), '-f', 'apng', path);
      return path;
    },
    to: 'jpg',
    read: only(pixels([20, 15])),
    expected: [near(255, 0, 0)],
    warnings: warned('has 3 frames'),
  },
  {
    name: 'frames of an animation keep their times from gif to webp',
    input: drawn('moving.gif', '-size', '40x30', '-delay', '20', 'xc:red', '-delay', '50', 'xc:lime', 'xc:blue'),
    to: 'webp',
    read: only(async (path) => ({
      middles: await middles(path),
      durations: [...(await program('webpmux', '-info', path)).toString().matchAll(/ (\d+) +(?:none|background)/g)].map(
        ([, duration]) => duration,
      ),
    })),
    expected: { middles: [near(...red), near(...lime), near(...blue)], durations: ['200', '500', '500'] },
  },
  {
    name: 'a picture that is too wide for webp is scaled down with a warning',
    input: wideLine,
    to: 'webp',
    read: only(tags('ImageWidth')),
    expected: { ImageWidth: 16383 },
    warnings: warned('was scaled down from 20000 × 20 to 16383 × 16 pixels, because webp holds at most 16383'),
  },
  {
    name: 'a picture that is too wide for avif is scaled down with a warning',
    input: wideLine,
    to: 'avif',
    read: only(tags('ImageWidth')),
    expected: { ImageWidth: 16384 },
    warnings: warned('because avif holds at most 16384'),
  },
  ...(
    [
      ['width="50mm" height="25.4mm"', '189x96'],
      ['width="72pt" height="36pt"', '96x48'],
      ['width="2in" height="1in"', '192x96'],
      ['width="5cm" height="5cm"', '189x189'],
      ['width="6pc" height="6pc"', '96x96'],
      ['viewBox="0 0 300 150"', '300x150'],
      ['width="100%" height="100%" viewBox="0 0 300 150"', '300x150'],
      ['width="120" viewBox="0 0 60 30"', '120x60'],
      ['style="width:50mm;height:25.4mm"', '189x96'],
    ] as const
  ).map(
    ([size, expected], index): QualityCase => ({
      name: `a drawing with ${size} is ${expected} pixels, as in browsers`,
      input: drawing(size),
      to: 'png',
      read: only(identified('%wx%h')),
      expected: [expected],
      usual: index === 0,
    }),
  ),
  {
    name: 'an inch within a drawing is 96 pixels, and twice as many at twice the size',
    input: drawing('width="3in" height="2in"'),
    to: 'png',
    options: { image_resize_percentage: 200 },
    read: only(pixels([190, 190], [194, 10])),
    expected: [
      [255, 0, 0],
      [0, 0, 0],
    ],
  },
  {
    name: 'emoji in a drawing have their colours',
    input: drawing('width="100" height="100"', '<text x="10" y="80" font-size="70">😀</text>'),
    to: 'png',
    read: only(pixels([25, 60])),
    expected: [[between(230, 255), between(150, 230), between(0, 110)]],
  },
  {
    name: 'a JPEG that becomes a JPEG keeps its quality and colour resolution',
    input: photo('fine.jpg', '400x300', '-quality', '96', '-sampling-factor', '1x1'),
    to: 'jpg',
    read: only(identified('%Q %[jpeg:sampling-factor]')),
    expected: ['96 1x1,1x1,1x1'],
    usual: true,
  },
  {
    name: 'a JPEG of a low quality does not become larger as a JPEG',
    input: photo('coarse.jpg', '400x300', '-quality', '45', '-sampling-factor', '2x2'),
    to: 'jpg',
    read: only(identified('%Q %[jpeg:sampling-factor]')),
    expected: ['45 2x2,1x1,1x1'],
  },
  {
    name: 'the quality of a JPEG can be set',
    input: photo('fine.jpg', '400x300', '-quality', '96'),
    to: 'jpg',
    options: { quality: 60 },
    read: only(identified('%Q')),
    expected: ['60'],
  },
  {
    name: 'a PNG becomes a JPEG of quality 80',
    input: photo('fine.png', '400x300'),
    to: 'jpg',
    read: only(identified('%Q')),
    expected: ['80'],
  },
  ...(
    [
      ['png', 'jpg'],
      ['png', 'tiff'],
      ['png', 'png'],
      ['jpg', 'jpg'],
      ['tiff', 'png'],
      ['pgm', 'png'],
      ['pgm', 'tiff'],
    ] as const
  ).map(
    ([from, to]): QualityCase => ({
      name: `greys stay greys from ${from} to ${to}`,
      input: drawn(`greys.${from}`, '-size', '60x40', 'gradient:black-white', '-colorspace', 'Gray', '-depth', '8'),
      to,
      read: only(async (path) => ({
        type: await identified('%[channels]')(path),
        pixels: await pixels([30, 0], [30, 39])(path),
      })),
      expected: {
        type: ['gray'],
        pixels: [
          [between(0, 3), between(0, 3), between(0, 3)],
          [between(252, 255), between(252, 255), between(252, 255)],
        ],
      },
    }),
  ),
  {
    name: 'greys of 16 bits keep them',
    input: drawn('greys.png', '-size', '60x40', 'gradient:black-white', '-colorspace', 'Gray', '-depth', '16'),
    to: 'tiff',
    read: only(tags('BitsPerSample', 'SamplesPerPixel')),
    expected: { BitsPerSample: 16, SamplesPerPixel: 1 },
  },
  ...(
    [
      ['png', 'png'],
      ['png', 'tiff'],
      ['tiff', 'png'],
      ['pbm', 'png'],
      ['tiff', 'tiff'],
    ] as const
  ).map(
    ([from, to]): QualityCase => ({
      name: `black and white stays one bit from ${from} to ${to}`,
      input: drawn(
        `bits.${from}`,
        '-size',
        '64x64',
        'pattern:checkerboard',
        '-threshold',
        '55%',
        '-monochrome',
        '-depth',
        '1',
      ),
      to,
      read: only(async (path) => ({
        bits: await tags('BitDepth', 'BitsPerSample')(path),
        same: (await pixels([3, 3], [18, 3])(path)).map(([red]) => red),
      })),
      expected: { bits: to === 'png' ? { BitDepth: 1 } : { BitsPerSample: 1 }, same: [255, 0] },
      usual: from === 'tiff' && to === 'png',
    }),
  ),
  {
    name: 'black and white that is scaled becomes greys',
    input: drawn('bits.png', '-size', '64x64', 'pattern:checkerboard', '-monochrome', '-type', 'bilevel'),
    to: 'png',
    options: { image_custom_width: 45 },
    read: only(tags('BitDepth', 'ColorType')),
    expected: { BitDepth: 8, ColorType: 0 },
  },
  {
    name: 'a grey picture with transparency over a colour has that colour',
    input: drawn('clear.png', '-size', '20x20', 'xc:none', '-colorspace', 'Gray'),
    to: 'jpg',
    options: { background: '#ff0000' },
    read: only(pixels([10, 10])),
    expected: [near(254, 0, 0)],
  },
  {
    name: 'an icon holds the usual sizes, square and transparent, the largest as PNG',
    input: drawn('logo.png', '-size', '300x200', 'xc:none', '-fill', 'red', '-draw', 'rectangle 100,50 200,150'),
    to: 'ico',
    read: only(async (path) => ({
      sizes: await identified('%m %wx%h')(path),
      corner: [...(await program('/usr/bin/convert', `${path}[3]`, '-crop', '1x1+0+0', '-depth', '8', 'RGBA:-'))].at(3),
      middle: (await pixels([8, 8])(path))[0],
    })),
    expected: {
      sizes: ['ICO 16x16', 'ICO 24x24', 'ICO 32x32', 'ICO 48x48', 'ICO 64x64', 'ICO 128x128', 'PNG 256x256'],
      corner: 0,
      middle: [255, 0, 0],
    },
    usual: true,
  },
  {
    name: 'the icon of a small picture is not enlarged beyond need',
    input: drawn('logo.png', '-size', '40x40', 'xc:red'),
    to: 'ico',
    read: only(identified('%wx%h')),
    expected: ['16x16', '24x24', '32x32', '48x48'],
  },
  {
    name: 'the sizes of an icon can be chosen',
    input: drawn('logo.png', '-size', '300x200', 'xc:red'),
    to: 'ico',
    options: { ico_sizes: '16,180' },
    read: only(identified('%wx%h')),
    expected: ['16x16', '180x180'],
  },
  {
    name: 'a PNG that is compressed to a size uses it, and fewer pixels rather than few colours',
    input: photo('large.png', '900x700'),
    operation: 'compress',
    to: 'png',
    options: { compress_image: 'by_size', image_compress_max_filesize: 0.06 },
    read: sizeAndLikeness('large.png', '900x700'),
    expected: { bytes: between(54_000, 60_000), likeness: between(26, 60) },
    warnings: warned('was scaled down from 900 × 700 to'),
  },
  ...(
    [
      ['jpg', 0.02],
      ['webp', 0.02],
      ['avif', 0.02],
      ['gif', 0.06],
    ] as const
  ).map(
    ([to, megabytes]): QualityCase => ({
      name: `a picture that is compressed to ${megabytes} MB of ${to} uses them and looks well`,
      input: photo('large.png', '500x400'),
      operation: 'compress',
      to,
      options: { compress_image: 'by_size', image_compress_max_filesize: megabytes },
      read: sizeAndLikeness('large.png', '500x400'),
      expected: { bytes: between(megabytes * 900_000, megabytes * 1_000_000), likeness: between(26, 60) },
      ...(to === 'gif' ? { warnings: expect.anything() } : {}),
    }),
  ),
  {
    name: 'a JPEG that cannot be made smaller loses its position all the same',
    input: camera(1),
    operation: 'compress',
    to: 'jpg',
    options: { image_compress_quality: 100 },
    read: only(tags('GPSLatitude', 'Artist', 'XResolution')),
    expected: { XResolution: 300 },
  },
  {
    name: 'the colours of a wide profile are converted to those of screens',
    input: async (folder) => {
      const path = await drawn('wide.tif', '-size', '20x20', 'xc:rgb(60%,40%,20%)', '-depth', '8')(folder);
      const icc = '/usr/share/color/icc/ghostscript/a98.icc';
      await program('/usr/bin/mogrify', '-profile', '/usr/share/color/icc/ghostscript/srgb.icc', '-profile', icc, path);
      return path;
    },
    to: 'png',
    read: only(pixels([10, 10])),
    expected: [near(153, 102, 51)],
  },
  ...eachTo(['jpg', 'webp', 'png', 'tiff', 'bmp'], (to) => ({
    name: `the colours of a wide profile of 16 bits are those of screens in ${to}`,
    input: async (folder) => {
      const path = await drawn('wide.png', '-size', '20x20', 'xc:rgb(60%,40%,20%)', '-depth', '16')(folder);
      const profiles = ['srgb.icc', 'rommrgb.icc'].flatMap((name) => [
        '-profile',
        `/usr/share/color/icc/ghostscript/${name}`,
      ]);
      await program('/usr/bin/mogrify', ...profiles, path);
      return path;
    },
    read: only(pixels([10, 10])),
    expected: [near(153, 102, 51)],
  })),
  {
    name: 'a PNG of a picture without a resolution says none that is wrong',
    input: threeFrames,
    to: 'png',
    options: { page: 1 },
    read: only(tags('PixelsPerUnitX')),
    expected: { PixelsPerUnitX: 2835 },
  },
  ...eachTo(['jpg', 'tiff', 'bmp'], (to) => ({
    name: `a BMP at 300 dpi becomes ${to} at 300 dpi`,
    input: drawn('dots.bmp', '-size', '40x30', 'xc:red', '-density', '300', '-units', 'PixelsPerInch'),
    read: only(async (path) =>
      program('/usr/bin/identify', '-units', 'PixelsPerInch', '-format', '%x', path).then(Number),
    ),
    expected: between(299.9, 300.1),
  })),
  {
    name: 'CMYK becomes the colours that print shows',
    input: drawn('inks.tif', '-size', '20x20', 'xc:white', '-colorspace', 'CMYK'),
    to: 'png',
    read: only(pixels([10, 10])),
    expected: [[between(250, 255), between(250, 255), between(250, 255)]],
  },
  {
    name: '16 bits stay 16 bits from png to tiff',
    input: drawn('deep.png', '-size', '20x20', 'gradient:red-blue', '-depth', '16'),
    to: 'tiff',
    read: only(tags('BitsPerSample')),
    expected: { BitsPerSample: '16 16 16' },
  },
];

/** Makes a JPEG of four patches of colour, which says which way is up. */
function patches(orientation: number) {
  return async (folder: string): Promise<string> => {
    const colours = ['-fill', 'red', '-draw', 'rectangle 0,0 31,23', '-fill', 'blue', '-draw', 'rectangle 32,24 63,47'];
    const how = ['-quality', '60', '-sampling-factor', '1x1'];
    const path = await drawn('patches.jpg', '-size', '64x48', 'gradient:green-yellow', ...colours, ...how)(folder);
    await program('exiftool', '-q', '-overwrite_original', `-Orientation#=${orientation}`, path);
    return path;
  };
}

async function photoAt300(folder: string): Promise<string> {
  return photo('photo.jpg', '300x200', '-density', '300', '-units', 'PixelsPerInch', '-quality', '98')(folder);
}

testQuality(cases);
