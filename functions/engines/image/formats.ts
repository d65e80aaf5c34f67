import type { MagickFormat } from '@imagemagick/magick-wasm';

/** Animations have frames, documents have pages, icons have sizes; layered files show their merged picture. */
export type Several = 'frames' | 'pages' | 'sizes' | 'layers';

/** What each opener of picture.ts needs to know about a format. `several` is what several images in a file mean. */
interface Readings {
  apng: object;
  decoder: { format: 'blp' | 'fli' | 'icns' | 'im' | 'msp'; several?: Several };
  exr: object;
  ghostscript: object;
  hdr: object;
  magick: { format: MagickFormat; several?: Several; planes?: true };
  sharp: { several?: Several };
  svg: object;
  tiff: { several?: Several };
}

/** Which opener decodes a format. */
export type Reading<By extends keyof Readings = keyof Readings> = {
  [Name in By]: { by: Name } & Readings[Name];
}[By];

/** Which library encodes a format, and which properties of an image it can store. */
export interface Writing {
  by: 'apng' | 'exr' | 'hdr' | 'ico' | 'magick' | 'pdf' | 'sharp';
  format?: MagickFormat;
  /** Greys only, black and white only, or a number of colours. Defaults to full colour. */
  colours?: 'grey' | 'bilevel' | number;
  alpha?: boolean;
  several?: 'frames' | 'pages';
  /** Larger images are scaled down to this many pixels per side. */
  maxSide?: number;
  /** Supports the quality option. */
  quality?: boolean;
  lossless?: boolean;
  progressive?: boolean;
  /** Holds EXIF, XMP and colour profiles. */
  metadata?: boolean;
  density?: boolean;
  /** Stores grey images in one channel. */
  grey?: boolean;
  cmyk?: boolean;
}

/** One image format: the data that the catalogue, the decoders and the encoders read. */
export interface ImageFormat {
  ext: string;
  mediaType: string;
  /** Other extensions of the same format. */
  aliases?: string[];
  /** Names of the format in content detection, if they differ. */
  contents?: string[];
  /** Comes from cameras and encoders that discard detail, so that storing it as JPEG in a PDF causes no visible loss. */
  lossy?: true;
  /** Raw data of a camera's sensor, which LibRaw develops. */
  camera?: true;
  read?: Reading;
  write?: Writing;
}

const magick = (format: MagickFormat, several?: Several): Reading =>
  several ? { by: 'magick', format, several } : { by: 'magick', format };

const writes = (format: MagickFormat, more: Omit<Writing, 'by' | 'format'> = {}): Writing => ({
  by: 'magick',
  format,
  ...more,
});

/** Read and written by ImageMagick under the same name. */
const both = (format: MagickFormat, more: Omit<Writing, 'by' | 'format'> = {}, several?: Several) => ({
  read: magick(format, several),
  write: writes(format, more),
});

const camera = (ext: string, mediaType: string, format: MagickFormat, aliases: string[] = []): ImageFormat => ({
  ext,
  mediaType,
  aliases,
  lossy: true,
  camera: true,
  read: magick(format),
});

