import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { IMagickImage, IMagickImageCollection, MagickFormat } from '@imagemagick/magick-wasm';
import sharp from 'sharp';
import { defined } from '../../../../shared/defined.ts';
import { EngineError } from '../../runtime/engine.ts';
import { maxFrames, maxPixelsAtOnce, maxSide } from '../limits.ts';

type Magick = typeof import('@imagemagick/magick-wasm');

/** Pixels of one frame in sRGB, with 8 bits per channel. */
export interface Frame {
  data: Uint8Array<ArrayBufferLike>;
  width: number;
  height: number;
  channels: 1 | 3 | 4;
  /** Duration in an animation in milliseconds. */
  delay?: number | undefined;
  /** Only black and white. */
  isBilevel?: boolean;
}

export interface MagickReading {
  format: MagickFormat;
  /** One frame, all frames, all merged into one picture, or all as channels of one picture. */
  take: { frame: number } | 'all' | 'merged' | 'planes';
  autoOrient: boolean;
  /** The file holds raw data of a camera's sensor. */
  camera?: boolean;
}

export interface MagickPicture {
  frames: Frame[];
  /** Times the animation plays, 0 for forever. */
  loop: number;
  density: number | undefined;
  profiles: { exif?: Uint8Array; xmp?: Uint8Array };
}

/** WebAssembly memory never shrinks, so an instance that grew beyond this is discarded after its work. */
const maxIdleBytes = 256 * 1024 * 1024;
const memoryBytes = 1_600_000_000n;
/** Total of all frames while they are read. Completing the frames of an animation takes the same amount again. */
const framesBytes = BigInt(maxPixelsAtOnce * 4);

let loaded: Promise<Magick> | undefined;
let srgbBytes: Promise<Uint8Array> | undefined;

/** Returns the sRGB profile of libvips, as ImageMagick has none. */
function srgbProfile(): Promise<Uint8Array> {
  srgbBytes ??= (async () => {
    const pixel = sharp({ create: { width: 1, height: 1, channels: 3, background: '#000' } });
    const { icc } = await sharp(await pixel.withIccProfile('srgb').png().toBuffer()).metadata();
    if (!icc) throw new Error('libvips has no sRGB profile.');
    return icc;
  })();
  return srgbBytes;
}

/** Loads the WebAssembly module on first use; most conversions never need it. */
function load(): Promise<Magick> {
  loaded ??= (async () => {
    const magick = await import('@imagemagick/magick-wasm');
    const wasm = fileURLToPath(import.meta.resolve('@imagemagick/magick-wasm/magick.wasm'));
    await magick.initializeImageMagick(await readFile(wasm));
    const { ResourceLimits } = magick;
    ResourceLimits.width = BigInt(maxSide);
    ResourceLimits.height = BigInt(maxSide);
    ResourceLimits.memory = memoryBytes;
    ResourceLimits.maxMemoryRequest = memoryBytes;
    // Its disk is in memory too.
    ResourceLimits.disk = 0n;
    ResourceLimits.listLength = BigInt(maxFrames);
    ResourceLimits.maxProfileSize = 64n * 1024n * 1024n;
    return magick;
  })();
  return loaded;
}

/** Runs work with an instance. Discards an instance that failed or grew large, so that no task sees data of another. */
async function withMagick<T>(work: (magick: Magick) => T): Promise<T> {
  const magick = await load();
  let broken = true;
  try {
    const result = work(magick);
    broken = false;
    return result;
  } catch (error) {
    broken = !(error instanceof magick.MagickError);
    // LibRaw throws C++ objects, which cannot be read here.
    throw error instanceof Error ? error : new Error('The decoder failed.', { cause: error });
  } finally {
    if (broken || heapBytes(magick) > maxIdleBytes) {
      // Missing in the module's types. Without it, the library keeps using its instance.
      Reflect.set(magick.ImageMagick, '_api', undefined);
      loaded = undefined;
    }
  }
}

function heapBytes(magick: Magick): number {
  const api: unknown = Reflect.get(magick.ImageMagick, '_api');
  if (typeof api !== 'object' || api === null) return 0;
  const heap: unknown = Reflect.get(api, 'HEAPU8');
  return heap instanceof Uint8Array ? heap.byteLength : 0;
}

/** Runs work with an empty collection of images, and releases its memory. */
function withImages<T>(work: (magick: Magick, images: IMagickImageCollection) => T): Promise<T> {
  return withMagick((magick) => {
    const images = magick.MagickImageCollection.create();
    try {
      return work(magick, images);
    } finally {
      images.dispose();
    }
  });
}

