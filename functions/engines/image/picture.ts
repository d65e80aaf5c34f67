import { readFile } from 'node:fs/promises';
import sharp, { type Metadata, type Sharp, type SharpOptions } from 'sharp';
import type { OptionValues } from '../../../shared/catalogue/options.ts';
import { EngineError, type InputFile } from '../runtime/engine.ts';
import { findProgram } from '../runtime/find-program.ts';
import { decodeApng, parseApng } from './codecs/apng.ts';
import { readExr } from './codecs/exr.ts';
import { type LinearPicture, toScreen } from './codecs/linear-light.ts';
import { type Frame, type MagickReading, pingMagick, readMagick, writeMagick } from './codecs/magick.ts';
import { readRadiance } from './codecs/radiance.ts';
import { readBlp } from './decoders/blp.ts';
import { readBmp } from './decoders/bmp.ts';
import { correctTones } from './decoders/camera-tones.ts';
import { isComplete } from './decoders/completeness.ts';
import { readDds } from './decoders/dds.ts';
import type { Decoded, Decoder, SizeCheck } from './decoders/decoding.ts';
import { readFli } from './decoders/fli.ts';
import { readIcns } from './decoders/icns.ts';
import { readIm } from './decoders/im.ts';
import { type LabCoding, labToScreen } from './decoders/lab.ts';
import { readMsp } from './decoders/msp.ts';
import { invertMonochrome } from './decoders/pcx.ts';
import { readGreyAlphaTga } from './decoders/tga.ts';
import { routeTiff } from './decoders/tiff.ts';
import { explain, tooManyPixels } from './failures.ts';
import { imageFormat, type Reading, type Several } from './formats.ts';
import { maxFrames, maxMagickBytes, maxPixels, maxPixelsAtOnce, maxSide, maxTotalPixels } from './limits.ts';
import { pdfPages, renderPdfPage } from './vector/pdf-pages.ts';
import { type ProgramContext, postScriptToPdf, svgToPdf } from './vector/postscript.ts';
import { type Drawing, naturalDensity, prepareSvg } from './vector/svg.ts';

/** An opened source: the properties in its header, and its frames ready for libvips. */
export interface Picture {
  /** Of the first frame, as displayed. */
  width: number;
  height: number;
  frames: number;
  /** Frames or pages in the file; if the output holds one, only the first frame of an animation is opened. */
  total: number;
  /** The frames are pages of a document, which go into a file each if the output holds one. */
  hasPages: boolean;
  /** Milliseconds of each frame, where it is an animation. */
  delays: number[] | undefined;
  loop: number;
  hasAlpha: boolean;
  /** More than 8 bits a channel. */
  deep: boolean;
  isGrey: boolean;
  /** Black and white, and no greys. */
  isBilevel: boolean;
  density: number | undefined;
  /** By EXIF, if it is to stay: the pixels are as they are stored. */
  orientation: number | undefined;
  /** Opens one frame, counted from 0. */
  frame(index: number): Sharp;
  /** Opens all frames one below the other, where libvips decodes them itself. */
  roll?: () => Sharp;
}

export interface Opening extends ProgramContext {
  options: OptionValues;
  /** The output supports several frames. Pages are opened in any case. */
  several: boolean;
  /** Ignores warnings of the decoder that are known to be harmless. */
  tolerant?: boolean;
  /** The size to render a drawing at; drawings have no size in pixels. */
  wanted?: {
    width?: number | undefined;
    height?: number | undefined;
    percentage?: number | undefined;
    dpi?: number | undefined;
  };
}

// One conversion at a time uses all cores by itself; a cache would only keep other tasks' pixels in memory.
sharp.cache(false);

/** Opens an input, decoding no more of it than needed. */
export async function openPicture(input: InputFile, opening: Opening): Promise<Picture> {
  const { read } = imageFormat(input.format);
  if (!read) throw new Error(`The catalogue lists ${input.format}, which this engine does not read.`);
  if (input.size === 0) throw new EngineError(`The file ${JSON.stringify(input.name)} is empty.`);
  try {
    return await open(input, read, opening);
  } catch (error) {
    throw explain(error, input);
  }
}

