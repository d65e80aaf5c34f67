/** Derivatives of pictures by URL, with the semantics of imgproxy: the same steps in the same order, with the same sizes. */
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Metadata, OverlayOptions, ResizeOptions, Sharp } from 'sharp';
import { withExtension } from '../../../../shared/files/names.ts';
import {
  type PictureFormat,
  type PictureRequest,
  type PictureSpec,
  pictureFormats,
  qualityOf,
} from '../../../../shared/pictures/picture.ts';
import { EngineError, type InputFile, type Work, type WorkContext, type WorkResult } from '../../runtime/engine.ts';
import { Outputs } from '../../runtime/outputs.ts';
import { joinRoll } from '../animation.ts';
import type { Size } from '../decoders/decoding.ts';
import { explain, tooManyFramePixels } from '../failures.ts';
import { maxPixelsAtOnce } from '../limits.ts';
import type { Opening, Picture } from '../openers/opened.ts';
import { openPicture, readingLeniently } from '../picture.ts';
import { scaledSize } from '../transform.ts';
import { keepCopyright } from './copyright.ts';
import { deepFormats, encodePicture, greyFormats, maxSides } from './encode.ts';
import { animatedFormats, negotiateFormat, opaqueFormats } from './negotiate.ts';
import { pixelate } from './pixelate.ts';
import { type Plan, planPicture, type SourceFacts } from './plan.ts';
import { sanitizeSvg } from './sanitize-svg.ts';
import { openPixels, pixelsOf, Stages } from './stages.ts';
import { findTrim } from './trim.ts';
import { type OpenMark, watermarkLayer } from './watermark.ts';

/** Formats that imgproxy reads as another one. */
const aliases: Record<string, PictureFormat> = { apng: 'png', mpo: 'jpg' };
/** Formats that libvips decodes here, with their metadata. */
const nativeFormats: ReadonlySet<PictureFormat> = new Set<PictureFormat>(['jpg', 'png', 'webp', 'gif', 'avif', 'tiff']);
/** AVIF cannot store fewer pixels per side. */
const minAvifSide = 16;

interface Source extends InputFile {
  format: PictureFormat;
}

interface Derivation {
  source: Source;
  spec: PictureSpec;
  accept: string;
  openMark: OpenMark | undefined;
  opening: Opening;
}

interface Derivative {
  format: PictureFormat;
  /** Undefined if the source is returned as it is. */
  bytes: Uint8Array | undefined;
}

/** Makes the derivative of a picture that a URL asks for. */
export async function derive(work: Work, { spec, accept }: PictureRequest, context: WorkContext): Promise<WorkResult> {
  const [input, mark] = work.inputs;
  if (!input) throw new Error('A derivative needs a source.');
  const source = { ...input, format: sourceFormat(input) };
  checkFileSize(source, spec);
  const { format, bytes } = spec.raw
    ? { format: source.format, bytes: undefined }
    : await readingLeniently(source, (tolerant) => {
        const several = spec.limits.maxAnimationFrames > 1;
        const opening = { ...context, folder: work.folder, options: { 'auto-orient': false }, several, tolerant };
        const openMark =
          mark && spec.watermark ? opener({ ...mark, format: sourceFormat(mark) }, opening, spec) : undefined;
        return makeDerivative({ source, spec, accept, openMark, opening });
      });
  const path = join(work.folder, `derivative.${format}`);
  await (bytes ? writeFile(path, bytes) : copyFile(source.path, path));
  const outputs = new Outputs(work);
  await outputs.add({ path, name: withExtension(input.name, format), format });
  return { outputs: outputs.files };
}

function sourceFormat({ name, format }: InputFile): PictureFormat {
  const known = aliases[format] ?? pictureFormats.find((each) => each === format);
  if (known) return known;
  throw new EngineError(
    `Expected ${JSON.stringify(name)} to be an image in one of the formats ${pictureFormats.join(', ')} but received ${format}.`,
  );
}

function checkFileSize({ name, size }: InputFile, { limits }: PictureSpec): void {
  if (limits.maxSrcFileSize > 0 && size > limits.maxSrcFileSize)
    throw new EngineError(
      `The file ${JSON.stringify(name)} has ${size} bytes; the maximum for this URL is ${limits.maxSrcFileSize}.`,
    );
}

function opener(source: Source, opening: Opening, spec: PictureSpec): OpenMark {
  return async (percentage) => {
    const picture = await openSource(source, { ...opening, several: false }, percentage);
    checkResolution(source, picture, 1, spec);
    return picture;
  };
}

