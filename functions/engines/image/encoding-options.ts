import type { OptionDescriptor } from '../../../shared/catalogue/catalogue.ts';
import type { OptionValues } from '../../../shared/catalogue/options.ts';
import { type ImageFormat, imageFormat } from './formats.ts';

const largestSide = 16_383;

export const width: OptionDescriptor = {
  name: 'image_custom_width',
  label: 'Width',
  hint: 'Width of the output. Alone, the height follows the proportions; with a height too, fit says how both are met.',
  data_type: 'integer',
  units: 'px',
  properties: { min: 1, max: largestSide },
};

export const height: OptionDescriptor = {
  name: 'image_custom_height',
  label: 'Height',
  hint: 'Height of the output. Alone, the width follows the proportions; with a width too, fit says how both are met.',
  data_type: 'integer',
  units: 'px',
  properties: { min: 1, max: largestSide },
};

const percentage: OptionDescriptor = {
  name: 'image_resize_percentage',
  label: 'Resize',
  hint: 'Scales both sides to this percentage. A width or height given too wins.',
  data_type: 'number',
  units: '%',
  properties: { min: 1, max: 1000 },
};

const fit: OptionDescriptor = {
  name: 'fit',
  label: 'Fit',
  hint: 'How the image meets a width and a height that have other proportions.',
  data_type: 'string',
  default_value: 'max',
  type: 'enum',
  enum_values: [
    { value: 'max', hint: 'Keeps the proportions, as large as fits within both.' },
    { value: 'crop', hint: 'Keeps the proportions, fills both and cuts off what is beyond, around the centre.' },
    { value: 'scale', hint: 'Stretches to exactly both.' },
    { value: 'pad', hint: 'Keeps the proportions and fills the rest with the background.' },
  ],
};

export const background: OptionDescriptor = {
  name: 'background',
  label: 'Background',
  hint: 'Colour put behind transparent parts. Formats without transparency use white when it is left out.',
  data_type: 'string',
  properties: { pattern: '#[0-9A-Fa-f]{6}' },
};

const rotate: OptionDescriptor = {
  name: 'rotate',
  label: 'Rotate',
  hint: 'Turns the image clockwise. Corners that other angles than quarter turns leave open show the background.',
  data_type: 'number',
  units: '°',
  properties: { min: -360, max: 360 },
};

const flip: OptionDescriptor = {
  name: 'flip',
  label: 'Flip',
  hint: 'Mirrors the image, after it was turned.',
  data_type: 'string',
  default_value: 'none',
  type: 'enum',
  enum_values: [
    { value: 'none', hint: 'Not mirrored.' },
    { value: 'horizontal', hint: 'Left becomes right.' },
    { value: 'vertical', hint: 'Top becomes bottom.' },
    { value: 'both', hint: 'Both.' },
  ],
};

/** As in the specification's example. */
export const strip: OptionDescriptor = {
  name: 'strip',
  label: 'Strip metadata',
  hint: 'Strips profiles, EXIF and comments to reduce size.',
  data_type: 'boolean',
  default_value: 'true',
};

export const dpi: OptionDescriptor = {
  name: 'image_dpi',
  label: 'Resolution',
  hint: 'Resolution written into the file for printing. The pixels stay the same.',
  data_type: 'integer',
  units: 'dpi',
  properties: { min: 1, max: 4800 },
};

const quality: OptionDescriptor = {
  name: 'quality',
  label: 'Quality',
  hint: 'Quality of the output: higher looks better and is larger.',
  data_type: 'integer',
  default_value: '80',
  properties: { min: 1, max: 100 },
};

const jpgQuality: OptionDescriptor = {
  name: 'jpg_convert_compression_level',
  label: 'Quality',
  hint: 'Quality of the JPEG: 100 is best and largest. Wins over quality.',
  data_type: 'number',
  properties: { min: 0, max: 100 },
};

const pngLevel: OptionDescriptor = {
  name: 'png_compression_level',
  label: 'Compression',
  hint: 'How hard the PNG is compressed. Only lossy changes how the image looks.',
  data_type: 'string',
  default_value: 'light',
  type: 'enum',
  enum_values: [
    { value: 'none', hint: 'Not compressed: largest, and fastest to open.' },
    { value: 'light', hint: 'Lossless, quick.' },
    { value: 'strong', hint: 'Lossless, smallest, slower.' },
    { value: 'lossy', hint: 'Reduced to at most 256 colours: much smaller.' },
  ],
};

