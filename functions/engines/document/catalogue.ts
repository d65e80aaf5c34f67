import type { Capability, EngineCatalogue, Format, OptionDescriptor } from '../../../shared/catalogue/catalogue.ts';
import { defined } from '../../../shared/defined.ts';
import { spellings as imageSpellings } from '../image/formats.ts';
import { pdfOptions as pdfPageOptions } from '../image/options.ts';
import { language, pageRange, password } from '../runtime/pdf-options.ts';
import { detectDocument } from './detect.ts';
import { markupFormats, type OfficeKind, officeFormat, officeFormats, pageFormats, perSheet } from './formats.ts';
import * as option from './options.ts';
import { components, mergeablePictures, requires } from './requires.ts';
import { imageFormats } from './route.ts';

const formats: Format[] = [...officeFormats.map(bare), ...markupFormats.map(bare), ...pageFormats];

function bare({ ext, mediaType, aliasOf, contents }: Format): Format {
  return defined({ ext, mediaType, aliasOf, contents });
}

/** Formats with their indexes by canonical name. Every capability looks one up whenever a function starts. */
const places = Map.groupBy(formats.entries(), ([, { ext, aliasOf }]) => aliasOf ?? ext);

function spellings(names: readonly string[]): string[] {
  const found = [...new Set(names)].flatMap((name) => places.get(name) ?? []);
  return found.sort(([left], [right]) => left - right).map(([, { ext }]) => ext);
}

const markupOutputs = markupFormats.flatMap(({ ext, writes }) => (writes ? [ext] : []));
/** What the engine `markdown` does not write from documents and books: it reads more of them. */
const otherMarkup = markupOutputs.filter((ext) => ext !== 'md');
/** Markup formats that can represent a sheet as a table. */
const tableOutputs = ['rst', 'tex', 'org', 'mediawiki', 'textile', 'adoc', 'docbook', 'dokuwiki', 'jira', 'docx'];

function outputsOf(kind: OfficeKind): string[] {
  return officeFormats.flatMap((format) => (format.kind === kind && format.writes ? [format.ext] : []));
}

const layout = [option.pageSize, option.pageOrientation];
const pdfOptions = [pageRange, option.pdfA, option.pdfPassword, option.imageQuality, option.imageResolution];

interface Source {
  name: string;
  /** Options for reading it. */
  reading: OptionDescriptor[];
  /** Whether its pages can be reflowed. */
  flows: boolean;
}

function convert(source: Source, to: readonly string[], options: OptionDescriptor[]): Capability[] {
  const others = to.filter((name) => name !== source.name || name === 'pdf');
  if (others.length === 0) return [];
  const known = new Set(source.reading.map(({ name }) => name));
  const added = options.filter(({ name }) => !known.has(name));
  return [
    {
      operation: 'convert',
      from: spellings([source.name]),
      to: spellings(others),
      options: [...source.reading, ...added],
    },
  ];
}

/** Returns the outputs that every source with pages supports. */
function pages(source: Source): Capability[] {
  const own = source.flows ? layout : [];
  return [
    ...convert(source, ['pdf'], [...own, ...pdfOptions]),
    ...imageFormats.flatMap((format) => convert(source, [format], [...own, ...option.imageOptions(format)])),
  ];
}

function protectable(source: Source, to: string[], options: OptionDescriptor[] = []): Capability[] {
  const { able = [], others = [] } = Object.groupBy(to, (name) =>
    officeFormat(name)?.protectable ? 'able' : 'others',
  );
  return [...convert(source, able, [...options, option.outputPassword]), ...convert(source, others, options)];
}

function readingOptions({ ext, container }: { ext: string; container?: string | undefined }): OptionDescriptor[] {
  if (ext === 'csv') return [option.delimiter, option.inputEncoding];
  if (container === 'text' || container === 'html') return [option.inputEncoding];
  return container === 'zip' || container === 'cfb' ? [password] : [];
}

function office(): Capability[] {
  return officeFormats.flatMap((format) => {
    if (!format.reads || format.aliasOf) return [];
    const flows = format.kind === 'text' || format.kind === 'sheet';
    const source: Source = { name: format.ext, reading: readingOptions(format), flows };
    switch (format.kind) {
      case 'text':
        return [...protectable(source, outputsOf('text')), ...convert(source, otherMarkup, []), ...pages(source)];
      case 'sheet': {
        const whole = outputsOf('sheet').filter((name) => !perSheet.includes(name));
        // A text file has one sheet, and its values stay as written.
        const delimited = format.ext === 'csv' || format.ext === 'tsv';
        const asText = delimited ? [] : option.eachSheetAsText;
        return [
          ...protectable(source, [...whole, 'html'], delimited ? [option.columnTypes] : []),
          ...convert(source, ['csv'], [...asText, option.delimiter, option.outputEncoding]),
          ...convert(source, ['tsv'], [...asText, option.outputEncoding]),
          ...convert(source, ['slk'], delimited ? [] : option.eachSheet),
          ...convert(source, tableOutputs, delimited ? [] : option.oneSheet),
          ...pages(source),
        ];
      }
      case 'slides':
        return [
          ...protectable(source, outputsOf('slides')),
          ...convert(source, ['txt'], [pageRange, option.keepLayout]),
          ...convert(source, ['html'], [pageRange]),
          ...pages(source),
        ];
      case 'drawing':
        // A metafile is imported as one picture, not as an editable drawing.
        if (format.ext === 'emf' || format.ext === 'wmf') return pages(source);
        return [
          ...convert(source, outputsOf('drawing'), []),
          ...convert(source, ['txt'], [pageRange, option.keepLayout]),
          ...convert(source, ['html'], [pageRange]),
          ...pages(source),
        ];
      default:
        return [];
    }
  });
}

