import type { OptionValues } from '../../../shared/catalogue/options.ts';
import { changesSize } from '../image/encoding-options.ts';
import { imageFormat } from '../image/formats.ts';
import { wantedSize } from '../image/transform.ts';
import { EngineError } from '../runtime/engine.ts';
import type { MediaFormat } from './formats.ts';
import { maxAnimationSide } from './options.ts';
import { hasAlpha, onColour, resizeTo, type Size } from './plan.ts';
import type { VideoStream } from './probe.ts';
import { numberOf, wordOf } from './values.ts';

/** Default maximum width: wider animations grow to hundreds of megabytes. */
const usualWidth = 640;

interface Source {
  video: VideoStream;
  target: MediaFormat;
  options: OptionValues;
}

/** How the frames of a video are transformed for an animation. */
export interface Shape extends Size {
  /** Filters that put a colour behind transparent pixels, before the frame rate is changed. */
  flattening: string[];
  /** Filters in the order of the image options: rotate, flip, scale, colour. */
  filters: string[];
  /** Some frames may be transparent. */
  isTransparent: boolean;
}

/** Plans size, direction, background and colours of an animation. */
export function shapeOf(source: Source): Shape {
  const { options, target, video } = source;
  const background = wordOf(options, 'background');
  const keepsAlpha = background === undefined && (target.ext !== 'gif' || options.video_to_gif_transparency === true);
  const fill = background?.replace('#', '0x') ?? (keepsAlpha ? 'white@0' : 'white');
  const isFlat = background !== undefined || (!keepsAlpha && hasAlpha(video.pixelFormat));
  const square = { width: Math.round(video.width * video.pixelAspect), height: video.height };
  const turned = turn(square, options, fill);
  const resized = resize(turned, source, fill);
  const isSquared = turned.filters.length > 0 || changesSize(options);
  return {
    width: resized.width,
    height: resized.height,
    flattening: isFlat ? onColour(background ?? '#ffffff') : [],
    filters: [
      ...(isSquared && square.width !== video.width ? [`scale=${square.width}:${square.height}`] : []),
      ...turned.filters,
      ...resized.filters,
      'setsar=1',
      ...(options.color_space === 'gray' ? ['hue=s=0'] : []),
    ],
    isTransparent: keepsAlpha && (hasAlpha(video.pixelFormat) || turned.fills || resized.fills),
  };
}

interface Step extends Size {
  filters: string[];
  /** Leaves areas that no frame covers. */
  fills: boolean;
}

function turn({ width, height }: Size, options: OptionValues, fill: string): Step {
  const angle = (((numberOf(options, 'rotate') ?? 0) % 360) + 360) % 360;
  const flip = wordOf(options, 'flip');
  const mirrored = [
    ...(flip === 'horizontal' || flip === 'both' ? ['hflip'] : []),
    ...(flip === 'vertical' || flip === 'both' ? ['vflip'] : []),
  ];
  const quarters: Record<number, string[]> = {
    0: [],
    90: ['transpose=clock'],
    180: ['hflip', 'vflip'],
    270: ['transpose=cclock'],
  };
  const quarter = quarters[angle];
  if (quarter) {
    const size = angle % 180 === 0 ? { width, height } : { width: height, height: width };
    return { ...size, filters: [...quarter, ...mirrored], fills: false };
  }
  const radians = (angle * Math.PI) / 180;
  const [cosine, sine] = [Math.abs(Math.cos(radians)), Math.abs(Math.sin(radians))];
  const size = {
    width: Math.round(width * cosine + height * sine),
    height: Math.round(width * sine + height * cosine),
  };
  const rotate = `rotate=${radians.toFixed(6)}:ow=${size.width}:oh=${size.height}:fillcolor=${fill}`;
  return { ...size, filters: ['format=rgba', rotate, ...mirrored], fills: true };
}

function resize(turned: Step, { options, target, video }: Source, fill: string): Step {
  if (changesSize(options)) return resizeAsPicture(turned, target, options, fill);
  const isGif = target.ext === 'gif';
  const width = numberOf(options, isGif ? 'video_custom_width_gif' : 'width');
  const height = isGif ? undefined : numberOf(options, 'height');
  const isGiven = width !== undefined || height !== undefined;
  const source = turned.filters.length > 0 ? { ...turned, pixelAspect: 1 } : video;
  const { size } = resizeTo(source, isGiven ? { width, height, fit: 'inside' } : { width: usualWidth, fit: 'max' });
  return { ...size, filters: [`scale=${size.width}:${size.height}:flags=lanczos`], fills: false };
}

function resizeAsPicture(turned: Size, target: MediaFormat, options: OptionValues, fill: string): Step {
  const write = imageFormat(target.ext).write ?? { by: 'sharp' };
  const { width, height, fit } = wantedSize(turned, options, write) ?? { ...turned, fit: 'fill' };
  if (Math.max(width, height) > maxAnimationSide) {
    throw new EngineError(
      `The animation would be ${width} × ${height} pixels; the maximum is ${maxAnimationSide} per side.`,
    );
  }
  const scale = (how: string) => `scale=${width}:${height}${how}:flags=lanczos`;
  const filters = {
    fill: [scale('')],
    inside: [scale('')],
    cover: [scale(':force_original_aspect_ratio=increase'), `crop=${width}:${height}`],
    contain: [
      scale(':force_original_aspect_ratio=decrease'),
      'format=rgba',
      `pad=${width}:${height}:-1:-1:color=${fill}`,
    ],
  }[fit];
  return { width, height, filters, fills: fit === 'contain' };
}
