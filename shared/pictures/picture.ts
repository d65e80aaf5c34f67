/**
 * A derivative of a picture, in the terms of imgproxy: each property corresponds to a processing option of its open-source
 * version 4. The order of the steps is imgproxy's pipeline, not that of the options in the URL: trim, crop, resize, rotate
 * and flip, crop to the result, filters, extend, pad, flatten, watermark.
 */

/** The formats that imgproxy reads and writes. It cannot write SVG, only pass it through. */
export const pictureFormats = [
  'jpg',
  'png',
  'webp',
  'avif',
  'gif',
  'jxl',
  'ico',
  'svg',
  'heic',
  'bmp',
  'tiff',
] as const;
export type PictureFormat = (typeof pictureFormats)[number];

export const resizingTypes = ['fit', 'fill', 'fill-down', 'force', 'auto'] as const;
export type ResizingType = (typeof resizingTypes)[number];

/** The center, the sides and the corners. */
export const positions = ['ce', 'no', 'so', 'ea', 'we', 'noea', 'nowe', 'soea', 'sowe'] as const;
/** `fp` is a focus point, with both coordinates from 0 to 1. `sm` lets libvips find the most interesting area. */
export const gravityTypes = [...positions, 'fp', 'sm'] as const;
export type GravityType = (typeof gravityTypes)[number];
/** An image cannot be extended around its most interesting area. */
export const extendGravityTypes = [...positions, 'fp'] as const;
/** `re` repeats the watermark over the whole image, and its offsets are the gaps between the tiles. */
export const watermarkPositions = [...positions, 're'] as const;
export type WatermarkPosition = (typeof watermarkPositions)[number];

/** A point of reference. Offsets between -1 and 1 are relative to the size of the image, all others are pixels. */
export interface Gravity {
  type: GravityType;
  x: number;
  y: number;
}

/** Limits of the source and the result. The engine applies the lower of these and its own. */
export interface PictureLimits {
  /** Pixels of the source, of all its frames together unless `maxAnimationFrameResolution` is set. */
  maxSrcResolution: number;
  /** Bytes of the source; 0 for the limit of the service. */
  maxSrcFileSize: number;
  /** Further frames are dropped. With 1, the result is never animated. */
  maxAnimationFrames: number;
  /** Pixels of each frame of an animation; 0 to apply `maxSrcResolution` to all of them together. */
  maxAnimationFrameResolution: number;
  /** Pixels of the longer side of the result, with padding. A larger result is scaled down. */
  maxResultDimension: number;
}

export interface PictureSpec {
  resize: {
    type: ResizingType;
    /** 0 keeps the aspect ratio, or with `force` the size of the source. */
    width: number;
    height: number;
    minWidth: number;
    minHeight: number;
    /** Factors of the size. They do not apply to offsets and padding. */
    zoomX: number;
    zoomY: number;
    /** A factor of the size, offsets and padding. */
    dpr: number;
    enlarge: boolean;
  };
  gravity: Gravity;
  /** Fills up to the requested size; null for no. */
  extend: Gravity | null;
  /** Fills up to the requested aspect ratio; null for no. */
  extendAspectRatio: Gravity | null;
  /** The area of the source to process. Sizes below 1 are relative, and 0 is the full size. */
  crop: { width: number; height: number; gravity: Gravity } | null;
  /** Without a colour, that of the top left pixel is trimmed. Animations are not trimmed. */
  trim: { threshold: number; color: string | null; equalHorizontal: boolean; equalVertical: boolean } | null;
  padding: { top: number; right: number; bottom: number; left: number };
  /** Whether to apply the EXIF orientation, before `rotate` and `flip`. */
  autoRotate: boolean;
  rotate: 0 | 90 | 180 | 270;
  flip: { horizontal: boolean; vertical: boolean };
  /** Six lower-case hexadecimal digits; null to keep transparency. */
  background: string | null;
  /** Sigma of the Gaussian mask; 0 for no. */
  blur: number;
  sharpen: number;
  /** Side of a block in pixels; 0 and 1 for no. */
  pixelate: number;
  /** The opacity is a factor of the watermark's own. A scale of 0 keeps its size, any other is relative to the image. */
  watermark: { opacity: number; position: WatermarkPosition; x: number; y: number; scale: number } | null;
  stripMetadata: boolean;
  /** Whether stripping metadata keeps copyright notices. */
  keepCopyright: boolean;
  /** Whether to convert to sRGB and remove the profile. */
  stripColorProfile: boolean;
  /** Whether to keep more than 8 bits per channel. */
  preserveHdr: boolean;
  /** Whether to use the thumbnail inside HEIC and AVIF files. */
  enforceThumbnail: boolean;
  /** 0 for that of the format, see `qualityOf`. */
  quality: number;
  formatQuality: Partial<Record<PictureFormat, number>>;
  /** Lowers the quality until the file is this small; 0 for no. */
  maxBytes: number;
  /** The format that the URL asks for; null to negotiate. */
  format: PictureFormat | null;
  /** Sources of these formats are returned unchanged, unless the URL asks for another format. */
  skipProcessing: PictureFormat[];
  /** Whether to return the source whatever it is, unchecked. */
  raw: boolean;
  /** Name of the download without extension, not sanitized; null for that of the source. */
  filename: string | null;
  returnAttachment: boolean;
  /** Unix time in seconds. */
  expires: number | null;
  /** Distinguishes derivatives that are otherwise equal. */
  cachebuster: string | null;
  limits: PictureLimits;
}