const pngQuality: OptionDescriptor = {
  name: 'png_convert_quality',
  label: 'Quality',
  hint: 'Quality of the reduction of colours: higher looks better and is larger.',
  data_type: 'integer',
  default_value: '80',
  properties: { min: 0, max: 100 },
  conditions: [{ name: 'png_compression_level', required: true, meta: [{ value: 'lossy', label: 'lossy' }] }],
};

const lossless: OptionDescriptor = {
  name: 'lossless',
  label: 'Lossless',
  hint: 'Keeps every pixel exactly; quality then has no effect.',
  data_type: 'boolean',
  default_value: 'false',
};

const progressive: OptionDescriptor = {
  name: 'progressive',
  label: 'Progressive',
  hint: 'Shows the whole image early while it loads.',
  data_type: 'boolean',
  default_value: 'false',
};

export const tiffCompression: OptionDescriptor = {
  name: 'tiff_compression',
  label: 'Compression',
  hint: 'Compression inside the TIFF.',
  data_type: 'string',
  default_value: 'lzw',
  type: 'enum',
  enum_values: [
    { value: 'none', hint: 'Not compressed.' },
    { value: 'lzw', hint: 'Lossless, read everywhere.' },
    { value: 'deflate', hint: 'Lossless, smaller.' },
    { value: 'jpeg', hint: 'Lossy, smallest.' },
  ],
};

function colourSpace(cmyk: boolean): OptionDescriptor {
  return {
    name: 'color_space',
    label: 'Colour space',
    hint: 'Colours of the output.',
    data_type: 'string',
    default_value: 'srgb',
    type: 'enum',
    enum_values: [
      { value: 'srgb', hint: 'Colour, as screens show it.' },
      { value: 'gray', hint: 'Shades of grey.' },
      ...(cmyk ? [{ value: 'cmyk', hint: 'Colour for printing presses.' }] : []),
    ],
  };
}

/** Lists how a picture of a format is encoded, sized and coloured, wherever it comes from. */
export function encodingOptions(target: ImageFormat): OptionDescriptor[] {
  const write = target.write ?? { by: 'magick' };
  const coloured = write.colours !== 'grey' && write.colours !== 'bilevel';
  return [
    ...(write.quality ? [quality] : []),
    ...(target.ext === 'jpg' ? [jpgQuality] : []),
    ...(target.ext === 'png' ? [pngLevel, pngQuality] : []),
    ...(target.ext === 'tiff' ? [tiffCompression] : []),
    ...(write.lossless ? [lossless] : []),
    ...(write.progressive ? [progressive] : []),
    width,
    height,
    percentage,
    fit,
    background,
    rotate,
    flip,
    ...(coloured ? [colourSpace(write.cmyk === true)] : []),
  ];
}

/** A picture that was rendered and not read from a file has no metadata; clients send the option all the same. */
const stripRendered: OptionDescriptor = {
  ...strip,
  hint: 'Strips profiles, EXIF and comments to reduce size. A rendered picture has none, so this changes nothing.',
};

/** Adds the options of the picture that an engine renders to the engine's own, which win where both have a name. */
export function withPictureOptions(own: OptionDescriptor[], ext: string): OptionDescriptor[] {
  const target = imageFormat(ext);
  const names = new Set(own.map(({ name }) => name));
  const added = [...encodingOptions(target), ...(target.write?.density ? [dpi] : []), stripRendered];
  return [...own, ...added.filter(({ name }) => !names.has(name))];
}

/** Options that say how another one is met, and do nothing by themselves. */
const dependent = ['fit', 'strip', 'png_convert_quality'];

/** Says whether options of a picture ask for another one than its renderer writes, which follows some of them itself. */
export function changesPicture(
  options: OptionValues,
  offered: readonly OptionDescriptor[],
  followed: readonly string[],
): boolean {
  return offered.some(({ name, default_value }) => {
    if (followed.includes(name) || dependent.includes(name)) return false;
    // Options come with their defaults filled in, and a default is what the renderer writes.
    return options[name] !== undefined && String(options[name]) !== default_value;
  });
}

/** Says whether options give the picture another size than it is rendered in. */
export function changesSize(options: OptionValues): boolean {
  return [width, height, percentage].some(({ name }) => options[name] !== undefined);
}