/**
 * Processes an input and, if the decoder only warned of bytes between the segments of a JPEG, does so again ignoring
 * that: some cameras write such files, and they decode correctly. Any other warning means damage.
 */
export async function readingLeniently<T>(input: InputFile, work: (tolerant: boolean) => Promise<T>): Promise<T> {
  try {
    return await work(false);
  } catch (error) {
    const said = error instanceof EngineError ? error.detail : error instanceof Error ? error.message : '';
    if (input.format === 'jpg' && /extraneous bytes before marker/.test(said)) return work(true);
    throw error;
  }
}

async function open(input: InputFile, read: Reading, opening: Opening): Promise<Picture> {
  const { options } = opening;
  switch (read.by) {
    case 'sharp':
      return imageFormat(input.format).mediaType === 'image/tiff'
        ? openTiff(input, read.several, opening)
        : openWithSharp(input, input.path, read.several, opening);
    case 'decoder':
      return openDecoded(input, read, opening);
    case 'svg':
      return openSvg(input, opening);
    case 'ghostscript':
      return openPostScript(input, opening);
    case 'apng':
      return openApng(input, opening);
    case 'hdr':
      return fromLinear(readRadiance(await readFile(input.path)));
    case 'exr':
      return openExr(input, options);
    case 'magick':
      return openWithMagick(input, read, opening);
  }
}

const limits: SharpOptions = { limitInputPixels: maxPixels, sequentialRead: true };

async function openWithSharp(
  input: InputFile,
  source: string | Buffer,
  several: Several | undefined,
  { options, tolerant = false }: Pick<Opening, 'options' | 'tolerant'>,
): Promise<Picture> {
  const metadata = await sharp(source, limits).metadata();
  const frames = several ? (metadata.pages ?? 1) : 1;
  checkSize(input, { width: metadata.width, height: metadata.pageHeight ?? metadata.height, frames });
  checkFrames(input, frames, metadata.width * (metadata.pageHeight ?? metadata.height), maxTotalPixels);
  const how: SharpOptions = { ...limits, failOn: tolerant ? 'error' : 'warning' };
  const isAnimation = several === 'frames' && frames > 1;
  return {
    ...factsOf(metadata, options),
    frames,
    total: frames,
    hasPages: several === 'pages',
    delays: isAnimation ? (metadata.delay ?? []) : undefined,
    loop: metadata.loop ?? 0,
    frame: (index) => sharp(source, several ? { ...how, page: index, pages: 1 } : how),
    ...(frames > 1 && (isAnimation || (await allOfOneSize(source, frames, metadata)))
      ? { roll: () => sharp(source, { ...how, limitInputPixels: false, pages: -1 }) }
      : {}),
  };
}

type Facts = Pick<
  Picture,
  'width' | 'height' | 'hasAlpha' | 'deep' | 'isGrey' | 'isBilevel' | 'density' | 'orientation'
>;

/** Returns what the header of a page or picture says of it. */
function factsOf(metadata: Metadata, options: OptionValues): Facts {
  const isStored = options['auto-orient'] === false;
  const seen = isStored ? metadata : metadata.autoOrient;
  const isGrey = metadata.channels <= 2;
  return {
    width: seen.width,
    height: metadata.pageHeight ?? seen.height,
    hasAlpha: metadata.hasAlpha,
    deep: metadata.depth === 'ushort',
    isGrey,
    isBilevel: isGrey && metadata.bitsPerSample === 1,
    density: metadata.density,
    orientation: isStored ? metadata.orientation : undefined,
  };
}

/** Returns one of several pages, which may differ in size, colours and resolution, as a picture. */
export async function singlePage(picture: Picture, index: number, options: OptionValues): Promise<Picture> {
  const { roll: _, ...rest } = picture;
  const frame = () => picture.frame(index);
  const single = { ...rest, frames: 1, frame };
  if (picture.frames === 1 || !picture.hasPages) return single;
  const metadata = await frame().metadata();
  const facts = factsOf(metadata, options);
  // Decoded pixels have no resolution of their own.
  return { ...single, ...facts, density: metadata.format === 'raw' ? picture.density : facts.density };
}

