import sharp, { type Sharp, type WebpOptions } from 'sharp';
import type { Variant } from './size-search.ts';

/** The level of the first encoding of a format with hardly any loss. */
export const goodLevels: Record<string, number> = { jpg: 70, webp: 70, avif: 60, gif: 100, png: 95 };

/** Lists the encodings that compress to a format, the best-looking first. */
export function variants(format: string): Variant[] {
  switch (format) {
    case 'jpg':
      return [
        { mozjpeg: true },
        { chromaSubsampling: '4:4:4', optimiseCoding: true },
        ...[2, 3, 5, 7].map((quantisationTable) => ({
          quantisationTable,
          trellisQuantisation: true,
          optimiseScans: true,
        })),
      ].map((options) => byQuality(10, (image, quality) => image.jpeg({ quality, ...options })));
    case 'webp':
      return [
        ...webpVariants.map((options) => byQuality(5, (image, quality) => image.webp({ quality, ...options }))),
        { levels: [between, 100 * between - 1], minLevel: 5 * between, encode: encodeSoftWebp },
      ];
    case 'avif':
      // Higher effort takes eight times as long for the same size.
      return [{ effort: 3, chromaSubsampling: '4:2:0' }, { effort: 3 }, { effort: 2 }].map((options) =>
        byQuality(10, (image, quality) => image.avif({ quality, ...options })),
      );
    case 'gif':
      return [
        { levels: [1, 100], minLevel: 25, encode: encodeGif },
        { levels: [2 * 16 * between, 256 * 16 * between], minLevel: 16 * 16 * between, encode: encodeGifInSteps },
      ];
    case 'png':
      return [
        { levels: [1, 100], minLevel: 20, encode: encodePng },
        { levels: [8, finest], minLevel: 64, encode: encodePngInSteps },
        { levels: [8, finest], minLevel: 64, encode: encodePaletteInSteps },
      ];
    default:
      throw new Error(`No compression is defined for ${format}.`);
  }
}

const webpVariants: WebpOptions[] = [
  { effort: 5 },
  { effort: 4, smartSubsample: true },
  { effort: 2 },
  { effort: 4, preset: 'drawing' },
];

/** Returns an encoding with the quality of its format as the level. */
function byQuality(minLevel: number, configure: (image: Sharp, quality: number) => Sharp): Variant {
  return { levels: [1, 100], minLevel, encode: (image, quality) => configure(image, quality).toBuffer() };
}

/** Four levels per step of a channel, so that sizes come close to any target. */
const finest = 1024;
/** Levels that fill the gap between two qualities or two numbers of steps. */
const between = 64;

/** Fills the gap between two qualities, which may differ in size by a fifth: softens the picture at the better quality. */
function encodeSoftWebp(image: Sharp, level: number): Promise<Buffer> {
  const quality = Math.floor(level / between) + 1;
  const edge = (0.25 * (between - (level % between))) / between;
  const line = [edge, 1 - 2 * edge, edge];
  const kernel = line.flatMap((across) => line.map((down) => across * down));
  return image.convolve({ width: 3, height: 3, kernel }).webp({ quality, effort: 5 }).toBuffer();
}

/** Unchanged at the top level. Below it, fewer colours and coarser differences between frames. */
async function encodeGif(image: Sharp, level: number): Promise<Buffer> {
  const options = {
    dither: level / 100,
    interFrameMaxError: Math.round((32 * (100 - level)) / 100),
    interPaletteMaxError: Math.round((64 * (100 - level)) / 100),
  };
  // libvips rounds the colours of a GIF to a power of two, so the pixels themselves are made coarser.
  return (level >= 100 ? image : await posterise(image, 4 * 4 ** (level / 25))).gif(options).toBuffer();
}

/** Sizes jump from one number of steps to the next, so some of the rows already have the next. */
async function encodeGifInSteps(image: Sharp, level: number): Promise<Buffer> {
  // Sixteenths of a step, so that the boundary between the two is not visible.
  const sixteenths = Math.floor(level / between);
  const next = { steps: (sixteenths + 1) / 16, share: (level % between) / between };
  return (await posterise(image, sixteenths / 16, next)).gif().toBuffer();
}

/** Lossless at the top level. Below it, a palette of the given quality by libimagequant. */
function encodePng(image: Sharp, level: number): Promise<Buffer> {
  return level >= 100
    ? image.png({ compressionLevel: 9, palette: false }).toBuffer()
    : image.png({ palette: true, quality: level, effort: 4 }).toBuffer();
}

async function encodePngInSteps(image: Sharp, level: number): Promise<Buffer> {
  return (await posterise(image, level / 4)).png({ compressionLevel: 9 }).toBuffer();
}

async function encodePaletteInSteps(image: Sharp, level: number): Promise<Buffer> {
  return (await posterise(image, level / 4)).png({ palette: true, dither: 0, effort: 4 }).toBuffer();
}

/**
 * Reduces every channel to a number of steps, which compress better. The upper rows of each frame may have another number.
 * Keeps the frames of a roll.
 */
async function posterise(image: Sharp, steps: number, upper = { steps, share: 0 }): Promise<Sharp> {
  const { pages = 1, pageHeight, delay, loop, density } = await image.metadata();
  const { data, info } = await image
    .toColourspace('srgb')
    .raw({ depth: 'uchar' })
    .toBuffer({ resolveWithObject: true });
  const { width, height, channels } = info;
  const isRoll = pages > 1 && pageHeight !== undefined && height > pageHeight;
  const row = width * channels;
  const rows = isRoll ? pageHeight : height;
  const frame = row * rows;
  const split = row * Math.round(rows * upper.share);
  const [ofUpper, ofLower] = [coarseValues(upper.steps), coarseValues(steps)];
  for (let start = 0; start < data.length; start += frame) {
    replaceValues(data.subarray(start, start + split), ofUpper);
    replaceValues(data.subarray(start + split, start + frame), ofLower);
  }
  const raw = { width, height, channels, ...(isRoll ? { pageHeight } : {}) };
  const coarse = sharp(data, { limitInputPixels: false, raw });
  // Raw pixels have no resolution.
  if (density) coarse.withDensity(density).withExif({});
  return isRoll && delay ? coarse.gif({ delay, loop: loop ?? 0 }) : coarse;
}

/** Returns the nearest of some equal steps for each value of a channel. */
function coarseValues(steps: number): Uint8Array {
  const step = 255 / (Math.max(2, steps) - 1);
  return Uint8Array.from({ length: 256 }, (_, value) => Math.min(255, Math.round(Math.round(value / step) * step)));
}

function replaceValues(data: Uint8Array, values: Uint8Array): void {
  for (let at = 0; at < data.length; at++) data[at] = values[data[at] ?? 0] ?? 0;
}
