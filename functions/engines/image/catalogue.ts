import type { Capability, EngineCatalogue, Format } from '../../../shared/catalogue/catalogue.ts';
import { defined } from '../../../shared/defined.ts';
import { detect } from './detect.ts';
import { type ImageFormat, imageFormats, isDrawing, type Reading, spellings } from './formats.ts';
import { compressOptions, convertOptions, cropOptions, mergeGifOptions, page, pdfOptions } from './options.ts';
import { components, requires } from './requires.ts';

const vectors = imageFormats.filter(({ ext }) => isDrawing(ext));
const rasters = imageFormats.filter((format) => format.read && !vectors.includes(format));
const readable = [...rasters, ...vectors];
const writable = imageFormats.filter((format) => format.write);
const written = (...exts: string[]) => spellings(writable.filter(({ ext }) => exts.includes(ext)));

/** Formats offered for crop and compress in addition to the input's own. */
const common = ['jpg', 'png', 'webp', 'gif', 'avif', 'tiff', 'bmp'];
const compressible = ['jpg', 'png', 'webp', 'gif', 'avif'];

function holdsSeveral(read: Reading | undefined): boolean {
  return read !== undefined && 'several' in read && read.several !== undefined;
}

const convert = writable.flatMap((target): Capability[] => {
  const to = spellings([target]);
  if (target.ext === 'pdf') {
    const paged = readable.filter(
      ({ read }) => read?.by === 'ghostscript' || read?.by === 'apng' || holdsSeveral(read),
    );
    const single = readable.filter((format) => !paged.includes(format));
    return [
      { operation: 'convert', from: spellings(single), to, options: pdfOptions },
      { operation: 'convert', from: spellings(paged), to, options: [...pdfOptions, page] },
    ];
  }
  return [
    { operation: 'convert', from: spellings(rasters), to, options: convertOptions(target, 'raster') },
    { operation: 'convert', from: spellings(vectors), to, options: convertOptions(target, 'vector') },
  ];
});

const cropToSelf = rasters
  .filter(({ ext, write }) => write && !common.includes(ext))
  .map((format): Capability => {
    const names = spellings([format]);
    return { operation: 'crop', from: names, to: names, options: cropOptions };
  });

export const catalogue: EngineCatalogue = {
  engine: 'image',
  // It offers more options for rendering PostScript than the document engine.
  precedence: 1,
  summary: 'Converts, compresses, merges and crops images with libvips and ImageMagick',
  resources: {
    packaging: 'image',
    // Holds the largest accepted pictures decoded. AVIF and WebP encoders use two cores and more.
    memoryMegabytes: 4096,
    // Enough for inputs of 2 GiB, which exceeds photographs, albums and scans.
    diskMegabytes: 4096,
    // Encoding the largest pictures as AVIF takes minutes.
    timeoutSeconds: 300,
    typicalSeconds: 0.5,
    // A small file may hold a huge single-colour picture, which takes minutes as AVIF.
    processorTime: { baseSeconds: 600, secondsPerMegabyte: 100 },
    // Most tasks convert images.
    maxConcurrency: 100,
  },
  formats: imageFormats.flatMap(toFormats),
  capabilities: [
    ...convert,
    { operation: 'compress', from: written(...compressible), to: written(...compressible), options: compressOptions },
    { operation: 'merge', from: [...spellings(readable), 'pdf'], to: ['pdf'], options: pdfOptions },
    { operation: 'merge', from: [...spellings(readable), 'pdf'], to: ['gif'], options: mergeGifOptions },
    { operation: 'crop', from: spellings(rasters), to: written(...common), options: cropOptions },
    ...cropToSelf,
  ],
  components,
  requires,
  detect,
};

function toFormats({ ext, mediaType, aliases = [], contents }: ImageFormat): Format[] {
  return [
    defined({ ext, mediaType, contents }),
    ...aliases.map((alias): Format => ({ ext: alias, mediaType, aliasOf: ext })),
  ];
}
