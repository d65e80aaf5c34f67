/**
 * The sizes of a derivative. They follow the arithmetic of imgproxy, including its rounding, so that a page does not shift
 * when its images come from here.
 */
import type { PictureSpec } from '../../../../shared/pictures/picture.ts';
import { EngineError } from '../../runtime/engine.ts';
import type { Size } from '../decoders/decoding.ts';
import { maxPixels } from '../limits.ts';
import type { Cut } from '../transform.ts';
import { isSideways, type Point, place, roundEven, type Turn, turnOf, unturned } from './gravity.ts';

export interface SourceFacts extends Size {
  /** EXIF orientation; 1 if there is none or it does not apply. */
  orientation: number;
  /** Drawings may be enlarged without loss. */
  isVector: boolean;
  /** How imgproxy reduces a source of this format while it decodes it. The crop area is rounded to the reduced pixels. */
  reduction: 'none' | 'powers-of-two' | 'any';
}

export interface Plan {
  /** Size of the source as stored after imgproxy's decoder has reduced it. A drawing is rendered at this size. */
  reduced: Size;
  /** The area of the source as it is stored; of a drawing, the area of the rendered picture. */
  crop: Cut | undefined;
  /** The size of the most interesting area of the reduced source. */
  smartCrop: Size | undefined;
  /** Size to scale to, as stored. */
  scaled: Size;
  /** The side that needed no rounding, if both are scaled by the same factor. */
  exactSide: keyof Size | undefined;
  /** Factors by which the decoder may reduce the source before it is scaled. */
  reductions: number[];
  turn: Turn;
  /** The area of the scaled and turned picture, or the size of its most interesting area. */
  cut: Cut | undefined;
  smartCut: Size | undefined;
  /** Pixels to add around the picture. */
  margins: Margins;
  /** Size of the result. */
  result: Size;
  /** The pixel ratio that applies. It is lower than the requested one if the source is small. */
  dpr: number;
}

export interface Margins extends Point {
  right: number;
  bottom: number;
}

interface Scale {
  x: number;
  y: number;
  dpr: number;
}

interface Sizes {
  target: Size;
  scaled: Size;
  cut: Size;
  /** Sides of 0 if the aspect ratio is already right. */
  extended: Size;
}

/** Plans a derivative of a source. */
export function planPicture(spec: PictureSpec, source: SourceFacts): Plan {
  const turn = turnOf(spec.autoRotate ? source.orientation : 1, spec.rotate, spec.flip);
  const shown = sidewise(source, turn);
  const cropped = {
    width: cropSide(shown.width, spec.crop?.width ?? 0),
    height: cropSide(shown.height, spec.crop?.height ?? 0),
  };
  const area = {
    width: smaller(cropped.width, shown.width),
    height: smaller(cropped.height, shown.height),
  };
  const { scale, sizes } = limited(spec, area, scaleOf(spec, area, source.isVector));
  const reduced = reduce(source, turn, shown, scale);
  const factor = { x: shown.width / reduced.width, y: shown.height / reduced.height };
  const cropping = cropPlan(spec, source, turn, { shown: reduced, cropped, factor });
  const rest = {
    x: snapped(scale.x * factor.x, reduced.width),
    y: snapped(scale.y * factor.y, reduced.height),
  };
  const shownScaled = {
    width: times(cropping.shown.width, rest.x),
    height: times(cropping.shown.height, rest.y),
  };
  checkPixels(shownScaled);
  return {
    reduced: sidewise(reduced, turn),
    ...cropping.plan,
    scaled: sidewise(shownScaled, turn),
    exactSide: exactSide(sidewise(cropping.shown, turn), isSideways(turn) ? { x: rest.y, y: rest.x } : rest),
    reductions: source.reduction === 'powers-of-two' ? [1, 2, 4, 8] : [1],
    turn,
    ...finalSizes(spec, shownScaled, sizes, scale.dpr),
    dpr: scale.dpr,
  };
}

/** Rounds half up, like imgproxy and unlike `roundEven`. A side of 0 stays 0. */
function times(side: number, factor: number): number {
  return side === 0 ? 0 : Math.max(1, Math.round(side * factor));
}

/** Returns the smaller side, where 0 stands for any. */
function smaller(one: number, other: number): number {
  return one === 0 || other === 0 ? one + other : Math.min(one, other);
}

function sidewise({ width, height }: Size, turn: Turn): Size {
  return isSideways(turn) ? { width: height, height: width } : { width, height };
}

function cropSide(side: number, asked: number): number {
  return asked === 0 || asked >= 1 ? Math.floor(asked) : times(side, asked);
}

