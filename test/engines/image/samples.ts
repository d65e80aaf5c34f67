import { existsSync } from 'node:fs';
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import sharp from 'sharp';
import { writeMagick } from '../../../functions/engines/image/codecs/magick.ts';
import { program, programTo } from './programs.ts';
import { makeCr2, makeCr3 } from './raw/canon.ts';
import { makeOrf, makeRaf, makeRw2 } from './raw/own-containers.ts';
import { readScene, type Scene } from './raw/sensor.ts';
import { makeArw, makeDng, makeNef, makePef, makeSrw } from './raw/tiff-cameras.ts';
import { animatorFile, toIndexed } from './writers/fli.ts';
import { icnsFile } from './writers/icns.ts';

const width = 160;
const height = 120;

/** A picture that is no mirror image of itself, with colours, a gradient, and areas of black and white. */
export const drawing = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">
  <defs><linearGradient id="g"><stop offset="0" stop-color="#204080"/><stop offset="1" stop-color="#f0e0a0"/></linearGradient></defs>
  <rect width="${width}" height="${height}" fill="url(#g)"/>
  <circle cx="40" cy="40" r="28" fill="#e03020"/>
  <rect x="90" y="60" width="50" height="45" fill="#20a040"/>
  <path d="M100 10 L150 10 L125 50 Z" fill="#ffffff"/>
  <rect x="10" y="85" width="60" height="20" fill="#101010"/>
