import sharp, { type Sharp } from 'sharp';
import type { OptionValues } from '../../../shared/catalogue/options.ts';
import { EngineError } from '../runtime/engine.ts';
import type { Size } from './decoders/decoding.ts';
import type { Writing } from './formats.ts';
import { maxPixels, maxSide } from './limits.ts';
import type { Picture } from './openers/opened.ts';

export interface Cut extends Size {
  left: number;
  top: number;
}

export interface Target {
  write: Writing;
  options: OptionValues;
  cut?: Cut | undefined;
}

/** Reads a number from checked options. */
export function numberOption(options: OptionValues, name: string): number | undefined {
  const value = options[name];
  return typeof value === 'number' ? value : undefined;
}

/** Reads a text from checked options. */
export function textOption(options: OptionValues, name: string): string | undefined {
  const value = options[name];
  return typeof value === 'string' ? value : undefined;
}

/** Returns whether frames must be processed one by one, because libvips does not rotate or crop them as a roll. */
export function needsSingleFrames({ options, cut }: Target): boolean {
  return Boolean(cut) || turns(options) || ['crop', 'pad'].includes(textOption(options, 'fit') ?? '');
}

function turns(options: OptionValues): boolean {
  return (
    (numberOption(options, 'rotate') ?? 0) % 360 !== 0 || !['none', undefined].includes(textOption(options, 'flip'))
  );
}

/** Rotates, crops, scales and recolours a frame according to the options. */
export async function transform(image: Sharp, picture: Picture, target: Target): Promise<Sharp> {
  const { options, write, cut } = target;
  const { background } = options;
  const fill = typeof background === 'string' ? background : undefined;
  if (options['auto-orient'] !== false) image.autoOrient();
  let size = { width: picture.width, height: picture.height };
  if (cut) {
    image.extract(cut);
    size = { width: cut.width, height: cut.height };
  }
  if (turns(options)) ({ image, size } = await turn(image, size, target, fill));
  resize(image, size, target, fill);
  // In a grey picture, the background would lose its colour.
  if (picture.isGrey && !isGreyColour(fill)) image.pipelineColourspace('srgb');
  if (fill !== undefined || !write.alpha) image.flatten({ background: fill ?? '#ffffff' });
  colour(image, picture, target);
  return image;
}

async function turn(image: Sharp, size: Size, { options }: Target, fill?: string) {
  const angle = numberOption(options, 'rotate') ?? 0;
  const flip = textOption(options, 'flip');
  let turned = image;
  if (angle % 90 === 0) {
    if (angle % 360 !== 0) image.rotate(angle);
    if (angle % 180 !== 0) size = { width: size.height, height: size.width };
  } else {
    // In a separate step, so that width and height apply to the output. As PNG, which is lossless and keeps EXIF.
    if (options.strip === false) image.keepMetadata();
    const { data, info } = await image
      .ensureAlpha()
      .rotate(angle, { background: fill ?? { r: 255, g: 255, b: 255, alpha: 0 } })
      .png({ compressionLevel: 0 })
      .toBuffer({ resolveWithObject: true });
    turned = sharp(data, { limitInputPixels: false });
    size = { width: info.width, height: info.height };
  }
  // libvips mirrors before it rotates, so after a quarter turn, flip and flop are exchanged.
  const isSideways = Math.abs(angle % 180) === 90;
  if (flip === 'both' || flip === (isSideways ? 'vertical' : 'horizontal')) turned.flop();
  if (flip === 'both' || flip === (isSideways ? 'horizontal' : 'vertical')) turned.flip();
  return { image: turned, size };
}

