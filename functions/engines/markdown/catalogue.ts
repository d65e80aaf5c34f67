import type { Capability, EngineCatalogue, OptionDescriptor } from '../../../shared/catalogue/catalogue.ts';
import { officeFormat } from '../document/formats.ts';
import { delimiter, inputEncoding } from '../document/options.ts';
import { pageRange, password } from '../runtime/pdf-options.ts';
import { components } from './components.ts';
import { formats, pictureFormats, readable } from './formats.ts';
import { images, languages, pageMarkers, sheetOptions } from './options.ts';
import { requires } from './requires.ts';

function convert(from: string, options: OptionDescriptor[]): Capability {
  const spellings = formats.filter(({ ext, aliasOf }) => (aliasOf ?? ext) === from).map(({ ext }) => ext);
  return { operation: 'convert', from: spellings, to: ['md', 'markdown', 'json'], options };
}

function reading(ext: string): OptionDescriptor[] {
  const container = officeFormat(ext)?.container;
  if (ext === 'csv') return [delimiter, inputEncoding];
  if (container === 'text' || container === 'html') return [inputEncoding];
  return container === 'zip' || container === 'cfb' ? [password] : [];
}

function office(): Capability[] {
  return readable.flatMap(({ ext, aliasOf, kind }) => {
    if (aliasOf) return [];
    const isText = ext === 'csv' || ext === 'tsv' || ext === 'txt';
    const own = kind === 'sheet' && !isText ? sheetOptions : [];
    return [convert(ext, [...reading(ext), ...own, ...(isText ? [] : [images, pageMarkers])])];
  });
}

export const catalogue: EngineCatalogue = {
  engine: 'markdown',
  worker: 'document',
  summary: 'Converts documents to Markdown and JSON',
  resources: {
    packaging: 'image',
    // Enough for LibreOffice with a large sheet.
    memoryMegabytes: 4096,
    diskMegabytes: 4096,
    timeoutSeconds: 600,
    typicalSeconds: 2,
    processorTime: { baseSeconds: 300, secondsPerMegabyte: 300 },
    maxConcurrency: 50,
  },
  formats,
  capabilities: [
    ...office(),
    convert('epub', [images]),
    convert('pdf', [pageRange, password, images, pageMarkers, languages]),
    ...pictureFormats.map(({ ext }) => convert(ext, [languages, pageMarkers])),
  ],
  components,
  requires,
};