/** Opens a source. Its orientation is stored in the picture, unless its decoder applies it. */
function openSource(source: Source, opening: Opening, percentage = 100): Promise<Picture> {
  const options = nativeFormats.has(source.format) ? opening.options : {};
  return openPicture(source, { ...opening, options, wanted: { percentage } });
}

async function makeDerivative(derivation: Derivation): Promise<Derivative> {
  const { source, spec, accept, opening } = derivation;
  const picture = await openSource(source, opening);
  const isAnimated = picture.frames > 1 && picture.delays !== undefined;
  const { hasAlpha } = picture;
  const { format, isUnchanged } = negotiateFormat(spec, { format: source.format, isAnimated, hasAlpha }, accept);
  const { maxAnimationFrames } = spec.limits;
  const frames =
    isAnimated && (isUnchanged || animatedFormats.has(format)) ? Math.min(picture.frames, maxAnimationFrames) : 1;
  checkResolution(source, picture, frames, spec);
  if (isUnchanged)
    return { format, bytes: source.format === 'svg' ? sanitizeSvg(await readFile(source.path)) : undefined };
  try {
    return frames > 1
      ? await deriveAnimation(derivation, picture, format, frames)
      : await deriveStill(derivation, picture, format);
  } catch (error) {
    throw explain(error, source);
  }
}

/** Throws if a source has more pixels than its URL allows. Drawings are rendered at the size of the result. */
function checkResolution(
  { name, format }: Source,
  { width, height }: Size,
  frames: number,
  { limits }: PictureSpec,
): void {
  if (format === 'svg') return;
  const perFrame = frames > 1 && limits.maxAnimationFrameResolution > 0;
  const pixels = width * height * (perFrame ? 1 : frames);
  const maxPixels = perFrame ? limits.maxAnimationFrameResolution : limits.maxSrcResolution;
  if (pixels > maxPixels)
    throw new EngineError(
      `The image ${JSON.stringify(name)} has ${pixels} pixels${perFrame ? ' per frame' : ''}; the maximum for this URL is ${maxPixels}. Scale it down first.`,
    );
}

/** How the colours of a source are read. */
interface Reading {
  spec: PictureSpec;
  keepsProfile: boolean;
  isDeep: boolean;
}

/** What the steps need to know in addition to the plan. */
interface Frame {
  spec: PictureSpec;
  format: PictureFormat;
  stages: Stages;
  /** Size of the picture as stored. */
  size: Size;
  hasAlpha: boolean;
  openMark: OpenMark | undefined;
}

async function deriveStill(
  { source, spec, openMark, opening }: Derivation,
  opened: Picture,
  format: PictureFormat,
): Promise<Derivative> {
  const isNative = nativeFormats.has(source.format);
  const metadata = isNative ? await opened.frame(0).metadata() : undefined;
  // Metadata would not survive the loop that pixelates.
  const keepsMetadata = isNative && !spec.stripMetadata && spec.pixelate <= 1;
  const isGreyResult = opened.isGrey && greyFormats.has(format) && !openMark && isGrey(spec.background);
  // A profile describes the channels that the source has.
  const hasSameChannels = metadata?.space !== 'cmyk' && opened.isGrey === isGreyResult;
  const keepsProfile =
    metadata?.hasProfile === true && !spec.stripColorProfile && spec.pixelate <= 1 && hasSameChannels;
  const isDeep = opened.deep && spec.preserveHdr && deepFormats.has(format);
  let [picture, size, facts] = [opened, storedSize(opened), factsOf(source, opened)];
  const open = (image: Sharp) =>
    new Stages(prepared(image, picture, metadata?.space, { spec, keepsProfile, isDeep }), {
      isDeep,
      metadata: keepsMetadata || keepsProfile,
    });
  let stages = open(picture.frame(0));
  if (spec.trim) {
    await stages.settle();
    const area = await findTrim(await pixelsOf(stages.image.clone()), spec.trim);
    if (area) {
      await stages.step('crop', (image) => image.extract(area));
      await stages.settle();
      size = { width: area.width, height: area.height };
    }
    facts = { ...facts, ...size, isVector: false, reduction: 'none' };
  }
  let plan = planPicture(spec, facts);
  if (facts.isVector) {
    const base = Math.min(1, Math.sqrt(spec.limits.maxSrcResolution / (size.width * size.height)));
    if (base < 1) plan = planPicture(spec, { ...facts, ...scaledSize(size, base) });
    picture = await openSource(source, opening, (plan.reduced.width / size.width) * 100);
    stages = open(picture.frame(0));
    const { reduced } = plan;
    if (picture.width !== reduced.width || picture.height !== reduced.height)
      await stages.step('scale', (image) => image.resize({ ...reduced, fit: 'fill' }));
    size = reduced;
  }
  const result = await perform(plan, { spec, format, stages, size, hasAlpha: picture.hasAlpha, openMark });
  const kept =
    format === 'avif' && Math.min(result.width, result.height) < minAvifSide
      ? result.hasAlpha
        ? 'png'
        : 'jpg'
      : format;
  if (spec.maxBytes > 0) await stages.settle();
  const { image } = stages;
  if (isDeep) image.toColourspace(isGreyResult ? 'grey16' : 'rgb16');
  else if (isGreyResult) image.toColourspace('b-w');
  if (keepsMetadata) keepAll(image, spec, keepsProfile);
  else {
    if (keepsProfile) image.keepIccProfile();
    if (metadata && spec.keepCopyright && spec.stripMetadata) keepCopyright(image, metadata);
  }
  const paletteBits = metadata?.isPalette ? paletteDepth(metadata.bitsPerSample ?? 8) : undefined;
  const bytes = await encodePicture(image, kept, qualityOf(spec, kept), spec.maxBytes, { paletteBits });
  return { format: kept, bytes };
}

