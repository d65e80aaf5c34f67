import type { OptionDescriptor } from '../../../shared/catalogue/catalogue.ts';
import {
  background,
  choice,
  dpi,
  encodingOptions,
  flag,
  height,
  quality,
  range,
  strip,
  width,
} from './encoding-options.ts';
import type { ImageFormat } from './formats.ts';

const autoOrient: OptionDescriptor = {
  name: 'auto-orient',
  label: 'Auto-orient',
  hint: 'Rotates the image according to its EXIF orientation.',
  ...flag(true),
};

const vectorDpi: OptionDescriptor = {
  ...dpi,
  hint: 'Resolution at which the drawing is rendered when no width, height or percentage is given. Defaults to 150 for EPS and PS, and to 96 for SVG.',
  properties: { min: 10, max: 1200 },
};

export const page: OptionDescriptor = {
  name: 'page',
  label: 'Page or frame',
  hint: 'Converts only this page or frame, counted from 1. Defaults to all pages, in a file each if the output format holds one, and to all frames of an animation, or the first if the output format holds one.',
  ...range('integer', 1, 100_000),
};

/** Lists the options of a conversion to a raster format. */
export function convertOptions(target: ImageFormat, from: 'raster' | 'vector'): OptionDescriptor[] {
  const { default_value: _, ...withoutDefault } = quality;
  const sourceQuality = {
    ...withoutDefault,
    hint: 'Quality of the output. Higher values look better and make larger files. Defaults to the quality of a JPEG input, and to 80 for other inputs.',
  };
  const encoding = encodingOptions(target);
  return [
    ...(target.ext === 'jpg' && from === 'raster'
      ? encoding.map((option) => (option.name === quality.name ? sourceQuality : option))
      : encoding),
    ...(from === 'vector' ? [vectorDpi] : target.write?.density ? [dpi] : []),
    ...(from === 'raster' ? [autoOrient] : []),
    strip,
    page,
  ];
}

/** Pixels at 150 dpi, calculated from inches with three decimals, as published clients send them. */
const pageSizes = [
  { value: '1240.2x1753.95', hint: 'A4' },
  { value: '1753.95x2480.25', hint: 'A3' },
  { value: '2480.25x3507.9', hint: 'A2' },
  { value: '3507.9x4966.5', hint: 'A1' },
  { value: '4966.5x7021.65', hint: 'A0' },
  { value: '874.05x1240.2', hint: 'A5' },
  { value: '620.1x874.05', hint: 'A6' },
  { value: '1476.45x2084.7', hint: 'B4' },
  { value: '1039.35x1476.45', hint: 'B5' },
  { value: '1275x1650', hint: 'Letter' },
  { value: '1275x2100', hint: 'Legal' },
  { value: '1650x2550', hint: 'Tabloid' },
  { value: '1087.5x1575', hint: 'Executive' },
];

/** As in the specification's example: strip, pdf_page_size, enlarge_images_to_fit, and the position of the image. */
export const pdfOptions: OptionDescriptor[] = [
  strip,
  {
    name: 'pdf_page_size',
    label: 'Page size',
    hint: 'Page size. By default, each page has the size of its image.',
    data_type: 'string',
    type: 'enum',
    enum_values: [{ value: 'same-as-image', hint: 'Same as image' }, ...pageSizes],
  },
  {
    name: 'pdf_orientation',
    label: 'Orientation',
    hint: 'Page orientation, if a page size is set.',
    ...choice('portrait', [
      { value: 'portrait', hint: 'Portrait' },
      { value: 'landscape', hint: 'Landscape' },
    ]),
  },
  {
    name: 'pdf_image_alignment',
    label: 'Alignment',
    hint: 'Position of the image on a larger page.',
    ...choice('Center', [
      { value: 'Center', hint: 'Centre' },
      { value: 'Top', hint: 'Top' },
      { value: 'Bottom', hint: 'Bottom' },
      { value: 'Left', hint: 'Left' },
      { value: 'Right', hint: 'Right' },
      { value: 'TopLeft', hint: 'Top left' },
      { value: 'TopRight', hint: 'Top right' },
      { value: 'BottomLeft', hint: 'Bottom left' },
      { value: 'BottomRight', hint: 'Bottom right' },
    ]),
  },
  {
    name: 'enlarge_images_to_fit',
    label: 'Enlarge images to fit',
    hint: 'Enlarges images that are smaller than the page.',
    ...flag(true),
    conditions: [
      {
        name: 'pdf_page_size',
        required: true,
        meta: pageSizes.map(({ value, hint }) => ({ value, label: hint })),
      },
    ],
  },
];