/** imgproxy's defaults. Its results have no maximum dimension, but ours are bounded by what AVIF can store. */
export const defaultPictureLimits: Readonly<PictureLimits> = {
  maxSrcResolution: 50_000_000,
  maxSrcFileSize: 0,
  maxAnimationFrames: 1,
  maxAnimationFrameResolution: 0,
  maxResultDimension: 16_384,
};

/** Builds the spec of a URL without options. */
export function defaultPicture(): PictureSpec {
  return {
    resize: {
      type: 'fit',
      width: 0,
      height: 0,
      minWidth: 0,
      minHeight: 0,
      zoomX: 1,
      zoomY: 1,
      dpr: 1,
      enlarge: false,
    },
    gravity: { type: 'ce', x: 0, y: 0 },
    extend: null,
    extendAspectRatio: null,
    crop: null,
    trim: null,
    padding: { top: 0, right: 0, bottom: 0, left: 0 },
    autoRotate: true,
    rotate: 0,
    flip: { horizontal: false, vertical: false },
    background: null,
    blur: 0,
    sharpen: 0,
    pixelate: 0,
    watermark: null,
    stripMetadata: true,
    keepCopyright: true,
    stripColorProfile: true,
    preserveHdr: false,
    enforceThumbnail: false,
    quality: 0,
    formatQuality: {},
    maxBytes: 0,
    format: null,
    skipProcessing: [],
    raw: false,
    filename: null,
    returnAttachment: false,
    expires: null,
    cachebuster: null,
    limits: { ...defaultPictureLimits },
  };
}

const defaultQuality = 80;
/** Qualities that look like 80 in JPEG. */
const defaultFormatQuality: Partial<Record<PictureFormat, number>> = { webp: 79, avif: 63, jxl: 77 };

/** Returns the quality of a result. The `quality` option takes precedence over `format_quality`. */
export function qualityOf(
  { quality, formatQuality }: Pick<PictureSpec, 'quality' | 'formatQuality'>,
  format: PictureFormat,
): number {
  return quality || formatQuality[format] || defaultFormatQuality[format] || defaultQuality;
}

/** Returns the `Vary` header of a response: the Accept header matters only if the URL has no format. */
export function varyOf({ format, raw }: Pick<PictureSpec, 'format' | 'raw'>): { Vary?: 'Accept' } {
  return format === null && !raw ? { Vary: 'Accept' } : {};
}

/** What an engine is asked for instead of an operation. Its inputs are the source and, for a watermark, that picture. */
export interface PictureRequest {
  spec: PictureSpec;
  /** The Accept header of the client, which decides on the format if the URL has none. */
  accept: string;
}
