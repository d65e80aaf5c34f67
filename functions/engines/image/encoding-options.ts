import type { OptionDescriptor } from '../../../shared/catalogue/catalogue.ts';
import type { OptionValues } from '../../../shared/catalogue/options.ts';
import { type ImageFormat, imageFormat } from './formats.ts';

const maxSide = 16_383;

/** Describes a number within limits. */
export function range(
  data_type: 'integer' | 'number',
  min: number,
  max: number,
  more: Pick<OptionDescriptor, 'units' | 'default_value'> = {},
) {
  return { data_type, ...more, properties: { min, max } };
}

/** Describes one of several values. */
export function choice(default_value: string, enum_values: { value: string; hint: string }[]) {
  return { data_type: 'string', default_value, type: 'enum', enum_values } as const;
}

/** Describes a switch. */
export function flag(isOn: boolean) {
  return { data_type: 'boolean', default_value: String(isOn) } as const;
}

export const width: OptionDescriptor = {
  name: 'image_custom_width',
  label: 'Width',
  hint: 'Width of the output. Without a height, the aspect ratio is kept; with one, fit determines how the image is resized.',
  ...range('integer', 1, maxSide, { units: 'px' }),
};

export const height: OptionDescriptor = {
  name: 'image_custom_height',
  label: 'Height',
  hint: 'Height of the output. Without a width, the aspect ratio is kept; with one, fit determines how the image is resized.',
  ...range('integer', 1, maxSide, { units: 'px' }),
};

const percentage: OptionDescriptor = {
  name: 'image_resize_percentage',
  label: 'Resize',
  hint: 'Scales both sides to this percentage. Ignored if a width or height is given.',
  ...range('number', 1, 1000, { units: '%' }),
};

const fit: OptionDescriptor = {
  name: 'fit',
  label: 'Fit',
  hint: 'How the image is resized to a width and height with a different aspect ratio.',
  ...choice('max', [
    { value: 'max', hint: 'Keeps the aspect ratio and fits within both.' },
    { value: 'crop', hint: 'Keeps the aspect ratio, fills both and crops the excess around the centre.' },
    { value: 'scale', hint: 'Stretches to exactly this size.' },
    { value: 'pad', hint: 'Keeps the aspect ratio and pads with the background colour.' },
  ]),
};

export const background: OptionDescriptor = {
  name: 'background',
  label: 'Background',
  hint: 'Background colour for transparent areas. Defaults to white for formats without transparency.',
  data_type: 'string',
  properties: { pattern: '#[0-9A-Fa-f]{6}' },
};

const rotate: OptionDescriptor = {
  name: 'rotate',
  label: 'Rotate',
  hint: 'Rotates the image clockwise. At angles other than multiples of 90°, the corners show the background colour.',
  data_type: 'number',
  units: '°',
  properties: { min: -360, max: 360 },
};

const flip: OptionDescriptor = {
  name: 'flip',
  label: 'Flip',
  hint: 'Mirrors the image after any rotation.',
  ...choice('none', [
    { value: 'none', hint: 'No mirroring.' },
    { value: 'horizontal', hint: 'Swaps left and right.' },
    { value: 'vertical', hint: 'Swaps top and bottom.' },
    { value: 'both', hint: 'Both directions.' },
  ]),
};

/** As in the specification's example. */
export const strip: OptionDescriptor = {
  name: 'strip',
  label: 'Strip metadata',
  hint: 'Strips profiles, EXIF and comments to reduce size.',
  ...flag(true),
};

export const dpi: OptionDescriptor = {
  name: 'image_dpi',
  label: 'Resolution',
  hint: 'Print resolution stored in the file. The pixels do not change.',
  ...range('integer', 1, 4800, { units: 'dpi' }),
};

export const quality: OptionDescriptor = {
  name: 'quality',
  label: 'Quality',
  hint: 'Quality of the output. Higher values look better and make larger files.',
  ...range('integer', 1, 100, { default_value: '80' }),
};

const jpgQuality: OptionDescriptor = {
  name: 'jpg_convert_compression_level',
  label: 'Quality',
  hint: 'JPEG quality: 100 is best and largest. Overrides quality.',
  ...range('number', 0, 100),
};

