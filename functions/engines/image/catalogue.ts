import type { EngineCatalogue, OptionDescriptor } from '../../../shared/catalogue/catalogue.ts';

const size: OptionDescriptor[] = [
  {
    name: 'image_custom_width',
    label: 'Width',
    hint: 'Width of the output. With a height too the image fits within both; alone the height follows the proportions.',
    data_type: 'integer',
    units: 'px',
    properties: { min: 1, max: 16_383 },
  },
  {
    name: 'image_custom_height',
    label: 'Height',
    hint: 'Height of the output. With a width too the image fits within both; alone the width follows the proportions.',
    data_type: 'integer',
    units: 'px',
    properties: { min: 1, max: 16_383 },
  },
];

const strip: OptionDescriptor = {
  name: 'strip',
  label: 'Strip metadata',
  hint: 'Strips profiles, EXIF and comments to reduce size. Colours and orientation stay as they look.',
  data_type: 'boolean',
  default_value: 'true',
};

const quality: OptionDescriptor = {
  name: 'quality',
  label: 'Quality',
  hint: 'Quality of the output: higher looks better and is larger.',
  data_type: 'integer',
  default_value: '80',
  properties: { min: 1, max: 100 },
};

const inputs = ['avif', 'gif', 'jpeg', 'jpg', 'png', 'webp'];

export const catalogue: EngineCatalogue = {
  engine: 'image',
  summary: 'Converts images with libvips',
  resources: { packaging: 'image', memoryMegabytes: 3008, diskMegabytes: 4096, timeoutSeconds: 300, mostAtOnce: 100 },
  formats: [
    { ext: 'avif', mediaType: 'image/avif' },
    { ext: 'gif', mediaType: 'image/gif' },
    { ext: 'jpg', mediaType: 'image/jpeg' },
    { ext: 'jpeg', mediaType: 'image/jpeg', aliasOf: 'jpg' },
    { ext: 'png', mediaType: 'image/png' },
    { ext: 'webp', mediaType: 'image/webp' },
  ],
  capabilities: [
    { operation: 'convert', from: inputs, to: ['avif', 'jpeg', 'jpg', 'webp'], options: [quality, ...size, strip] },
    { operation: 'convert', from: inputs, to: ['gif', 'png'], options: [...size, strip] },
  ],
};