</svg>`;

/** What each sample is a picture of. */
export async function original(): Promise<Buffer> {
  return sharp(Buffer.from(drawing)).flatten().png().toBuffer();
}

/** Each source's file, by the name that its path has among the sources. */
const sourceFiles = {
  png: 'original.png',
  ppm: 'original.ppm',
  pgm: 'original.pgm',
  pbm: 'original.pbm',
  /** 200 colours. */
  few: 'original-few.ppm',
  /** Written last, so that it says that all others are there. */
  svg: 'original.svg',
};

type Sources = Record<keyof typeof sourceFiles | 'folder', string>;

let sourceContents: Promise<[path: string, content: Buffer][]> | undefined;

async function makeSources(made: Sources): Promise<[path: string, content: Buffer][]> {
  await writeFile(made.png, await original());
  await programTo(made.ppm, 'pngtopam', made.png);
  await programTo(made.pgm, 'ppmtopgm', made.ppm);
  await programTo(made.few, 'pnmquant', '200', made.ppm);
  await program('gm', 'convert', made.png, '-monochrome', made.pbm);
  await writeFile(made.svg, drawing);
  return Promise.all(Object.values(sourceFiles).map(async (name) => [name, await readFile(join(made.folder, name))]));
}

/** Writes the sources into a folder; programs make them once, since each of them takes longer than most conversions. */
async function sources(folder: string): Promise<Sources> {
  const { png, ppm, pgm, pbm, few, svg } = sourceFiles;
  const at = (name: string) => join(folder, name);
  const made = { folder, png: at(png), ppm: at(ppm), pgm: at(pgm), pbm: at(pbm), few: at(few), svg: at(svg) };
  if (existsSync(made.svg)) return made;
  sourceContents ??= makeSources(made);
  for (const [name, content] of await sourceContents) await writeFile(at(name), content);
  return made;
}

const samples = new Map<string, Buffer>();

type Maker = (path: string, from: Sources) => Promise<unknown>;

const withGraphicsMagick =
  (format: string): Maker =>
  (path, { png }) =>
    program('gm', 'convert', png, `${format}:${path}`);
const withImageMagick =
  (format: string): Maker =>
  (path, { png }) =>
    program('/usr/bin/convert', png, `${format}:${path}`);
const withFfmpeg: Maker = (path, { png }) =>
  program('ffmpeg', '-v', 'error', '-y', '-i', png, '-frames:v', '1', '-update', '1', path);
/** Where no other program at hand writes a format; another one still reads what comes of it. */
const withOwnWriter =
  (format: 'WPG'): Maker =>
  async (path, { png }) => {
    const { data, info } = await sharp(png).raw().toBuffer({ resolveWithObject: true });
    const frame = { data, width: info.width, height: info.height, channels: 3 } as const;
    return writeFile(path, await writeMagick([frame], { format, colours: 256 }));
  };

/** Pillow writes some formats that hardly any other program does. */
const withPillow =
  (source: 'few' | 'pbm' | 'png', mode: string, format: string): Maker =>
  (path, from) =>
    program(
      '/usr/bin/python3',
      '-c',
      'import sys; from PIL import Image; im = Image.open(sys.argv[1]); mode = sys.argv[2]; (im.quantize(256) if mode == "P" else im.convert(mode)).save(sys.argv[3], format=sys.argv[4])',
      from[source],
      mode,
      path,
      format,
    );

/** No program writes what cameras write. */
const withCamera =
  (camera: (scene: Scene) => Buffer | Promise<Buffer>): Maker =>
  async (path, { ppm }) =>
    writeFile(path, await camera(readScene(await readFile(ppm))));

/** Makes a sample of each input format, by another program than the engine's wherever one writes it. */
const makers: Record<string, Maker> = {
  aai: withImageMagick('aai'),
  arw: withCamera(makeArw),
  apng: (path, { png }) =>
    program(
      'ffmpeg',
      '-v',
      'error',
      '-y',
      '-loop',
      '1',
      '-r',
      '5',
      '-i',
      png,
      '-frames:v',
      '3',
      '-plays',
      '0',
      '-f',
      'apng',
      path,
    ),
  avif: (path, { png }) => program('heif-enc', '-A', '-q', '90', png, '-o', path),
  avs: (path, { ppm }) => programTo(path, 'pamtoavs', ppm),
  blp: withPillow('few', 'P', 'BLP'),
  bmp: (path, { ppm }) => programTo(path, 'ppmtobmp', ppm),
  cin: withImageMagick('cin'),
  cr2: withCamera(makeCr2),
  cr3: withCamera(makeCr3),
  cur: makeCursor,
  dcm: async (path, { folder, ppm }) => {
    const jpeg = join(folder, 'dicom.jpg');
    await programTo(jpeg, 'pnmtojpeg', '-quality=95', ppm);
    return program('img2dcm', jpeg, path);
  },
  dcx: withGraphicsMagick('dcx'),
  dds: withImageMagick('dds'),
  dng: withCamera(makeDng),
  dpx: withFfmpeg,
  eps: (path, { ppm }) => programTo(path, 'pnmtops', '-noturn', '-dpi=72', '-imagewidth=2.2222', ppm),
  epsi: withImageMagick('epsi'),
  ept: (path, { ppm }) => makeDosEps(path, ppm),
  exr: makeExr,
  ff: makeFarbfeld,
  fits: withGraphicsMagick('fits'),
  fli: makeAnimator,
  gif: (path, { few }) => programTo(path, 'pamtogif', few),
  hdr: makeRadiance,
  heic: (path, { png }) => program('heif-enc', '-q', '90', png, '-o', path),
  icns: makeMacIcon,
  ico: (path, { ppm }) => programTo(path, 'pamtowinicon', ppm),
  im: withPillow('png', 'RGB', 'IM'),
  ipl: withImageMagick('ipl'),
  j2k: (path, { ppm }) => program('opj_compress', '-i', ppm, '-o', path),
  jng: withGraphicsMagick('jng'),
  jp2: (path, { ppm }) => program('opj_compress', '-i', ppm, '-o', path),
  jpg: (path, { ppm }) => programTo(path, 'pnmtojpeg', '-quality=95', ppm),
  jxl: (path, { png }) => program('cjxl', png, path),
  mat: withGraphicsMagick('mat'),
  miff: withGraphicsMagick('miff'),
  mng: withGraphicsMagick('mng'),
  mpo: (path, { ppm }) => programTo(path, 'pnmtojpeg', '-quality=95', ppm),
  msp: withPillow('pbm', '1', 'MSP'),
  mtv: withGraphicsMagick('mtv'),
  nef: withCamera(makeNef),
  orf: withCamera(makeOrf),
  palm: withImageMagick('palm'),
  pam: withFfmpeg,
  pbm: (path, { pbm }) => copyFile(pbm, path),
  pcx: (path, { ppm }) => programTo(path, 'ppmtopcx', ppm),
  pdf: (path, { svg }) => program('rsvg-convert', '--format', 'pdf', '--output', path, svg),
  pef: withCamera(makePef),
  pfm: (path, { ppm }) => programTo(path, 'pamtopfm', ppm),
  pgm: (path, { pgm }) => copyFile(pgm, path),
  // From the greys of the other samples: programs weigh the colours of a grey differently.
  pgx: (path, { pgm }) => program('/usr/bin/convert', pgm, `pgx:${path}`),
  pict: (path, { few }) => programTo(path, 'ppmtopict', few),
  pix: withFfmpeg,
  png: (path, { ppm }) => programTo(path, 'pamtopng', ppm),
  pnm: (path, { ppm }) => copyFile(ppm, path),
  ppm: (path, { ppm }) => copyFile(ppm, path),
  ps: (path, { svg }) => program('rsvg-convert', '--format', 'ps', '--output', path, svg),
  psb: withImageMagick('psb'),
  psd: withImageMagick('psd'),
  ptif: withGraphicsMagick('ptif'),
  qoi: (path, { ppm }) => programTo(path, 'pamtoqoi', ppm),
  raf: withCamera(makeRaf),
  ras: (path, { ppm }) => programTo(path, 'pnmtorast', ppm),
  rle: (path, { ppm }) => programTo(path, 'pnmtorle', ppm),
  rw2: withCamera(makeRw2),
  sgi: (path, { ppm }) => programTo(path, 'pnmtosgi', ppm),
  srw: withCamera(makeSrw),
  svg: (path, { svg }) => copyFile(svg, path),
  svgz: (path) => writeFile(path, gzipSync(drawing)),
  tga: (path, { ppm }) => programTo(path, 'pamtotga', ppm),
  tiff: (path, { ppm }) => programTo(path, 'pamtotiff', '-truecolor', '-lzw', ppm),
  vicar: withGraphicsMagick('vicar'),
  viff: withGraphicsMagick('viff'),
  vips: withImageMagick('vips'),
  wbmp: (path, { pbm }) => programTo(path, 'pbmtowbmp', pbm),
  webp: (path, { png }) => program('cwebp', '-quiet', '-q', '90', png, '-o', path),
  wpg: withOwnWriter('WPG'),
  xbm: (path, { pbm }) => programTo(path, 'pbmtoxbm', pbm),
  xcf: (path) => copyFile('/usr/libexec/installed-tests/SDL2_image/sample.xcf', path),
  xpm: (path, { few }) => programTo(path, 'ppmtoxpm', few),
};

/** Makes a sample of a format and returns its path. */
export async function makeSample(format: string, folder: string): Promise<string> {
  const maker = makers[format];
  if (!maker) throw new Error(`There is no sample of ${format}.`);
  const path = join(folder, `sample.${format}`);
  const from = await sources(folder);
  const known = samples.get(format);
  if (known) {
    await writeFile(path, known);
  } else {
    await maker(path, from);
    samples.set(format, await readFile(path));
  }
  return path;
}

/** An EPS with the preview header of DOS, which holds the position and length of the PostScript, but without a preview. */
async function makeDosEps(path: string, ppm: string): Promise<void> {
  const eps = await program('pnmtops', '-noturn', '-dpi=72', '-imagewidth=2.2222', ppm);
  const header = Buffer.alloc(30);
  header.writeUInt32BE(0xc5d0d3c6, 0);
  header.writeUInt32LE(30, 4);
  header.writeUInt32LE(eps.length, 8);
  header.writeUInt16LE(0xffff, 28);
  await writeFile(path, Buffer.concat([header, eps]));
}

/** EXR holds linear light; ffmpeg takes it in planes of green, blue and red. */
async function makeExr(path: string, { png, folder }: Sources): Promise<unknown> {
  const pixels = await linearPixels(png);
  const planes = [1, 2, 0].map((channel) => pixels.filter((_, at) => at % 3 === channel));
  const raw = join(folder, 'linear.raw');
  await writeFile(raw, Buffer.concat(planes.map((plane) => Buffer.from(plane.buffer))));
  const input = ['-f', 'rawvideo', '-pix_fmt', 'gbrpf32le', '-s', `${width}x${height}`, '-i', raw];
  return program(
    'ffmpeg',
    '-v',
    'error',
    '-y',
    ...input,
    '-frames:v',
    '1',
    '-update',
    '1',
    '-compression',
    'zip16',
    path,
  );
}

async function makeAnimator(path: string, { few }: Sources): Promise<void> {
  const { data, info } = await sharp(await program('pamtopng', few))
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  await writeFile(path, animatorFile('flc', [toIndexed(data, info.width, info.height)], 100));
}

/** The picture of the icon sample: icons are square. */
export async function iconPicture(): Promise<Buffer> {
  return sharp(await original())
    .resize({ width: 128, height: 128, fit: 'fill' })
    .png()
    .toBuffer();
}

async function makeMacIcon(path: string): Promise<void> {
  await writeFile(path, icnsFile([['ic07', await iconPicture()]]));
}

async function makeCursor(path: string, { ppm }: Sources): Promise<void> {
  const icon = await program('pamtowinicon', ppm);
  icon.writeUInt16LE(2, 2);
  icon.writeUInt32LE(0, 10);
  await writeFile(path, icon);
}

async function linearPixels(png: string): Promise<Float32Array> {
  const data = await sharp(png).removeAlpha().raw().toBuffer();
  return Float32Array.from(data, (value) =>
    value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4,
  );
}

/** Flat, uncompressed pixels, as the format's first description has them. */
async function makeRadiance(path: string, { png }: Sources): Promise<void> {
  const pixels = await linearPixels(png);
  const body = Buffer.alloc(width * height * 4);
  for (let at = 0; at < width * height; at++) {
    const colour = [...pixels.subarray(at * 3, at * 3 + 3)];
    const exponent = Math.ceil(Math.log2(Math.max(...colour, 1e-9) * 1.0001));
    for (const [channel, value] of colour.entries())
      body[at * 4 + channel] = Math.min(255, (value / 2 ** exponent) * 256);
    body[at * 4 + 3] = exponent + 128;
  }
  await writeFile(
    path,
    Buffer.concat([Buffer.from(`#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y ${height} +X ${width}\n`), body]),
  );
}

async function makeFarbfeld(path: string, { png }: Sources): Promise<void> {
  const pixels = await sharp(png).ensureAlpha().raw().toBuffer();
  const head = Buffer.from('farbfeld00000000');
  head.writeUInt32BE(width, 8);
  head.writeUInt32BE(height, 12);
  const body = Buffer.alloc(pixels.length * 2);
  for (const [at, value] of pixels.entries()) body.writeUInt16BE(value * 257, at * 2);
  await writeFile(path, Buffer.concat([head, body]));
}