/** Pairs that pandoc gets wrong: its writer does not find the identifiers of this book format. */
const broken: Record<string, string[]> = { fb2: ['epub'] };

function markup(): Capability[] {
  return markupFormats.flatMap((format) => {
    if (!format.reads || format.aliasOf) return [];
    const reading = format.container === 'text' ? [option.inputEncoding] : [];
    const source: Source = { name: format.ext, reading, flows: true };
    const slides = format.ext === 'md' ? ['pptx'] : [];
    const outputs = [...outputsOf('text'), ...(format.ext === 'epub' ? otherMarkup : markupOutputs), ...slides].filter(
      (name) => !broken[format.ext]?.includes(name),
    );
    return [...convert(source, outputs, []), ...pages(source)];
  });
}

/** Documents whose structure becomes tags. Those of iWork are read as pages. */
function universal(): Capability[] {
  const isRead = ({ reads, aliasOf, container }: (typeof officeFormats)[number] | (typeof markupFormats)[number]) =>
    reads && !aliasOf && container !== 'iwork';
  const found = [...officeFormats.filter(({ kind }) => kind !== 'drawing'), ...markupFormats].filter(isRead);
  return found.map((format) => ({
    operation: 'pdf/ua',
    from: spellings([format.ext]),
    to: ['pdf'],
    options: [...readingOptions(format), language],
  }));
}

const pdf: Source = { name: 'pdf', reading: [password], flows: false };
const postscript: Source = { name: 'ps', reading: [], flows: false };

/** Inputs of merge. The image engine merges pictures and PDFs if there is nothing else, because it starts faster. */
const mergeable = [
  ...spellings([...officeFormats, ...markupFormats].flatMap(({ ext, reads }) => (reads ? [ext] : []))),
  'pdf',
  ...imageSpellings(mergeablePictures),
];

export const catalogue: EngineCatalogue = {
  engine: 'document',
  summary: 'Converts and merges documents with LibreOffice, pandoc, poppler, qpdf and Ghostscript',
  resources: {
    packaging: 'image',
    // Enough for LibreOffice with a large sheet, and for more than two cores to start it.
    memoryMegabytes: 4096,
    // A task produces up to 500 files, and a page as an image takes megabytes.
    diskMegabytes: 8192,
    // Rendering hundreds of pages takes minutes.
    timeoutSeconds: 600,
    typicalSeconds: 3,
    // Five hundred pages of text in a file of one megabyte take minutes at 300 dpi.
    processorTime: { baseSeconds: 300, secondsPerMegabyte: 300 },
    // A twentieth of an account's 1,000 concurrent executions, twice: a worker waits for each engine.
    maxConcurrency: 50,
    splits: true,
  },
  formats,
  capabilities: [
    ...office(),
    ...markup(),
    ...convert(pdf, ['pdf'], [pageRange, option.pdfA, option.pdfPassword]),
    ...imageFormats.flatMap((format) => convert(pdf, [format], option.imageOptions(format))),
    ...convert(pdf, ['eps'], option.imageOptions('eps')),
    ...convert(pdf, ['txt'], [pageRange, option.keepLayout]),
    ...convert(pdf, ['html', 'ps', 'docx', 'odt', 'rtf', 'odg', 'pptx', 'odp'], [pageRange]),
    ...convert(postscript, ['pdf'], [pageRange, option.pdfA, option.pdfPassword]),
    ...imageFormats.flatMap((format) => convert(postscript, [format], option.imageOptions(format))),
    ...convert(postscript, ['txt'], [pageRange, option.keepLayout]),
    ...universal(),
    { operation: 'merge', from: mergeable, to: ['pdf'], options: pdfPageOptions },
    { operation: 'compress', from: ['pdf'], to: ['pdf'], options: option.compressOptions },
    { operation: 'crop', from: ['pdf'], to: ['pdf'], options: option.cropOptions },
  ],
  components,
  requires,
  detect: detectDocument,
};