/** libvips reads most kinds of TIFF, some only once they are rewritten, and ImageMagick some others. */
async function openTiff(input: InputFile, several: Several | undefined, opening: Opening): Promise<Picture> {
  const route = await routeTiff(input.path);
  if (route.by === 'magick') {
    const pages = several ? route.pages : route.pages.slice(0, 1);
    for (const page of pages) checkSize(input, { ...page, frames: 1 });
    const pixels = Math.max(0, ...pages.map(({ width, height }) => width * height));
    checkFrames(input, pages.length, pixels, maxPixelsAtOnce);
    return openWithMagick(input, { by: 'magick', format: 'TIFF', ...(several ? { several } : {}) }, opening);
  }
  // libtiff warns of tags that nothing depends on; what is missing of the pixels is an error.
  const source = 'bytes' in route ? route.bytes : input.path;
  const picture = await openWithSharp(input, source, several, { ...opening, tolerant: true });
  return 'lab' in route && route.lab.some((coding) => coding) ? fromLab(picture, route.lab) : picture;
}

/** Decodes the requested pages and converts those of Lab. */
async function fromLab(picture: Picture, lab: (LabCoding | undefined)[]): Promise<Picture> {
  const frames: Frame[] = [];
  for (let index = 0; index < picture.frames; index++) {
    const coding = lab[index];
    const image = picture.frame(index).toColourspace(coding ? 'rgb16' : 'srgb');
    const { data, info } = await image
      .raw({ depth: coding ? 'ushort' : 'uchar' })
      .toBuffer({ resolveWithObject: true });
    const { width, height, channels } = info;
    if (coding && (channels === 3 || channels === 4)) {
      const pixels = new Uint16Array(data.buffer, data.byteOffset, data.length / 2);
      frames.push(labToScreen({ pixels, width, height, channels, coding, isDeep: picture.deep }));
    } else frames.push({ data, width, height, channels: channels === 1 || channels === 4 ? channels : 3 });
  }
  return fromFrames(frames, { density: picture.density, several: 'pages' });
}

const decoders: Record<Extract<Reading, { by: 'decoder' }>['format'], Decoder> = {
  blp: readBlp,
  fli: readFli,
  icns: readIcns,
  im: readIm,
  msp: readMsp,
};

async function openDecoded(
  input: InputFile,
  { format, several }: Extract<Reading, { by: 'decoder' }>,
  { options, several: takesSeveral }: Opening,
): Promise<Picture> {
  const all = options.page !== undefined || several === 'pages' || (takesSeveral && several !== 'sizes');
  const decoded = await decoders[format](await readFile(input.path), sizeCheck(input), { all });
  return fromFrames(decoded.frames, { ...decoded, several });
}

/** Returns the check that decoders in this process call before they allocate memory for frames. */
function sizeCheck(input: InputFile): SizeCheck {
  return ({ width, height, frames = 1 }) => {
    checkSize(input, { width, height, frames });
    checkFrames(input, frames, width * height, maxPixelsAtOnce);
  };
}

/** Pages of a document may differ in size, and libvips then cannot hold them as one picture. */
async function allOfOneSize(source: string | Buffer, frames: number, first: Metadata): Promise<boolean> {
  for (let page = 1; page < frames; page++) {
    const { width, height, channels, depth, bitsPerSample, density, orientation } = await sharp(source, {
      ...limits,
      page,
    }).metadata();
    if (width !== first.width || height !== (first.pageHeight ?? first.height)) return false;
    if (channels !== first.channels || depth !== first.depth || bitsPerSample !== first.bitsPerSample) return false;
    if (density !== first.density || orientation !== first.orientation) return false;
  }
  return true;
}

