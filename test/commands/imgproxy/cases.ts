import type { generateImageUrl } from '@imgproxy/imgproxy-node';
import type { SourceName } from './sources.ts';

export type ClientOptions = NonNullable<Parameters<typeof generateImageUrl>[0]['options']>;

export interface Case {
  source: SourceName;
  options: ClientOptions;
  /** The Accept header. */
  accept?: string;
}

const fill = (width: number, height: number): ClientOptions => ({
  resize: { resizing_type: 'fill', width, height },
});
const inWebp: ClientOptions = { format: 'webp' };
const inPng: ClientOptions = { format: 'png' };

/** Combinations of options. PNG is used where another format would hide a difference. */
export const cases: Case[] = [
  // Sizes
  { source: 'photo', options: { width: 800, ...inWebp } },
  { source: 'photo', options: { width: 333, height: 333, ...inPng } },
  { source: 'photo', options: { resize: { resizing_type: 'force', width: 300, height: 500 }, ...inPng } },
  { source: 'photo', options: { ...fill(301, 299), ...inPng } },
  { source: 'tall', options: { resize: { resizing_type: 'fill-down', width: 400, height: 300 }, ...inPng } },
  { source: 'wide', options: { resize: { resizing_type: 'auto', width: 300, height: 200 }, ...inPng } },
  { source: 'tall', options: { resize: { resizing_type: 'auto', width: 300, height: 200 }, ...inPng } },
  { source: 'transparent', options: { width: 900, enlarge: true, ...inPng } },
  { source: 'transparent', options: { width: 900, ...inPng } },
  { source: 'photo', options: { width: 200, dpr: 2, ...inWebp } },
  { source: 'transparent', options: { width: 400, dpr: 3, padding: 10, ...inPng } },
  { source: 'photo', options: { width: 100, min_height: 240, ...inPng } },
  { source: 'photo', options: { width: 300, zoom: { zoom_x: 0.5, zoom_y: 1.25 }, ...inPng } },
  // Gravity
  { source: 'photo', options: { ...fill(200, 400), gravity: { type: 'nowe', x_offset: 40, y_offset: 0 }, ...inPng } },
  { source: 'photo', options: { ...fill(400, 200), gravity: { type: 'soea', y_offset: 0.1 }, ...inPng } },
  { source: 'photo', options: { ...fill(250, 400), gravity: { type: 'fp', x: 0.7, y: 0.35 }, ...inPng } },
  { source: 'photo', options: { ...fill(300, 500), gravity: { type: 'sm' }, ...inPng } },
  { source: 'turned', options: { ...fill(500, 300), gravity: { type: 'sm' }, ...inPng } },
  // Crop
  { source: 'photo', options: { crop: { width: 700, height: 500 }, width: 350, ...inPng } },
  {
    source: 'photo',
    options: { crop: { width: 0.5, height: 0.4, gravity: { type: 'ea', x_offset: 31 } }, width: 180, ...inPng },
  },
  {
    source: 'turned',
    options: {
      crop: { width: 601, height: 433, gravity: { type: 'nowe', x_offset: 33, y_offset: 21 } },
      width: 300,
      ...inPng,
    },
  },
  { source: 'transparent', options: { crop: { width: 250, height: 250, gravity: { type: 'sm' } }, ...inPng } },
  // Orientation
  { source: 'turned', options: { width: 400, ...inWebp } },
  { source: 'mirrored', options: { width: 400, ...inPng } },
  { source: 'turned', options: { width: 400, auto_rotate: false, ...inPng } },
  { source: 'turned', options: { ...fill(300, 200), rotate: 90, gravity: { type: 'no' }, ...inPng } },
  { source: 'mirrored', options: { height: 300, rotate: 270, flip: { horizontal: true }, ...inPng } },
  { source: 'photo', options: { height: 300, rotate: 180, flip: { vertical: true }, ...inWebp } },
  // Trim
  { source: 'framed', options: { trim: { threshold: 10 }, ...inPng } },
  {
    source: 'framed',
    options: { trim: { threshold: 10, color: 'e0e0f0', equal_hor: true, equal_ver: true }, width: 400, ...inPng },
  },
  { source: 'transparent', options: { trim: { threshold: 5 }, width: 300, ...inPng } },
  // Filters
  { source: 'photo', options: { width: 400, blur: 3.5, ...inPng } },
  { source: 'photo', options: { width: 400, sharpen: 0.8, ...inPng } },
  { source: 'photo', options: { width: 401, pixelate: 12, ...inPng } },
  { source: 'transparent', options: { width: 300, blur: 4, sharpen: 1, padding: 20, background: '336699', ...inPng } },
  // Canvas
  {
    source: 'wide',
    options: {
      resize: { width: 400, height: 300, extend: { extend: true, gravity: { type: 'so', y_offset: 12 } } },
      ...inPng,
    },
  },
  {
    source: 'photo',
    options: {
      width: 300,
      height: 500,
      extend_aspect_ratio: { extend: true, gravity: { type: 'no' } },
      background: 'ffeedd',
      ...inPng,
    },
  },
  {
    source: 'photo',
    options: { width: 300, padding: { top: 5, right: 15, bottom: 25, left: 35 }, background: '102030', format: 'jpg' },
  },
  { source: 'transparent', options: { width: 300, background: 'ff8800', format: 'jpg' } },
  { source: 'transparent', options: { width: 300, format: 'jpg' } },
  { source: 'grey', options: { width: 300, padding: 12, background: 'ff0000', ...inPng } },
  // Watermark
  {
    source: 'photo',
    options: { width: 500, watermark: { opacity: 0.7, position: 'soea', x_offset: 10, y_offset: 15 }, ...inPng },
  },
  {
    source: 'photo',
    options: {
      width: 500,
      watermark: { opacity: 0.5, position: 're', x_offset: 17, y_offset: 9, scale: 0.15 },
      ...inPng,
    },
  },
  {
    source: 'transparent',
    options: {
      width: 400,
      dpr: 1.5,
      watermark: { opacity: 1, position: 'nowe', x_offset: -20, y_offset: 0.2, scale: 0.4 },
      ...inPng,
    },
  },
  { source: 'grey', options: { width: 300, watermark: { opacity: 0.9, position: 'ce' }, format: 'jpg' } },
  // Colours
  { source: 'cmyk', options: { width: 400, ...inPng } },
  { source: 'displayP3', options: { width: 400, ...inPng } },
  { source: 'displayP3', options: { width: 400, strip_color_profile: false, format: 'jpg' } },
  { source: 'deep', options: { width: 300, ...inWebp } },
  { source: 'deep', options: { width: 300, preserve_hdr: true, ...inPng } },
  { source: 'palette', options: { width: 300, ...inPng } },
  // Formats and quality
  { source: 'photo', options: { width: 500, quality: 40, format: 'jpg' } },
  { source: 'photo', options: { width: 500, format: 'avif' } },
  { source: 'photo', options: { width: 500, max_bytes: 15_000, format: 'jpg' } },
  { source: 'webp', options: { width: 400, crop: { width: 600, height: 600 } }, accept: 'image/avif,image/webp,*/*' },
  { source: 'avif', options: { width: 300 }, accept: 'image/webp,*/*' },
  { source: 'tiff', options: { ...fill(200, 200), format: 'ico' } },
  { source: 'bitmap', options: { width: 320, format: 'tiff' } },
  // Animations and drawings
  {
    source: 'animation',
    options: { ...fill(120, 120), watermark: { opacity: 1, position: 'so', scale: 0.3 }, format: 'gif' },
  },
  { source: 'animatedWebp', options: { width: 160, rotate: 90, ...inWebp } },
  { source: 'drawing', options: { width: 700, format: 'png' } },
  {
    source: 'drawing',
    options: { crop: { width: 160, height: 120, gravity: { type: 'nowe' } }, width: 480, ...inWebp },
  },
];
