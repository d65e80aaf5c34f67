import type { VideoEncoder } from '../encoders.ts';
import { resizeTo, type Size } from '../plan.ts';
import type { VideoStream } from '../probe.ts';

/** One of the encodings of a video between which players switch. */
export interface Rendition extends Size {
  /** Name of its folder, such as `720p`. */
  name: string;
  /** Limit of its bit rate, so that a connection that plays it once plays all of it. */
  maxRate: number;
}

/** A rendition this close to the next larger one is no worthwhile choice. */
const minStep = 0.9;

/**
 * Returns the renditions of a video, the largest first. Heights are those of the shorter side, as for 1080p, and none is above the
 * source: its own height replaces those that are.
 */
export function ladderOf(video: VideoStream, heights: number[], rate: number, encoder: VideoEncoder): Rendition[] {
  const isUpright = video.height > video.width * video.pixelAspect;
  const own = resizeTo(video, { ...(isUpright ? { width: 1e6 } : { height: 1e6 }), fit: 'max' }).size;
  const ownSide = Math.min(own.width, own.height);
  const sides = [...new Set(heights)].sort((one, other) => other - one);
  const isCut = (sides[0] ?? ownSide) > ownSide;
  const kept = sides.filter((side) => (isCut ? side < ownSide * minStep : side <= ownSide));
  const renditions = [...(isCut ? [ownSide] : []), ...kept].map((side): Rendition => {
    const { size } = resizeTo(video, { ...(isUpright ? { width: side } : { height: side }), fit: 'max' });
    return { ...size, name: `${Math.min(size.width, size.height)}p`, maxRate: maxRate(size, rate, encoder) };
  });
  return [...new Map(renditions.map((rendition) => [rendition.name, rendition])).values()];
}

/** The bit rate that is enough for H.264 at 1080p and 30 frames per second. */
const referenceRate = 6_000_000;
const referencePixels = 1920 * 1080;
const referenceFrames = 30;
/** Smaller pictures need more bits per pixel, and further frames are alike. */
const sizeExponent = 0.8;
const frameExponent = 0.5;
const minRate = 150_000;

function maxRate({ width, height }: Size, rate: number, encoder: VideoEncoder): number {
  const size = ((width * height) / referencePixels) ** sizeExponent;
  const frames = Math.max(1, rate / referenceFrames) ** frameExponent;
  const codec = encoder === 'libx265' ? 0.6 : 1;
  return Math.max(minRate, Math.round((referenceRate * size * frames * codec) / 10_000) * 10_000);
}