export const mergeGifOptions: OptionDescriptor[] = [
  {
    name: 'gif_delay',
    label: 'Delay',
    hint: 'How long each image is shown. By default, animated inputs keep their timing and others are shown for one second.',
    ...range('integer', 20, 600_000, { units: 'ms' }),
  },
  {
    name: 'gif_loop',
    label: 'Loops',
    hint: 'How many times the animation plays; 0 loops forever.',
    ...range('integer', 0, 65_535, { default_value: '0' }),
  },
  { ...width, hint: 'Width of the animation. Defaults to the width of the first image.' },
  { ...height, hint: 'Height of the animation. Defaults to the height of the first image.' },
  { ...background, hint: 'Colour around images with a different aspect ratio. Defaults to transparent.' },
];

export const cropOptions: OptionDescriptor[] = [
  {
    name: 'x',
    label: 'Left',
    hint: 'Distance of the crop area from the left edge. By default, the crop area is centred.',
    ...range('integer', 0, 1_000_000, { units: 'px' }),
  },
  {
    name: 'y',
    label: 'Top',
    hint: 'Distance of the crop area from the top edge. By default, the crop area is centred.',
    ...range('integer', 0, 1_000_000, { units: 'px' }),
  },
  {
    name: 'width',
    label: 'Width',
    hint: 'Width of the crop area. By default, it extends to the right edge or follows from the aspect ratio.',
    ...range('integer', 1, 1_000_000, { units: 'px' }),
  },
  {
    name: 'height',
    label: 'Height',
    hint: 'Height of the crop area. By default, it extends to the bottom edge or follows from the aspect ratio.',
    ...range('integer', 1, 1_000_000, { units: 'px' }),
  },
  {
    name: 'aspect',
    label: 'Aspect ratio',
    hint: 'Aspect ratio of the crop area, such as 16:9. Without a width and height, the crop area is as large as the image allows.',
    data_type: 'string',
    properties: { pattern: '[1-9][0-9]{0,4}:[1-9][0-9]{0,4}' },
  },
  autoOrient,
  strip,
];

const when = (value: string) => [{ name: 'compress_image', required: true, meta: [{ value, label: value }] }];

export const compressOptions: OptionDescriptor[] = [
  {
    name: 'compress_image',
    label: 'Method',
    hint: 'Compression method.',
    ...choice('by_quality', [
      { value: 'by_quality', hint: 'To a quality.' },
      { value: 'by_percentage', hint: 'To a percentage of the input size.' },
      { value: 'by_size', hint: 'To a maximum file size.' },
    ]),
  },
  {
    name: 'image_compress_quality',
    label: 'Quality',
    hint: 'Quality of the output. Higher values look better and make larger files.',
    ...range('integer', 1, 100, { default_value: '60' }),
    conditions: [{ name: 'compress_image', required: false, meta: [{ value: 'by_quality', label: 'by_quality' }] }],
  },
  {
    name: 'image_compress_percentage',
    label: 'Percentage',
    hint: 'Output size as a percentage of the input.',
    ...range('number', 1, 100, { units: '%', default_value: '60' }),
    conditions: when('by_percentage'),
  },
  {
    name: 'image_compress_max_filesize',
    label: 'Maximum file size',
    hint: 'Maximum size of the output. The best-looking output of at most this size is returned; if none is that small, the task fails and reports the smallest possible size.',
    ...range('number', 0.0005, 5000, { units: 'MB', default_value: '1' }),
    conditions: when('by_size'),
  },
  {
    name: 'image_compress_resize',
    label: 'Resize',
    hint: 'Scales the image down if it looks better with fewer pixels at the requested file size. Otherwise, all pixels are kept at any loss of quality.',
    ...flag(true),
  },
  strip,
];