/** Returns the number of bits that PNG and GIF have for a palette. */
function paletteDepth(bits: number): number {
  return bits > 4 ? 8 : bits > 2 ? 4 : bits;
}

function isGrey(colour: string | null): boolean {
  const [, red, green, blue] = /^(..)(..)(..)$/.exec(colour ?? 'ffffff') ?? [];
  return red === green && green === blue;
}

/** Keeps all metadata, except an orientation that has been applied and a profile that has been converted. */
function keepAll(image: Sharp, spec: PictureSpec, keepsProfile: boolean): void {
  image.keepMetadata();
  if (!keepsProfile) image.withIccProfile('srgb', { attach: false });
  if (spec.autoRotate) image.withExifMerge({ IFD0: { Orientation: '1' } });
}

/** Configures how the source is read. */
function prepared(
  image: Sharp,
  picture: Picture,
  space: Metadata['space'] | undefined,
  { spec, keepsProfile, isDeep }: Reading,
): Sharp {
  if (keepsProfile) image.keepIccProfile();
  // Converted first, as in imgproxy: deep pixels, inks, and greys that would take the colour out of a background.
  const isConverted = (picture.deep && !isDeep) || space === 'cmyk' || (picture.isGrey && !isGrey(spec.background));
  if (isConverted) image.pipelineColourspace('srgb');
  return image;
}

function storedSize({ width, height }: Picture): Size {
  return { width, height };
}

function factsOf({ format }: Source, picture: Picture): SourceFacts {
  return {
    ...storedSize(picture),
    orientation: picture.orientation ?? 1,
    isVector: format === 'svg',
    reduction: format === 'jpg' ? 'powers-of-two' : format === 'webp' || format === 'svg' ? 'any' : 'none',
  };
}

async function deriveAnimation(
  { source, spec, openMark }: Derivation,
  picture: Picture,
  format: PictureFormat,
  count: number,
): Promise<Derivative> {
  const size = storedSize(picture);
  const facts: SourceFacts = { ...factsOf(source, picture), reduction: 'none' };
  const plan = planPicture(spec, facts);
  const pixels = Math.max(size.width * size.height, plan.result.width * plan.result.height);
  if (count * pixels > maxPixelsAtOnce) throw tooManyFramePixels(source, maxPixelsAtOnce);
  const roll = picture.roll ? await pixelsOf(picture.roll(count)) : undefined;
  const frames = [];
  for (let index = 0; index < count; index++) {
    const frameBytes = roll ? roll.data.length / count : 0;
    const image = roll
      ? openPixels({
          ...roll,
          height: roll.height / count,
          data: roll.data.subarray(index * frameBytes, (index + 1) * frameBytes),
        })
      : picture.frame(index);
    const stages = new Stages(image, { isDeep: false, metadata: false });
    await perform(plan, { spec, format, stages, size, hasAlpha: picture.hasAlpha, openMark });
    frames.push(await pixelsOf(stages.image));
  }
  const delay = Array.from({ length: count }, (_, index) => picture.delays?.[index] ?? 40);
  const timing = { delay, loop: picture.loop };
  const bytes = await encodePicture(joinRoll(frames), format, qualityOf(spec, format), spec.maxBytes, { timing });
  return { format, bytes };
}