function resize(image: Sharp, size: Size, { options, write }: Target, fill: string | undefined): void {
  const wanted = wantedSize(size, options, write);
  if (!wanted) return;
  if (wanted.width * wanted.height > maxPixels || Math.max(wanted.width, wanted.height) > maxSide) {
    throw new EngineError(
      `The output would be ${wanted.width} × ${wanted.height} pixels; the maximum is ${maxPixels / 1_000_000} million.`,
    );
  }
  image.resize({
    width: wanted.width,
    height: wanted.height,
    fit: wanted.fit,
    ...(wanted.fit === 'contain' ? { background: fill ?? { r: 255, g: 255, b: 255, alpha: 0 } } : {}),
  });
}

const fits = { max: 'inside', crop: 'cover', scale: 'fill', pad: 'contain' } as const;

/** Returns the size of the output, or undefined if it does not change. */
export function wantedSize(size: Size, options: OptionValues, writing: Writing) {
  const width = numberOption(options, 'image_custom_width');
  const height = numberOption(options, 'image_custom_height');
  const percentage = numberOption(options, 'image_resize_percentage');
  const fit = fits[fitOption(options)];
  let wanted: { width: number; height: number; fit: 'inside' | 'cover' | 'fill' | 'contain' } | undefined;
  if (width !== undefined && height !== undefined) {
    const scale = Math.min(width / size.width, height / size.height);
    wanted = fit === 'inside' ? scaled(size, scale) : { width, height, fit };
  } else if (width !== undefined) wanted = { ...scaled(size, width / size.width), width };
  else if (height !== undefined) wanted = { ...scaled(size, height / size.height), height };
  else if (percentage !== undefined) wanted = scaled(size, percentage / 100);
  const result = wanted ?? { ...size, fit: 'fill' };
  const longest = Math.max(result.width, result.height);
  if (writing.maxSide !== undefined && longest > writing.maxSide) {
    return { ...result, ...scaledSize(result, writing.maxSide / longest) };
  }
  return wanted && (wanted.width !== size.width || wanted.height !== size.height) ? wanted : undefined;
}

/** Returns the sizes before and after scaling down to the limit of the format, or undefined if the image fits. */
export function isScaledDown(picture: Size, { options, write, cut }: Target): { from: Size; to: Size } | undefined {
  const from = wantedSize(cut ?? picture, options, { by: write.by }) ?? cut ?? picture;
  const to = wantedSize(cut ?? picture, options, write) ?? from;
  return to.width < from.width || to.height < from.height ? { from, to } : undefined;
}

/** Returns whether the pixels keep their values. They may move. */
export function keepsPixels(picture: Size, { options, write, cut }: Target): boolean {
  return (numberOption(options, 'rotate') ?? 0) % 90 === 0 && !wantedSize(cut ?? picture, options, write);
}

function fitOption(options: OptionValues): keyof typeof fits {
  const { fit } = options;
  return fit === 'crop' || fit === 'scale' || fit === 'pad' ? fit : 'max';
}

/** Scales both sides. Neither becomes smaller than a pixel. */
export function scaledSize({ width, height }: Size, scale: number): Size {
  return { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) };
}

function scaled(size: Size, scale: number) {
  return { ...scaledSize(size, scale), fit: 'fill' as const };
}

/** Returns whether the background of a grey picture is grey too. */
function isGreyColour(background: unknown): boolean {
  const [, red, green, blue] = /^#(..)(..)(..)$/.exec(String(background ?? '#ffffff').toLowerCase()) ?? [];
  return red === green && green === blue;
}

function colour(image: Sharp, { deep, isGrey }: Picture, { write, options }: Target): void {
  const space = options.color_space;
  const grey = space === 'gray' || write.colours === 'grey' || write.colours === 'bilevel';
  const keepsDepth = deep && write.by === 'sharp' && write.grey === true && !write.quality;
  // Without a profile, programs would have to guess the colours of the inks.
  if (space === 'cmyk') image.toColourspace('cmyk').withIccProfile('cmyk');
  else if (grey || (isGrey && write.grey && isGreyColour(options.background)))
    image.greyscale().toColourspace(keepsDepth ? 'grey16' : 'b-w');
  else if (keepsDepth) image.toColourspace('rgb16');
  else image.toColourspace('srgb');
}