export const imageFormats: ImageFormat[] = [
  {
    ext: 'jpg',
    mediaType: 'image/jpeg',
    aliases: ['jpeg', 'jpe', 'jfif', 'jif', 'pjpeg', 'jps'],
    lossy: true,
    read: { by: 'sharp' },
    write: { by: 'sharp', quality: true, progressive: true, metadata: true, density: true, grey: true, cmyk: true },
  },
  {
    ext: 'png',
    mediaType: 'image/png',
    read: { by: 'sharp' },
    write: { by: 'sharp', alpha: true, progressive: true, metadata: true, density: true, grey: true },
  },
  { ext: 'apng', mediaType: 'image/apng', read: { by: 'apng' }, write: { by: 'apng', alpha: true, several: 'frames' } },
  {
    ext: 'webp',
    mediaType: 'image/webp',
    lossy: true,
    read: { by: 'sharp', several: 'frames' },
    write: {
      by: 'sharp',
      alpha: true,
      several: 'frames',
      quality: true,
      lossless: true,
      metadata: true,
      density: true,
      maxSide: 16_383,
    },
  },
  {
    ext: 'gif',
    mediaType: 'image/gif',
    read: { by: 'sharp', several: 'frames' },
    write: { by: 'sharp', alpha: true, several: 'frames', colours: 256 },
  },
  {
    ext: 'avif',
    mediaType: 'image/avif',
    lossy: true,
    read: { by: 'sharp' },
    write: { by: 'sharp', alpha: true, quality: true, lossless: true, metadata: true, density: true, maxSide: 16_384 },
  },
  {
    ext: 'tiff',
    mediaType: 'image/tiff',
    aliases: ['tif'],
    read: { by: 'tiff', several: 'pages' },
    write: { by: 'sharp', alpha: true, several: 'pages', metadata: true, density: true, grey: true, cmyk: true },
  },
  { ext: 'svg', mediaType: 'image/svg+xml', read: { by: 'svg' } },
  { ext: 'svgz', mediaType: 'image/svg+xml', contents: ['gz'], read: { by: 'svg' } },
  { ext: 'heic', mediaType: 'image/heic', aliases: ['heif', 'hif'], lossy: true, read: magick('HEIC') },
  {
    ext: 'jxl',
    mediaType: 'image/jxl',
    lossy: true,
    ...both('JXL', { alpha: true, quality: true, lossless: true }, 'frames'),
  },
  {
    ext: 'jp2',
    mediaType: 'image/jp2',
    aliases: ['jpg2', 'jpm', 'jpf', 'jpx'],
    contents: ['jpx', 'jpm'],
    lossy: true,
    ...both('JP2', { alpha: true, quality: true, lossless: true }),
  },
  {
    ext: 'j2k',
    mediaType: 'image/j2c',
    aliases: ['j2c', 'jpc'],
    lossy: true,
    ...both('J2K', { alpha: true, quality: true, lossless: true }),
  },
  {
    ext: 'bmp',
    mediaType: 'image/bmp',
    aliases: ['dib'],
    read: magick('BMP'),
    write: writes('BMP3', { density: true }),
  },
  {
    ext: 'ico',
    mediaType: 'image/vnd.microsoft.icon',
    aliases: ['icon'],
    read: magick('ICO', 'sizes'),
    write: { by: 'ico', alpha: true },
  },
  { ext: 'cur', mediaType: 'image/vnd.microsoft.cursor', ...both('CUR', { alpha: true, maxSide: 256 }, 'sizes') },
  { ext: 'psd', mediaType: 'image/vnd.adobe.photoshop', ...both('PSD', { alpha: true, density: true }, 'layers') },
  { ext: 'psb', mediaType: 'image/vnd.adobe.photoshop', ...both('PSB', { alpha: true, density: true }, 'layers') },
  { ext: 'xcf', mediaType: 'image/x-xcf', read: magick('XCF', 'layers') },
  { ext: 'tga', mediaType: 'image/x-tga', aliases: ['icb', 'vda', 'vst', 'targa'], ...both('TGA', { alpha: true }) },
  { ext: 'pcx', mediaType: 'image/vnd.zbrush.pcx', ...both('PCX', { density: true }) },
  { ext: 'dcx', mediaType: 'image/x-dcx', ...both('DCX', { several: 'pages', density: true }, 'pages') },
  { ext: 'ppm', mediaType: 'image/x-portable-pixmap', ...both('PPM') },
  { ext: 'pgm', mediaType: 'image/x-portable-graymap', ...both('PGM', { colours: 'grey' }) },
  { ext: 'pbm', mediaType: 'image/x-portable-bitmap', ...both('PBM', { colours: 'bilevel' }) },
  { ext: 'pnm', mediaType: 'image/x-portable-anymap', contents: ['ppm', 'pgm', 'pbm'], ...both('PNM') },
  { ext: 'pam', mediaType: 'image/x-portable-arbitrarymap', ...both('PAM', { alpha: true }) },
  { ext: 'pfm', mediaType: 'image/x-portable-floatmap', ...both('PFM') },
  { ext: 'dds', mediaType: 'image/vnd-ms.dds', ...both('DDS', { alpha: true }) },
  { ext: 'exr', mediaType: 'image/x-exr', read: { by: 'exr' }, write: { by: 'exr', alpha: true } },
  { ext: 'hdr', mediaType: 'image/vnd.radiance', aliases: ['rgbe'], read: { by: 'hdr' }, write: { by: 'hdr' } },
  {
    ext: 'eps',
    mediaType: 'application/postscript',
    aliases: ['epsf'],
    read: { by: 'ghostscript' },
    write: writes('EPS3'),
  },
  {
    ext: 'epsi',
    mediaType: 'application/postscript',
    aliases: ['epi'],
    contents: ['eps'],
    read: { by: 'ghostscript' },
    write: writes('EPSI'),
  },
  {
    ext: 'ept',
    mediaType: 'application/postscript',
    contents: ['eps'],
    read: { by: 'ghostscript' },
    write: writes('EPT3'),
  },
  { ext: 'ps', mediaType: 'application/postscript', read: { by: 'ghostscript' } },
  { ext: 'pdf', mediaType: 'application/pdf', write: { by: 'pdf', alpha: true, several: 'pages' } },
  { ext: 'aai', mediaType: 'image/x-aai', ...both('AAI', { alpha: true }) },
  { ext: 'avs', mediaType: 'image/x-avs', ...both('AVS', { alpha: true }) },
  { ext: 'blp', mediaType: 'image/x-blp', read: { by: 'decoder', format: 'blp' } },
  { ext: 'cin', mediaType: 'image/cineon', ...both('CIN') },
  { ext: 'dcm', mediaType: 'application/dicom', aliases: ['dicom'], read: magick('DCM', 'frames') },
  { ext: 'dpx', mediaType: 'image/dpx', ...both('DPX') },
  { ext: 'ff', mediaType: 'image/x-farbfeld', aliases: ['farbfeld'], ...both('FF', { alpha: true }) },
  {
    ext: 'fits',
    mediaType: 'image/fits',
    aliases: ['fit', 'fts'],
    read: { by: 'magick', format: 'FITS', planes: true },
    write: writes('FITS', { colours: 'grey' }),
  },
  { ext: 'fli', mediaType: 'video/x-fli', aliases: ['flc'], read: { by: 'decoder', format: 'fli', several: 'frames' } },
  { ext: 'icns', mediaType: 'image/icns', read: { by: 'decoder', format: 'icns', several: 'sizes' } },
  { ext: 'im', mediaType: 'image/x-im', read: { by: 'decoder', format: 'im', several: 'pages' } },
  { ext: 'ipl', mediaType: 'image/x-ipl', ...both('IPL') },
  { ext: 'jng', mediaType: 'image/x-jng', lossy: true, ...both('JNG', { alpha: true, quality: true }) },
  { ext: 'mat', mediaType: 'application/x-matlab-data', ...both('MAT') },
  {
    ext: 'miff',
    mediaType: 'image/x-miff',
    ...both('MIFF', { alpha: true, several: 'frames', density: true }, 'frames'),
  },
  { ext: 'mng', mediaType: 'video/x-mng', ...both('MNG', { alpha: true, several: 'frames' }, 'frames') },
  { ext: 'mpo', mediaType: 'image/mpo', contents: ['jpg'], lossy: true, read: { by: 'sharp' } },
  { ext: 'msp', mediaType: 'image/x-msp', read: { by: 'decoder', format: 'msp' } },
  { ext: 'mtv', mediaType: 'image/x-mtv', ...both('MTV') },
  { ext: 'palm', mediaType: 'image/x-palm', read: magick('PALM') },
  { ext: 'pict', mediaType: 'image/x-pict', aliases: ['pct'], ...both('PICT') },
  { ext: 'pgx', mediaType: 'image/x-pgx', ...both('PGX', { colours: 'grey' }) },
  { ext: 'pix', mediaType: 'image/x-alias-pix', read: magick('PIX') },
  {
    ext: 'ptif',
    mediaType: 'image/tiff',
    contents: ['tif'],
    read: { by: 'tiff' },
    write: writes('PTIF', { alpha: true }),
  },
  { ext: 'qoi', mediaType: 'image/qoi', ...both('QOI', { alpha: true }) },
  { ext: 'ras', mediaType: 'image/x-cmu-raster', aliases: ['sun'], ...both('RAS', { alpha: true }) },
  { ext: 'rgf', mediaType: 'image/x-rgf', write: writes('RGF', { colours: 'bilevel', maxSide: 255 }) },
  { ext: 'rle', mediaType: 'image/x-utah-rle', read: magick('RLE') },
  { ext: 'sgi', mediaType: 'image/sgi', aliases: ['bw', 'rgb', 'rgba'], ...both('SGI', { alpha: true }) },
  { ext: 'sixel', mediaType: 'image/x-sixel', aliases: ['six'], write: writes('SIXEL', { colours: 256 }) },
  { ext: 'vicar', mediaType: 'image/x-vicar', aliases: ['vic'], ...both('VICAR', { colours: 'grey' }) },
  { ext: 'viff', mediaType: 'image/x-viff', aliases: ['xv'], ...both('VIFF', { alpha: true }) },
  { ext: 'vips', mediaType: 'image/x-vips', ...both('VIPS', { alpha: true }) },
  { ext: 'wbmp', mediaType: 'image/vnd.wap.wbmp', ...both('WBMP', { colours: 'bilevel' }) },
  { ext: 'wpg', mediaType: 'image/x-wpg', ...both('WPG', { colours: 256 }) },
  { ext: 'xbm', mediaType: 'image/x-xbitmap', ...both('XBM', { colours: 'bilevel' }) },
  { ext: 'xpm', mediaType: 'image/x-xpixmap', ...both('XPM', { alpha: true, colours: 256 }) },
  camera('dng', 'image/x-adobe-dng', 'DNG'),
  camera('cr2', 'image/x-canon-cr2', 'CR2'),
  camera('cr3', 'image/x-canon-cr3', 'CR3'),
  camera('nef', 'image/x-nikon-nef', 'NEF', ['nrw']),
  camera('arw', 'image/x-sony-arw', 'ARW'),
  camera('pef', 'image/x-pentax-pef', 'PEF'),
  camera('srw', 'image/x-samsung-srw', 'SRW'),
  camera('orf', 'image/x-olympus-orf', 'ORF'),
  camera('rw2', 'image/x-panasonic-rw2', 'RW2'),
  camera('raf', 'image/x-fujifilm-raf', 'RAF'),
];

const byExt = new Map(imageFormats.map((format) => [format.ext, format]));

/** Returns a format by its canonical extension. */
export function imageFormat(ext: string): ImageFormat {
  const format = byExt.get(ext);
  if (!format) throw new Error(`The image engine does not know the format ${ext}.`);
  return format;
}

/** Returns whether a format holds a drawing, which has no size in pixels until it is rendered. */
export function isDrawing(ext: string): boolean {
  const by = imageFormat(ext).read?.by;
  return by === 'svg' || by === 'ghostscript';
}

/** Lists the extensions of formats with their aliases. */
export function spellings(formats: ImageFormat[]): string[] {
  return formats.flatMap(({ ext, aliases = [] }) => [ext, ...aliases]);
}
