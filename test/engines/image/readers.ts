import { readFile, rm, writeFile } from 'node:fs/promises';
import sharp from 'sharp';
import { program, programTo } from './programs.ts';

type Reader = (path: string, png: string) => Promise<unknown>;

const graphicsMagick =
  (format: string): Reader =>
  (path, png) =>
    program('gm', 'convert', `${format}:${path}[0]`, png);
const imageMagick =
  (format: string): Reader =>
  (path, png) =>
    program('/usr/bin/convert', `${format}:${path}[0]`, `png:${png}`);
const ffmpeg: Reader = (path, png) =>
  program('ffmpeg', '-v', 'error', '-y', '-i', path, '-frames:v', '1', '-update', '1', png);
const pillow: Reader = (path, png) =>
  program(
    '/usr/bin/python3',
    '-c',
    'import sys; from PIL import Image; Image.open(sys.argv[1]).convert("RGBA").save(sys.argv[2])',
    path,
    png,
  );
const netpbm =
  (name: string, ...args: string[]): Reader =>
  async (path, png) => {
    await programTo(`${png}.pnm`, name, ...args, path);
    await programTo(png, 'pamtopng', `${png}.pnm`);
  };
const postScript: Reader = (path, png) =>
  program(
    'gs',
    '-dSAFER',
    '-dBATCH',
    '-dNOPAUSE',
    '-dQUIET',
    '-dEPSCrop',
    '-sDEVICE=png16m',
    '-r72',
    '-dLastPage=1',
    `-sOutputFile=${png}`,
    path,
  );

/** Reads each output format by another program than the one that wrote it. */
const readers: Record<string, Reader> = {
  aai: imageMagick('aai'),
  apng: ffmpeg,
  avif: graphicsMagick('avif'),
  avs: graphicsMagick('avs'),
  bmp: pillow,
  cin: imageMagick('cin'),
  cur: pillow,
  dcx: pillow,
  dds: ffmpeg,
  dpx: ffmpeg,
  eps: postScript,
  epsi: postScript,
  ept: postScript,
  exr: (path, png) =>
    program(
      'ffmpeg',
      '-v',
      'error',
      '-y',
      '-apply_trc',
      'iec61966_2_1',
      '-i',
      path,
      '-frames:v',
      '1',
      '-update',
      '1',
      png,
    ),
  ff: readFarbfeld,
  fits: pillow,
  gif: pillow,
  hdr: (path, png) =>
    program('/usr/bin/convert', `hdr:${path}`, '-set', 'colorspace', 'RGB', '-colorspace', 'sRGB', `png:${png}`),
  ico: pillow,
  ipl: imageMagick('ipl'),
  j2k: (path, png) => program('opj_decompress', '-i', path, '-o', png),
  jng: graphicsMagick('jng'),
  jp2: (path, png) => program('opj_decompress', '-i', path, '-o', png),
  jpg: pillow,
  jxl: (path, png) => program('djxl', path, png),
  mat: graphicsMagick('mat'),
  miff: graphicsMagick('miff'),
  mng: graphicsMagick('mng'),
  mtv: graphicsMagick('mtv'),
  pam: ffmpeg,
  pbm: ffmpeg,
  pcx: pillow,
  // Pages differ in size with the resolution of their image; this many pixels show them all.
  pdf: async (path, png) =>
    program('pdftoppm', '-png', '-scale-to', '640', '-singlefile', path, png.replace(/\.png$/, '')),
  pfm: netpbm('pfmtopam'),
  pgm: ffmpeg,
  pgx: ffmpeg,
  pict: graphicsMagick('pict'),
  png: pillow,
  pnm: netpbm('pamtopnm'),
  ppm: ffmpeg,
  psb: imageMagick('psb'),
  psd: pillow,
  ptif: graphicsMagick('tiff'),
  qoi: ffmpeg,
  ras: ffmpeg,
  rgf: imageMagick('rgf'),
  sgi: ffmpeg,
  sixel: (path, png) => program('sixel2png', '-i', path, '-o', png),
  tga: ffmpeg,
  tiff: pillow,
  vicar: graphicsMagick('vicar'),
  viff: graphicsMagick('viff'),
  vips: imageMagick('vips'),
  wbmp: netpbm('wbmptopbm'),
  webp: (path, png) => program('dwebp', '-quiet', path, '-o', png),
  wpg: graphicsMagick('wpg'),
  xbm: netpbm('xbmtopbm'),
  xpm: graphicsMagick('xpm'),
};

let reads = 0;

/** Reads the first picture of a file as PNG. */
export async function readBack(path: string, format: string): Promise<Buffer> {
  const reader = readers[format];
  if (!reader) throw new Error(`There is no reader of ${format} other than the engine.`);
  const png = `${path}.${++reads}.png`;
  try {
    await reader(path, png);
    return await readFile(png);
  } finally {
    await rm(png, { force: true });
    await rm(`${png}.pnm`, { force: true });
  }
}

async function readFarbfeld(path: string, png: string): Promise<void> {
  const file = await readFile(path);
  if (file.toString('latin1', 0, 8) !== 'farbfeld') throw new Error('The file has no farbfeld signature.');
  const [width, height] = [file.readUInt32BE(8), file.readUInt32BE(12)];
  const data = Buffer.alloc(width * height * 4);
  for (const at of data.keys()) data[at] = file.readUInt8(16 + at * 2);
  await writeFile(
    png,
    await sharp(data, { raw: { width, height, channels: 4 } })
      .png()
      .toBuffer(),
  );
}