/** Decodes a file in memory. The caller sets the format, so that the bytes cannot select a decoder. */
export async function readMagick(bytes: Uint8Array, reading: MagickReading): Promise<MagickPicture> {
  const srgb = await srgbProfile();
  return withImages((magick, images) => {
    const { MagickReadSettings, ColorSpace, ResourceLimits } = magick;
    const settings = new MagickReadSettings({ format: reading.format });
    if (typeof reading.take === 'object') {
      settings.frameIndex = reading.take.frame;
      settings.frameCount = 1;
    }
    if (reading.camera) settings.setDefine('dng:use-camera-wb', 'true');
    try {
      // Without it, a file of a few kilobytes keeps the decoder busy for minutes before the pixel limit applies.
      if (reading.take === 'all') ResourceLimits.memory = framesBytes;
      images.read(bytes, settings);
    } finally {
      ResourceLimits.memory = memoryBytes;
    }
    const [first] = images;
    if (!first) throw new EngineError('The file contains no image.');
    if (reading.take === 'all') checkFrames(images);
    for (const image of images) {
      if (reading.camera) completeDevelopment(magick, image);
      else toSrgb(magick, image, srgb);
      if (reading.autoOrient) image.autoOrient();
    }
    const { animationIterations: loop } = first;
    const facts = { loop, density: densityOf(magick, first), profiles: profilesOf(first) };
    if (reading.take === 'merged' && images.length > 1) {
      for (const image of images) image.backgroundColor = magick.MagickColors.Transparent;
      return { ...facts, frames: [images.flatten((merged) => toFrame(magick, merged))] };
    }
    if (reading.take === 'planes' && images.length === 3) {
      return { ...facts, frames: [images.combine(ColorSpace.sRGB, (combined) => toFrame(magick, combined))] };
    }
    if (reading.take === 'all' && images.length > 1 && images.some((image) => image.animationDelay > 0)) {
      images.coalesce();
    }
    return {
      ...facts,
      frames: (reading.take === 'planes' ? images.slice(0, 1) : [...images]).map((image) => toFrame(magick, image)),
    };
  });
}

/** Throws if the frames would not fit in memory. They are copied to this process, those of an animation at its full size. */
function checkFrames(images: IMagickImageCollection): void {
  const isAnimation = images.some(({ animationDelay }) => animationDelay > 0);
  const pixels = images.map(({ width, height, page }) =>
    isAnimation ? Math.max(width * height, page.width * page.height) : width * height,
  );
  const together = isAnimation ? Math.max(...pixels) * pixels.length : pixels.reduce((sum, one) => sum + one, 0);
  if (images.length > 1 && together > maxPixelsAtOnce) {
    throw new EngineError(
      `The frames of the file have more than ${maxPixelsAtOnce / 1_000_000} million pixels in total. Scale it down first.`,
    );
  }
}

/** Converts colours by the embedded profile, or by colour model if there is none. */
function toSrgb(magick: Magick, image: IMagickImage, srgb: Uint8Array): void {
  const { ColorProfile, ColorSpace } = magick;
  const profile = image.getColorProfile();
  if (profile) {
    image.transformColorSpace(profile, new ColorProfile(srgb));
    image.removeProfile('icc');
  }
  if (image.colorSpace !== ColorSpace.sRGB && image.colorSpace !== ColorSpace.Gray) image.colorSpace = ColorSpace.sRGB;
}

/** LibRaw returns sRGB. A profile in the file describes the camera's own colours. */
function completeDevelopment({ Orientation }: Magick, image: IMagickImage): void {
  const { TopLeft, TopRight, BottomLeft, LeftTop } = Orientation;
  image.removeProfile('icc');
  // For mirrored pictures, the coder reports LibRaw's numbers as if they were those of EXIF.
  const mirrored = new Map<typeof image.orientation, typeof image.orientation>([
    [TopLeft, TopRight],
    [TopRight, BottomLeft],
    [BottomLeft, LeftTop],
  ]);
  image.orientation = mirrored.get(image.orientation) ?? image.orientation;
}