function checkSize(
  input: InputFile,
  { width, height, frames }: { width: number; height: number; frames: number },
): void {
  if (width * height > maxPixels) throw tooManyPixels(input, `${width} x ${height}`);
  if (Math.max(width, height) > maxSide) {
    throw new EngineError(
      `The image ${JSON.stringify(input.name)} is more than ${maxSide} pixels wide or high. Scale it down first.`,
    );
  }
  if (width < 1 || height < 1 || frames < 1) {
    throw new EngineError(`The file ${JSON.stringify(input.name)} contains no image.`);
  }
}

function checkFrames(input: InputFile, frames: number, pixels: number, maxPixelsOfFrames: number): void {
  if (frames > maxFrames) {
    throw new EngineError(
      `The file ${JSON.stringify(input.name)} has ${frames} frames or pages; the maximum is ${maxFrames}.`,
    );
  }
  if (frames > 1 && frames * pixels > maxPixelsOfFrames) {
    throw new EngineError(
      `The frames of ${JSON.stringify(input.name)} have more than ${maxPixelsOfFrames / 1_000_000} million pixels in total. Scale it down, or convert a single one with the option page.`,
    );
  }
}

async function openSvg(input: InputFile, opening: Opening): Promise<Picture> {
  const { wanted = {} } = opening;
  const drawing = await prepareSvg(await readFile(input.path));
  const { width, height, percentage, dpi } = wanted;
  const scale =
    width !== undefined || height !== undefined
      ? Math.max((width ?? 0) / drawing.width, (height ?? 0) / drawing.height)
      : percentage !== undefined
        ? percentage / 100
        : (dpi ?? 96) / 96;
  // Rendered at the requested size, so that enlarging never blurs; libvips supports 1 to 100,000.
  const density = Math.min(100_000, Math.max(1, naturalDensity * scale));
  if (drawing.width * drawing.height * scale ** 2 > maxPixels) throw tooManyPixels(input);
  if (drawing.hasEmoji && (await findProgram('rsvg-convert')) && (await findProgram('pdftocairo'))) {
    return openWithEmoji(input, drawing, (96 * density) / naturalDensity, opening);
  }
  const how: SharpOptions = { ...limits, density };
  const metadata = await sharp(drawing.bytes, how).metadata();
  checkSize(input, { width: metadata.width, height: metadata.height, frames: 1 });
  return {
    ...still({ width: metadata.width, height: metadata.height, hasAlpha: true }),
    frame: () => sharp(drawing.bytes, how),
  };
}

/** Draws by way of a PDF: librsvg turns letters into outlines for pixels, and emoji have colours only as letters. */
async function openWithEmoji(input: InputFile, drawing: Drawing, dpi: number, opening: Opening): Promise<Picture> {
  const pdf = { ...input, path: await svgToPdf(drawing.bytes, input, opening) };
  const size = { width: (drawing.width * 72) / 96, height: (drawing.height * 72) / 96 };
  const png = await renderPdfPage(pdf, { number: 1, ...size }, { dpi, transparent: true }, opening);
  const picture = await openWithSharp(input, png, undefined, { options: {} });
  return { ...picture, density: undefined };
}

async function openPostScript(input: InputFile, opening: Opening): Promise<Picture> {
  const path = await postScriptToPdf(input, opening);
  const pdf = { ...input, path };
  const pages = await pdfPages(pdf, opening);
  const chosen = pageOption(input, pages.length, opening.options);
  if (chosen === undefined) checkFrames(input, pages.length, 0, maxTotalPixels);
  const rendered = new Map<number, Picture>();
  for (const [index, page] of pages.entries()) {
    const number = index + 1;
    if (chosen !== undefined && number !== chosen) continue;
    const dpi = renderingDpi(page, opening.wanted);
    const transparent = input.format !== 'ps';
    const png = await renderPdfPage(pdf, { number, ...page }, { dpi, transparent }, opening);
    rendered.set(index, await openWithSharp(input, png, undefined, { options: {} }));
  }
  const [first] = rendered.values();
  if (!first) throw new EngineError(`The file ${JSON.stringify(input.name)} has no pages.`);
  return {
    ...first,
    frames: pages.length,
    total: pages.length,
    hasPages: true,
    frame: (index) => (rendered.get(index) ?? first).frame(0),
  };
}