/** Returns the factors from the source to the result, before the limit of the result. */
function scaleOf({ resize, extend }: PictureSpec, area: Size, isVector: boolean): Scale {
  let { x, y } = shrinkOf(resize, area);
  x /= resize.zoomX;
  y /= resize.zoomY;
  let { dpr } = resize;
  if (!resize.enlarge && !isVector) {
    const least = Math.min(x, y);
    if (least < 1) {
      [x, y] = [x / least, y / least];
      // The source is too small anyway, so a ratio below 1 must not make it even smaller. On a canvas it keeps its share.
      if (!extend) dpr /= least;
    }
    dpr = Math.min(dpr, x, y);
  }
  if (resize.minWidth > 0 && area.width / resize.minWidth < x) {
    const least = area.width / resize.minWidth;
    [x, y] = [least, (y * least) / x];
  }
  if (resize.minHeight > 0 && area.height / resize.minHeight < y) {
    const least = area.height / resize.minHeight;
    [x, y] = [(x * least) / y, least];
  }
  return { x: 1 / Math.min(x / dpr, area.width), y: 1 / Math.min(y / dpr, area.height), dpr };
}

function shrinkOf({ type, width, height }: PictureSpec['resize'], area: Size): { x: number; y: number } {
  const x = width === 0 ? 1 : area.width / width;
  const y = height === 0 ? 1 : area.height / height;
  if (type === 'force' || (x === 1 && y === 1)) return { x, y };
  if (width === 0) return { x: y, y };
  if (height === 0) return { x, y: x };
  const isAlike = area.width >= area.height === width >= height;
  const isFit = type === 'fit' || (type === 'auto' && !isAlike);
  const both = isFit ? Math.max(x, y) : Math.min(x, y);
  return { x: both, y: both };
}

function sizesOf({ resize, extendAspectRatio }: PictureSpec, area: Size, { x, y, dpr }: Scale): Sizes {
  const target = {
    width: resize.width === 0 ? 0 : Math.round(resize.width * dpr * resize.zoomX),
    height: resize.height === 0 ? 0 : Math.round(resize.height * dpr * resize.zoomY),
  };
  const scaled = { width: times(area.width, x), height: times(area.height, y) };
  let cut = target;
  if (resize.type === 'fill-down' && !resize.enlarge) cut = inAspect(scaled, target, 'inside') ?? target;
  const result = { width: smaller(scaled.width, cut.width), height: smaller(scaled.height, cut.height) };
  const isExtended = extendAspectRatio && target.width > 0 && target.height > 0;
  const extended = (isExtended && inAspect(result, target, 'outside')) || { width: 0, height: 0 };
  return { target, scaled, cut, extended };
}

/**
 * Returns the size with the aspect ratio of the target: the largest inside a size that is smaller than the target, or the
 * smallest around it. Returns undefined if the size stays as it is.
 */
function inAspect(size: Size, target: Size, how: 'inside' | 'outside'): Size | undefined {
  const x = target.width / size.width;
  const y = target.height / size.height;
  if (x === y || (how === 'inside' && Math.max(x, y) <= 1)) return undefined;
  // The side that is further from the target decides inside, and the other one outside.
  return x > y === (how === 'inside')
    ? { width: size.width, height: Math.round((size.width * target.height) / target.width) }
    : { width: Math.round((size.height * target.width) / target.height), height: size.height };
}

function paddingOf({ padding }: PictureSpec, dpr: number): Margins {
  const { left, top, right, bottom } = padding;
  return {
    left: roundEven(left * dpr),
    top: roundEven(top * dpr),
    right: roundEven(right * dpr),
    bottom: roundEven(bottom * dpr),
  };
}

/** Scales a result down that would be larger than the limit. */
function limited(spec: PictureSpec, area: Size, scale: Scale): { scale: Scale; sizes: Sizes } {
  const sizes = sizesOf(spec, area, scale);
  const { target, scaled, cut, extended } = sizes;
  const around = spec.extend ? target : extended;
  const padding = paddingOf(spec, scale.dpr);
  const width = Math.max(smaller(scaled.width, cut.width), around.width) + padding.left + padding.right;
  const height = Math.max(smaller(scaled.height, cut.height), around.height) + padding.top + padding.bottom;
  const down = spec.limits.maxResultDimension / Math.max(width, height);
  if (spec.limits.maxResultDimension <= 0 || down >= 1) return { scale, sizes };
  const lower = {
    x: Math.max(scale.x * down, 1 / area.width),
    y: Math.max(scale.y * down, 1 / area.height),
    dpr: scale.dpr * down,
  };
  return { scale: lower, sizes: sizesOf(spec, area, lower) };
}

/** Returns the size that imgproxy's decoder would produce. */
function reduce({ reduction, isVector, ...stored }: SourceFacts, turn: Turn, shown: Size, { x, y }: Scale): Size {
  const shrink = Math.min(shown.width / times(shown.width, x), shown.height / times(shown.height, y));
  if (reduction === 'none' || (shrink <= 1 && !isVector)) return shown;
  if (reduction === 'any') return { width: times(shown.width, 1 / shrink), height: times(shown.height, 1 / shrink) };
  const power = [8, 4, 2].find((each) => shrink >= each) ?? 1;
  return sidewise({ width: Math.ceil(stored.width / power), height: Math.ceil(stored.height / power) }, turn);
}