function toFrame({ ColorSpace }: Magick, image: IMagickImage): Frame {
  const { width, height, hasAlpha } = image;
  const isGrey = image.colorSpace === ColorSpace.Gray && !hasAlpha;
  const mapping = hasAlpha ? 'RGBA' : isGrey ? 'R' : 'RGB';
  const data = image.getPixels((pixels) => pixels.toByteArray(0, 0, width, height, mapping));
  if (!data) throw new Error('The pixels of the picture could not be read.');
  const { animationDelay, animationTicksPerSecond } = image;
  const delay = animationDelay > 0 ? (animationDelay * 1000) / (animationTicksPerSecond || 100) : undefined;
  return {
    data,
    width,
    height,
    channels: hasAlpha ? 4 : isGrey ? 1 : 3,
    delay,
    isBilevel: isGrey && image.depth === 1,
  };
}

function densityOf({ DensityUnit }: Magick, { density }: IMagickImage): number | undefined {
  if (density.x <= 0) return undefined;
  const units = { [DensityUnit.PixelsPerInch]: 1, [DensityUnit.PixelsPerCentimeter]: 2.54 };
  const perInch = Object.entries(units).find(([unit]) => Number(unit) === density.units)?.[1];
  // Formats that store pixels per metre are slightly inexact.
  return perInch && Math.round(density.x * perInch * 10) / 10;
}

function profilesOf(image: IMagickImage): MagickPicture['profiles'] {
  // Copied, because the memory is released with the picture.
  const copy = (name: string) => {
    const data = image.getProfile(name)?.data;
    return data && Uint8Array.from(data);
  };
  return defined({ exif: copy('exif'), xmp: copy('xmp') });
}

export interface MagickWriting {
  format: MagickFormat;
  quality?: number | undefined;
  density?: number | undefined;
  loop?: number | undefined;
  /** Reduces the picture to this number of colours first. */
  colours?: number | undefined;
  bilevel?: boolean | undefined;
  /** Metadata to embed. They describe upright pictures. */
  profiles?: MagickPicture['profiles'];
}

/** Encodes frames. */
export async function writeMagick(frames: Frame[], writing: MagickWriting): Promise<Uint8Array> {
  return withImages((magick, images) => {
    const { Density, DensityUnit, MagickImage, MagickReadSettings, QuantizeSettings } = magick;
    for (const frame of frames) {
      const image = MagickImage.create();
      images.push(image);
      const format = { 1: 'GRAY', 3: 'RGB', 4: 'RGBA' } as const;
      image.read(
        frame.data,
        new MagickReadSettings({
          format: format[frame.channels],
          width: frame.width,
          height: frame.height,
          depth: 8,
        }),
      );
      if (writing.colours) {
        const settings = new QuantizeSettings();
        settings.colors = writing.colours;
        image.quantize(settings);
      }
      // By default it chooses a grey or palette layout if possible, and writes several of them incorrectly.
      image.depth = 8;
      if (writing.bilevel) image.colorType = magick.ColorType.Bilevel;
      else if (frame.channels !== 1) {
        image.setAttribute('colorspace:auto-grayscale', 'false');
        if (!writing.colours) {
          const { TrueColor, TrueColorAlpha } = magick.ColorType;
          image.settings.colorType = frame.channels === 4 ? TrueColorAlpha : TrueColor;
        }
      }
      if (writing.quality !== undefined) image.quality = writing.quality;
      if (writing.density !== undefined) {
        image.density = new Density(writing.density, writing.density, DensityUnit.PixelsPerInch);
      }
      if (frame.delay !== undefined) {
        image.animationTicksPerSecond = 100;
        image.animationDelay = Math.max(1, Math.round(frame.delay / 10));
        image.animationIterations = writing.loop ?? 0;
      }
      for (const [name, data] of Object.entries(writing.profiles ?? {})) {
        image.orientation = magick.Orientation.TopLeft;
        image.setProfile(name, data);
      }
    }
    const [only] = images;
    // Copied, because the memory is released.
    if (images.length === 1 && only) return only.write(writing.format, (data) => Uint8Array.from(data));
    return images.write(writing.format, (data) => Uint8Array.from(data));
  });
}

/** Reads the dimensions and the number of frames from a file's headers. */
export async function pingMagick(
  bytes: Uint8Array,
  format: MagickFormat,
): Promise<{ width: number; height: number; frames: { width: number; height: number }[] }> {
  return withImages(({ MagickReadSettings }, images) => {
    images.ping(bytes, new MagickReadSettings({ format }));
    // The page of a camera's picture is the whole sensor including its margins.
    const frames = [...images].map(({ width, height, page }) => ({
      width: Math.max(width, page.width),
      height: Math.max(height, page.height),
    }));
    return { width: frames[0]?.width ?? 0, height: frames[0]?.height ?? 0, frames };
  });
}