function renderingDpi(page: { width: number; height: number }, wanted: Opening['wanted'] = {}): number {
  const { width, height, percentage, dpi } = wanted;
  const scaled =
    width !== undefined || height !== undefined
      ? 72 * Math.max((width ?? 0) / page.width, (height ?? 0) / page.height)
      : (dpi ?? 150) * ((percentage ?? 100) / 100);
  return Math.min(2400, Math.max(1, Math.round(scaled * 1000) / 1000));
}

async function openApng(input: InputFile, { options, several }: Opening): Promise<Picture> {
  const file = await readFile(input.path);
  const apng = parseApng(file);
  const { width, height } = apng;
  // One frame alone, or none: the default image is the picture.
  if (apng.frames.length <= 1) return openWithSharp(input, file, undefined, { options });
  const wantsOne = !several && options.page === undefined;
  checkSize(input, { width, height, frames: apng.frames.length });
  checkFrames(input, apng.frames.length, width * height, maxPixelsAtOnce);
  const frames = await decodeApng(wantsOne ? { ...apng, frames: apng.frames.slice(0, 1) } : apng);
  return fromFrames(frames, { loop: apng.loop, total: apng.frames.length, several: 'frames' });
}

async function openExr(input: InputFile, options: OptionValues): Promise<Picture> {
  const file = await readFile(input.path);
  const picture = readExr(file);
  if (picture) return fromLinear(picture);
  const { frames } = await decode(input, file, {
    format: 'EXR',
    take: { frame: 0 },
    autoOrient: options['auto-orient'] !== false,
  });
  const [frame] = frames;
  if (!frame || frame.channels === 1)
    throw new EngineError(`The file ${JSON.stringify(input.name)} contains no image.`);
  const data = Float32Array.from(frame.data, (value) => value / 255);
  return fromLinear({ data, width: frame.width, height: frame.height, channels: frame.channels });
}

async function openWithMagick(
  input: InputFile,
  read: Extract<Reading, { by: 'magick' }>,
  { options, several: takesSeveral }: Opening,
): Promise<Picture> {
  const bytes = await readFile(input.path);
  const decoded = decodeHere(input, bytes);
  if (decoded) return 'data' in decoded ? fromLinear(decoded) : fromFrames(decoded.frames, decoded);
  if (!isComplete(bytes, input.format)) throw new Error('The file is shorter than its header promises.');
  const { camera = false } = imageFormat(input.format);
  const take = framesToTake(read, options, takesSeveral);
  const picture = await decode(input, bytes, {
    format: read.format,
    take,
    autoOrient: options['auto-orient'] !== false,
    camera,
  });
  let { frames } = picture;
  if (camera) for (const { data } of frames) correctTones(data);
  invertMonochrome(bytes, input.format, frames);
  if (read.several === 'sizes' && options.page === undefined) {
    frames = [...frames].sort((one, other) => other.width * other.height - one.width * one.height).slice(0, 1);
  }
  const { exif, xmp } = picture.profiles;
  const [only] = frames;
  if (options.strip === false && (exif || xmp) && only && frames.length === 1) {
    // Raw pixels cannot carry metadata into libvips; a PNG can.
    const png = await writeMagick([only], {
      format: 'PNG',
      quality: 10,
      density: picture.density,
      profiles: picture.profiles,
    });
    return openWithSharp(input, Buffer.from(png), undefined, { options });
  }
  // Frames that are left out are counted for the warning.
  const isFirst = typeof take === 'object' && read.several === 'frames';
  const total = isFirst ? (await pingMagick(bytes, read.format)).frames.length : frames.length;
  return fromFrames(frames, { ...picture, total, several: read.several });
}

/** Decodes the kinds of a format that ImageMagick refuses or gets wrong; returns undefined for the others. */
function decodeHere(input: InputFile, bytes: Buffer): Decoded | LinearPicture | undefined {
  switch (input.format) {
    case 'bmp':
      return readBmp(bytes, sizeCheck(input));
    case 'dds':
      return readDds(bytes, sizeCheck(input));
    case 'tga':
      return readGreyAlphaTga(bytes, sizeCheck(input));
    default:
      return undefined;
  }
}