/** Avoids scaling if rounding leaves the size as it is. */
function snapped(factor: number, side: number): number {
  return times(side, factor) === side ? 1 : factor;
}

function exactSide(size: Size, { x, y }: { x: number; y: number }): keyof Size | undefined {
  if (Math.abs(x - y) > 1e-9 * x) return undefined;
  const rounding = (side: number) => Math.abs(side - Math.round(side));
  return rounding(size.width * x) <= rounding(size.height * y) ? 'width' : 'height';
}

interface Cropping {
  /** Size of the reduced source, as shown. */
  shown: Size;
  /** Requested size in pixels of the source, as shown. */
  cropped: Size;
  /** Pixels of the source per reduced pixel. */
  factor: { x: number; y: number };
}

/** Returns the crop area in the source as it is stored, and its size in reduced pixels as shown. */
function cropPlan(
  { crop, gravity }: PictureSpec,
  source: SourceFacts,
  turn: Turn,
  { shown, cropped, factor }: Cropping,
): { shown: Size; plan: Pick<Plan, 'crop' | 'smartCrop'> } {
  const size = {
    width: smaller(times(cropped.width, 1 / factor.x), shown.width),
    height: smaller(times(cropped.height, 1 / factor.y), shown.height),
  };
  const given = crop?.gravity ?? gravity;
  if (size.width >= shown.width && size.height >= shown.height)
    return { shown, plan: { crop: undefined, smartCrop: undefined } };
  const reduced = sidewise(shown, turn);
  const box = sidewise(size, turn);
  if (given.type === 'sm') return { shown: size, plan: { crop: undefined, smartCrop: box } };
  const scaledOffset = (offset: number, by: number) =>
    Math.abs(offset) >= 1 && given.type !== 'fp' ? roundEven(offset / by) : offset;
  const adjusted = { ...given, x: scaledOffset(given.x, factor.x), y: scaledOffset(given.y, factor.y) };
  const { left, top } = place(reduced, box, unturned(adjusted, turn), 1);
  // A drawing is rendered at the reduced size.
  const full = source.isVector ? reduced : source;
  return { shown: size, plan: { crop: enlarged({ left, top, ...box }, reduced, full), smartCrop: undefined } };
}

/** Converts an area from the reduced to the full size. */
function enlarged(cut: Cut, reduced: Size, full: Size): Cut {
  const [x, y] = [full.width / reduced.width, full.height / reduced.height];
  const left = Math.min(Math.round(cut.left * x), full.width - 1);
  const top = Math.min(Math.round(cut.top * y), full.height - 1);
  return {
    left,
    top,
    width: Math.min(times(cut.width, x), full.width - left),
    height: Math.min(times(cut.height, y), full.height - top),
  };
}

/** Plans what happens after scaling and turning. */
function finalSizes(
  spec: PictureSpec,
  scaled: Size,
  { target, cut, extended }: Sizes,
  dpr: number,
): Pick<Plan, 'cut' | 'smartCut' | 'margins' | 'result'> {
  const size = { width: smaller(cut.width, scaled.width), height: smaller(cut.height, scaled.height) };
  const isCut = size.width < scaled.width || size.height < scaled.height;
  const isSmart = spec.gravity.type === 'sm';
  const margins: Margins = { left: 0, top: 0, right: 0, bottom: 0 };
  let result = size;
  const add = (more: Margins) => {
    for (const side of ['left', 'top', 'right', 'bottom'] as const) margins[side] += more[side];
    result = { width: result.width + more.left + more.right, height: result.height + more.top + more.bottom };
  };
  if (spec.extend) add(marginsTo(target, result, spec.extend, dpr));
  if (spec.extendAspectRatio) add(marginsTo(extended, result, spec.extendAspectRatio, dpr));
  add(paddingOf(spec, dpr));
  checkPixels(result);
  return {
    cut: isCut && !isSmart ? { ...place(scaled, size, spec.gravity, dpr), ...size } : undefined,
    smartCut: isCut && isSmart ? size : undefined,
    margins,
    result,
  };
}

function marginsTo(target: Size, size: Size, gravity: PictureSpec['gravity'], dpr: number): Margins {
  const canvas = { width: Math.max(target.width, size.width), height: Math.max(target.height, size.height) };
  const { left, top } = place(canvas, size, gravity, dpr);
  return { left, top, right: canvas.width - size.width - left, bottom: canvas.height - size.height - top };
}

function checkPixels({ width, height }: Size): void {
  if (width * height > maxPixels)
    throw new EngineError(
      `The output would be ${width} × ${height} pixels; the maximum is ${maxPixels / 1_000_000} million.`,
    );
}
