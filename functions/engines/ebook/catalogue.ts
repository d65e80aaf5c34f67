import type { EngineCatalogue, Format, OptionDescriptor } from '../../../shared/catalogue/catalogue.ts';
import { detectBook } from './detect.ts';
import { components, requires } from './requires.ts';

const formats: Format[] = [
  { ext: 'epub', mediaType: 'application/epub+zip', contents: ['zip'] },
  { ext: 'mobi', mediaType: 'application/x-mobipocket-ebook' },
  { ext: 'prc', mediaType: 'application/x-mobipocket-ebook', aliasOf: 'mobi' },
  { ext: 'azw', mediaType: 'application/vnd.amazon.ebook', aliasOf: 'mobi' },
  { ext: 'azw3', mediaType: 'application/vnd.amazon.mobi8-ebook', contents: ['mobi'] },
  { ext: 'fb2', mediaType: 'application/x-fictionbook+xml', contents: ['xml'] },
  { ext: 'lit', mediaType: 'application/x-ms-reader' },
  { ext: 'lrf', mediaType: 'application/x-sony-bbeb' },
  { ext: 'pdb', mediaType: 'application/vnd.palm' },
  { ext: 'htmlz', mediaType: 'application/x-htmlz+zip', contents: ['zip'] },
  { ext: 'txtz', mediaType: 'application/x-txtz+zip', contents: ['zip'] },
  {
    ext: 'docx',
    mediaType: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    contents: ['zip'],
  },
  { ext: 'odt', mediaType: 'application/vnd.oasis.opendocument.text', contents: ['zip'] },
  { ext: 'rtf', mediaType: 'application/rtf' },
  { ext: 'txt', mediaType: 'text/plain' },
  { ext: 'pdf', mediaType: 'application/pdf' },
];

const bookFormats = ['epub', 'mobi', 'azw3', 'fb2', 'lit', 'lrf', 'pdb', 'htmlz', 'txtz'];
const documents = ['docx', 'odt', 'rtf', 'txt', 'pdf'];

function spellings(names: string[]): string[] {
  return formats.filter(({ ext, aliasOf }) => names.includes(aliasOf ?? ext)).map(({ ext }) => ext);
}

const metadata: OptionDescriptor[] = [
  {
    name: 'book_title',
    label: 'Title',
    hint: 'Title of the book. Defaults to the title in the input.',
    data_type: 'string',
    properties: { pattern: '[^\\p{Cc}]{1,300}' },
  },
  {
    name: 'book_author',
    label: 'Author',
    hint: 'Author of the book; separate several with &. Defaults to the author in the input.',
    data_type: 'string',
    properties: { pattern: '[^\\p{Cc}]{1,300}' },
  },
];

export const catalogue: EngineCatalogue = {
  engine: 'ebook',
  // Calibre is large and optional. Pairs that the document engine supports too give the same result on every machine.
  precedence: -1,
  summary: 'Converts e-books with Calibre',
  resources: {
    packaging: 'image',
    // Calibre holds a book with its images in memory, and uses one and a half cores.
    memoryMegabytes: 3008,
    // Books are small; comics, which are books of pictures, are unpacked.
    diskMegabytes: 4096,
    // Calibre gets 400 seconds. The rest is for transferring files.
    timeoutSeconds: 600,
    typicalSeconds: 8,
    // Calibre takes a few seconds per megabyte.
    processorTime: { baseSeconds: 300, secondsPerMegabyte: 120 },
    // Few tasks are books.
    maxConcurrency: 20,
  },
  formats,
  capabilities: [
    ...bookFormats.map((from) => ({
      operation: 'convert' as const,
      from: spellings([from]),
      to: spellings([...bookFormats, 'docx', 'txt', 'pdf'].filter((to) => to !== from)),
      options: metadata,
    })),
    { operation: 'convert', from: spellings(documents), to: spellings(bookFormats), options: metadata },
  ],
  components,
  requires,
  detect: detectBook,
};