/** Performs the steps of imgproxy's pipeline, without computing the pixels of the last ones yet. */
async function perform(
  plan: Plan,
  { spec, format, stages, size, hasAlpha, openMark }: Frame,
): Promise<Size & { hasAlpha: boolean }> {
  const isFlat = spec.background !== null || opaqueFormats.has(format);
  const background = `#${spec.background ?? 'ffffff'}`;
  const flatten = () => stages.step('flatten', (image) => image.flatten({ background }));
  // Filters see the transparency. Otherwise the order makes no difference, and flattening first needs only one pipeline.
  const isFiltered = spec.blur > 0 || spec.sharpen > 0 || spec.pixelate > 1;
  if (isFlat && hasAlpha && !isFiltered) await flatten();
  await cropAndScale(plan, stages, size);
  if (plan.turn.flop || plan.turn.angle > 0)
    await stages.step('turn', (image) => image.flop(plan.turn.flop).rotate(plan.turn.angle));
  if (plan.cut) {
    const { cut } = plan;
    await stages.step('cut', (image) => image.extract(cut));
  }
  if (plan.smartCut) await smartCrop(stages, plan.smartCut);
  if (isFiltered) await applyFilters(stages, spec);
  if (isFlat && hasAlpha && isFiltered) await flatten();
  const { margins } = plan;
  const isExtended = Object.values(margins).some((side) => side > 0);
  if (isExtended) {
    const fill = isFlat ? background : { r: 0, g: 0, b: 0, alpha: 0 };
    await stages.step('extend', (image) => image.extend({ ...margins, background: fill }));
  }
  const result = await fitFormat(stages, plan.result, format);
  const isTransparent = !isFlat && (hasAlpha || isExtended);
  if (openMark && spec.watermark) {
    const layer = await watermarkLayer(openMark, spec.watermark, result, plan.dpr);
    await stages.step('composite', (image) => composite(image, layer, isTransparent));
  }
  return { ...result, hasAlpha: isTransparent };
}

function composite(image: Sharp, layer: OverlayOptions, isTransparent: boolean): void {
  image.composite([layer]);
  if (!isTransparent) image.removeAlpha();
}

async function cropAndScale(plan: Plan, stages: Stages, stored: Size): Promise<void> {
  const { crop, smartCrop: smart, reduced, scaled } = plan;
  let size = stored;
  const scaleTo = async (wanted: Size) => {
    if (wanted.width === size.width && wanted.height === size.height) return;
    const sides = sidesFor(size, wanted, plan);
    await stages.step('scale', (image) => image.resize(sides));
    size = wanted;
  };
  if (smart) {
    await scaleTo(reduced);
    await smartCrop(stages, smart);
    size = smart;
  } else if (crop) {
    await stages.step('crop', (image) => image.extract(crop));
    size = { width: crop.width, height: crop.height };
  }
  await scaleTo(scaled);
}

/**
 * Returns the sides to scale to. If one side determines the other, both get the same factor, and the pixels are not shifted
 * by rounding.
 */
function sidesFor(from: Size, to: Size, { exactSide, reductions }: Plan): ResizeOptions {
  if (!exactSide) return { ...to, fit: 'fill' };
  const other = exactSide === 'width' ? 'height' : 'width';
  const isDetermined = reductions.every((by) => {
    const [side, otherSide] = [Math.ceil(from[exactSide] / by), Math.ceil(from[other] / by)];
    return Math.round(otherSide / (side / to[exactSide])) === to[other];
  });
  return isDetermined ? { [exactSide]: to[exactSide], fit: 'inside' } : { ...to, fit: 'fill' };
}

/** Crops to the most interesting area. */
async function smartCrop(stages: Stages, size: Size): Promise<void> {
  await stages.settle();
  await stages.step('scale', (image) =>
    image.resize({ ...size, fit: 'cover', position: 'attention', withoutReduction: true }),
  );
}

/** Limits of sharp. */
const [minBlur, maxBlur, maxSharpen] = [0.3, 1000, 10];

async function applyFilters(stages: Stages, { blur, sharpen, pixelate: side }: PictureSpec): Promise<void> {
  if (blur >= minBlur) await stages.step('blur', (image) => image.blur(Math.min(blur, maxBlur)));
  // The defaults of libvips, which are not those of sharp.
  if (sharpen > 0)
    await stages.step('sharpen', (image) =>
      image.sharpen({ sigma: Math.min(sharpen, maxSharpen), m1: 0, m2: 3, x1: 2, y2: 10, y3: 20 }),
    );
  if (side > 1) await stages.change((pixels) => pixelate(pixels, side));
}

/** Scales a result down to the maximum of its format. */
async function fitFormat(stages: Stages, result: Size, format: PictureFormat): Promise<Size> {
  const factor = (maxSides[format] ?? Number.POSITIVE_INFINITY) / Math.max(result.width, result.height);
  if (factor >= 1) return result;
  const size = scaledSize(result, factor);
  await stages.step('scale', (image) => image.resize({ ...size, fit: 'fill' }));
  return size;
}