const pngLevel: OptionDescriptor = {
  name: 'png_compression_level',
  label: 'Compression',
  hint: 'PNG compression. Only lossy changes how the image looks.',
  ...choice('light', [
    { value: 'none', hint: 'No compression: largest, and fastest to open.' },
    { value: 'light', hint: 'Lossless, fast.' },
    { value: 'strong', hint: 'Lossless, smallest, slower.' },
    { value: 'lossy', hint: 'Reduced to at most 256 colours: much smaller.' },
  ]),
};

const pngQuality: OptionDescriptor = {
  name: 'png_convert_quality',
  label: 'Quality',
  hint: 'Quality of the colour reduction. Higher values look better and make larger files.',
  ...range('integer', 0, 100, { default_value: '80' }),
  conditions: [{ name: 'png_compression_level', required: true, meta: [{ value: 'lossy', label: 'lossy' }] }],
};

const lossless: OptionDescriptor = {
  name: 'lossless',
  label: 'Lossless',
  hint: 'Keeps every pixel exactly; quality then has no effect.',
  ...flag(false),
};

const progressive: OptionDescriptor = {
  name: 'progressive',
  label: 'Progressive',
  hint: 'Writes a progressive image, which is displayed early while it loads.',
  ...flag(false),
};

const icoSizes: OptionDescriptor = {
  name: 'ico_sizes',
  label: 'Sizes',
  hint: 'Sizes of the icon, separated by commas, such as 16,32,48. Defaults to 16, 24, 32, 48, 64, 128 and 256, as far as the image is that large.',
  data_type: 'string',
  units: 'px',
  properties: { pattern: '[0-9]{1,3}(,[0-9]{1,3}){0,19}' },
};

export const tiffCompression: OptionDescriptor = {
  name: 'tiff_compression',
  label: 'Compression',
  hint: 'Compression of the TIFF data.',
  ...choice('lzw', [
    { value: 'none', hint: 'No compression.' },
    { value: 'lzw', hint: 'Lossless, supported everywhere.' },
    { value: 'deflate', hint: 'Lossless, smaller.' },
    { value: 'jpeg', hint: 'Lossy, smallest.' },
  ]),
};

function colourSpace(cmyk: boolean): OptionDescriptor {
  return {
    name: 'color_space',
    label: 'Colour space',
    hint: 'Colour space of the output.',
    ...choice('srgb', [
      { value: 'srgb', hint: 'RGB colour for screens.' },
      { value: 'gray', hint: 'Greyscale.' },
      ...(cmyk ? [{ value: 'cmyk', hint: 'CMYK colour for print.' }] : []),
    ]),
  };
}

/** Lists the options that encode, resize and recolour an image of a format. */
export function encodingOptions(target: ImageFormat): OptionDescriptor[] {
  const write = target.write ?? { by: 'magick' };
  const coloured = write.colours !== 'grey' && write.colours !== 'bilevel';
  return [
    ...(write.quality ? [quality] : []),
    ...(target.ext === 'jpg' ? [jpgQuality] : []),
    ...(target.ext === 'png' ? [pngLevel, pngQuality] : []),
    ...(target.ext === 'tiff' ? [tiffCompression] : []),
    ...(target.ext === 'ico' ? [icoSizes] : []),
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

/** Accepted for compatibility with clients: a rendered image has no metadata. */
const stripRendered: OptionDescriptor = {
  ...strip,
  hint: 'Strips profiles, EXIF and comments to reduce size. A rendered image has none, so this has no effect.',
};

/** Adds the options of a rendered image to an engine's own, which take precedence. */
export function withPictureOptions(own: OptionDescriptor[], ext: string): OptionDescriptor[] {
  const target = imageFormat(ext);
  const names = new Set(own.map(({ name }) => name));
  const added = [...encodingOptions(target), ...(target.write?.density ? [dpi] : []), stripRendered];
  return [...own, ...added.filter(({ name }) => !names.has(name))];
}

/** Options that only modify another option. */
const dependent = ['fit', 'strip', 'png_convert_quality'];

/** Returns whether the options require processing after rendering; the renderer applies some of them itself. */
export function changesPicture(
  options: OptionValues,
  offered: readonly OptionDescriptor[],
  followed: readonly string[],
): boolean {
  return offered.some(({ name, default_value }) => {
    if (followed.includes(name) || dependent.includes(name)) return false;
    // Defaults are filled in, and the renderer already applies them.
    return options[name] !== undefined && String(options[name]) !== default_value;
  });
}

/** Returns whether the options resize the rendered image. */
export function changesSize(options: OptionValues): boolean {
  return [width, height, percentage].some(({ name }) => options[name] !== undefined);
}