function framesToTake(
  { several, planes }: Extract<Reading, { by: 'magick' }>,
  options: OptionValues,
  takesSeveral: boolean,
): MagickReading['take'] {
  if (planes) return 'planes';
  if (several === 'layers') return options.page === undefined ? 'merged' : 'all';
  if (several === 'sizes') return 'all';
  return several === 'pages' || (several && (takesSeveral || options.page !== undefined)) ? 'all' : { frame: 0 };
}

async function decode(input: InputFile, bytes: Buffer, reading: MagickReading) {
  if (bytes.length > maxMagickBytes) {
    throw new EngineError(
      `The file ${JSON.stringify(input.name)} is larger than ${maxMagickBytes / 1024 / 1024} MB, the maximum for its format.`,
    );
  }
  try {
    // LibRaw allocates by what the header says.
    if (reading.camera) checkSize(input, { ...(await pingMagick(bytes, reading.format)), frames: 1 });
    return await readMagick(bytes, reading);
  } catch (error) {
    if (
      error instanceof Error &&
      /exceeds? limit|ResourceLimit|CacheResourcesExhausted|width or height/i.test(error.message)
    ) {
      throw tooManyPixels(input, error.message);
    }
    throw error;
  }
}

interface FramesFacts {
  density?: number | undefined;
  loop?: number;
  /** Frames in the file, if not all of them are here. */
  total?: number;
  several?: Several | undefined;
}

function fromFrames(frames: Frame[], { density, loop = 0, total = frames.length, several }: FramesFacts): Picture {
  const [first] = frames;
  if (!first) throw new EngineError('The file holds no picture.');
  const isAnimation = frames.length > 1 && frames.some(({ delay }) => delay !== undefined);
  return {
    ...still({ width: first.width, height: first.height, hasAlpha: frames.some(({ channels }) => channels === 4) }),
    frames: frames.length,
    total,
    hasPages: several === 'pages',
    delays: isAnimation ? frames.map(({ delay }) => delay ?? 100) : undefined,
    loop,
    density,
    isGrey: first.channels === 1,
    isBilevel: first.isBilevel === true,
    frame: (index) => {
      const { data, width, height, channels } = frames[index] ?? first;
      return sharp(data, { ...limits, raw: { width, height, channels } });
    },
  };
}

function fromLinear(linear: LinearPicture): Picture {
  const { data, width, height, channels } = toScreen(linear);
  return {
    ...still({ width, height, hasAlpha: channels === 4 }),
    deep: true,
    frame: () => sharp(data, { ...limits, raw: { width, height, channels } }),
  };
}

/** Returns the facts of a picture that was drawn or developed. */
function still(facts: Pick<Picture, 'width' | 'height' | 'hasAlpha'>): Omit<Picture, 'frame' | 'roll'> {
  return {
    ...facts,
    ...{ frames: 1, total: 1, hasPages: false, delays: undefined, loop: 0 },
    ...{ deep: false, isGrey: false, isBilevel: false, density: undefined, orientation: undefined },
  };
}

/** Warns of the frames of an animation that an output of a single one leaves out. */
export function missingFrames(
  input: InputFile,
  { total, hasPages }: Pick<Picture, 'total' | 'hasPages'>,
  format: string,
  { page }: OptionValues,
): string[] {
  if (hasPages || total < 2 || page !== undefined) return [];
  return [
    `The animation ${JSON.stringify(input.name)} has ${total} frames, of which only the first is converted, because ${format} does not hold animations. Choose another frame with the option page, or convert to gif, webp or apng to keep all of them.`,
  ];
}

/** Returns the requested page or frame, counted from 1, after checking that it exists. */
export function pageOption(input: InputFile, pages: number, options: OptionValues): number | undefined {
  const { page } = options;
  if (typeof page !== 'number') return undefined;
  if (page > pages) {
    throw new EngineError(
      `The file ${JSON.stringify(input.name)} has ${pages === 1 ? 'one page or frame' : `${pages} pages or frames`}, so page ${page} does not exist.`,
    );
  }
  return page;
}
