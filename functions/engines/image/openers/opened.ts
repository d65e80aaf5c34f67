import sharp, { type Sharp, type SharpOptions } from 'sharp';
import type { OptionValues } from '../../../../shared/catalogue/options.ts';
import { EngineError, type InputFile } from '../../runtime/engine.ts';
import { type LinearPicture, toScreen } from '../codecs/linear-light.ts';
import type { Frame } from '../codecs/magick.ts';
import type { SizeCheck } from '../decoders/decoding.ts';
import { noImage, tooManyFramePixels, tooManyPixels } from '../failures.ts';
import type { Reading, Several } from '../formats.ts';
import { maxFrames, maxPixels, maxPixelsAtOnce, maxSide } from '../limits.ts';
import type { ProgramContext } from '../vector/postscript.ts';

/** An opened source: the properties in its header, and its frames ready for libvips. */
export interface Picture {
  /** Of the first frame, as displayed. */
  width: number;
  height: number;
  frames: number;
  /** Frames or pages in the file. If the output holds one frame, only the first frame of an animation is opened. */
  total: number;
  /** The frames are pages of a document. If the output holds one frame, each page becomes a file. */
  hasPages: boolean;
  /** Duration of each frame of an animation in milliseconds. */
  delays: number[] | undefined;
  loop: number;
  hasAlpha: boolean;
  /** More than 8 bits per channel. */
  deep: boolean;
  isGrey: boolean;
  /** Only black and white. */
  isBilevel: boolean;
  density: number | undefined;
  /** EXIF orientation, if the pixels are kept as stored. */
  orientation: number | undefined;
  /** Opens one frame, counted from 0. */
  frame(index: number): Sharp;
  /** Opens the first frames, or all, one below the other, if libvips decodes them itself. */
  roll?: (frames?: number) => Sharp;
}

export interface Opening extends ProgramContext {
  options: OptionValues;
  /** The output supports several frames. Pages are opened in any case. */
  several: boolean;
  /** Ignores decoder warnings that are known to be harmless. */
  tolerant?: boolean;
  /** The size to render a drawing at; drawings have no size in pixels. */
  wanted?: Partial<Record<'width' | 'height' | 'percentage' | 'dpi', number | undefined>>;
}

export type Opener<By extends Reading['by']> = (
  input: InputFile,
  read: Reading<By>,
  opening: Opening,
) => Promise<Picture>;

export const limits: SharpOptions = { limitInputPixels: maxPixels, sequentialRead: true };

type Size = Parameters<SizeCheck>[0];

/** Throws if a file has no frames, or one that is empty or too large. */
export function checkSize(input: InputFile, { width, height, frames = 1 }: Size): void {
  if (width * height > maxPixels) throw tooManyPixels(input, `${width} x ${height}`);
  if (Math.max(width, height) > maxSide) {
    throw new EngineError(
      `The image ${JSON.stringify(input.name)} is more than ${maxSide} pixels wide or high. Scale it down first.`,
    );
  }
  if (width < 1 || height < 1 || frames < 1) throw noImage(input);
}

/** Throws if a file has too many frames, or too many pixels in all of them. `pixels` is the size of one frame. */
export function checkFrames(input: InputFile, frames: number, pixels: number, maxPixelsOfFrames: number): void {
  if (frames > maxFrames) {
    throw new EngineError(
      `The file ${JSON.stringify(input.name)} has ${frames} frames or pages; the maximum is ${maxFrames}.`,
    );
  }
  if (frames > 1 && frames * pixels > maxPixelsOfFrames) throw tooManyFramePixels(input, maxPixelsOfFrames);
}

/** Returns the check that decoders in this process call before they allocate memory for frames. */
export function sizeCheck(input: InputFile): SizeCheck {
  return (size) => {
    checkSize(input, size);
    checkFrames(input, size.frames ?? 1, size.width * size.height, maxPixelsAtOnce);
  };
}

interface FramesFacts {
  density?: number | undefined;
  loop?: number;
  /** Frames in the file, if not all of them are here. */
  total?: number;
  several?: Several | undefined;
}

/** Returns decoded frames as a picture. */
export function fromFrames(
  frames: Frame[],
  { density, loop = 0, total = frames.length, several }: FramesFacts,
): Picture {
  const [first] = frames;
  if (!first) throw new EngineError('The file contains no image.');
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

/** Returns pixels in linear light as a picture for screens. */
export function fromLinear(linear: LinearPicture): Picture {
  const { data, width, height, channels } = toScreen(linear);
  return {
    ...still({ width, height, hasAlpha: channels === 4 }),
    deep: true,
    frame: () => sharp(data, { ...limits, raw: { width, height, channels } }),
  };
}

/** Returns the properties of a single image that a renderer or decoder made. */
export function still(facts: Pick<Picture, 'width' | 'height' | 'hasAlpha'>): Omit<Picture, 'frame' | 'roll'> {
  return {
    ...facts,
    ...{ frames: 1, total: 1, hasPages: false, delays: undefined, loop: 0 },
    ...{ deep: false, isGrey: false, isBilevel: false, density: undefined, orientation: undefined },
  };
}

/** Returns the requested page or frame, counted from 1, after checking that it exists. */
export function pageOption(input: InputFile, pages: number, { page }: OptionValues): number | undefined {
  if (typeof page !== 'number') return undefined;
  if (page > pages) {
    throw new EngineError(
      `The file ${JSON.stringify(input.name)} has ${pages === 1 ? 'one page or frame' : `${pages} pages or frames`}, so page ${page} does not exist.`,
    );
  }
  return page;
}
