import type { OptionCondition, OptionDescriptor } from '../../../shared/catalogue/catalogue.ts';
import { defined } from '../../../shared/defined.ts';
import { background, tiffCompression, withPictureOptions } from '../image/encoding-options.ts';
import { pageRange, password } from '../runtime/pdf-options.ts';

/** Describes a string with a list of values, each with its hint and its label. */
function choice(default_value: string | undefined, values: [value: string, hint: string, label?: string][]) {
  const enum_values = values.map(([value, hint, label]) => defined({ value, hint, label }));
  return defined({ data_type: 'string' as const, default_value, type: 'enum' as const, enum_values });
}

function only(name: string, value: string, label: string): OptionCondition {
  return { name, required: true, meta: [{ value, label }] };
}

export const outputPassword: OptionDescriptor = {
  name: 'output_password',
  label: 'Output password',
  hint: 'Password required to open the output.',
  data_type: 'string',
  // An argument file has one argument per line. An argument that starts with @ would name another file.
  properties: { pattern: '[^\\r\\n@-][^\\r\\n]{0,126}' },
};

/** PDF/A files must not be encrypted, so the password is only valid without pdf_a. */
export const pdfPassword: OptionDescriptor = {
  ...outputPassword,
  conditions: [{ name: 'pdf_a', required: false, meta: [{ value: 'none', label: 'Not for archiving' }] }],
};

export const pdfA: OptionDescriptor = {
  name: 'pdf_a',
  label: 'PDF/A',
  hint: 'Writes a PDF/A file for long-term archiving (ISO 19005).',
  ...choice('none', [
    ['none', 'Ordinary PDF', 'No'],
    ['1b', 'PDF/A-1b: the oldest and strictest, without transparency', 'PDF/A-1b'],
    ['2b', 'PDF/A-2b: with transparency and layers', 'PDF/A-2b'],
    ['3b', 'PDF/A-3b: may also carry attached files', 'PDF/A-3b'],
  ]),
};

export const pageSize: OptionDescriptor = {
  name: 'page_size',
  label: 'Page size',
  hint: 'Paper size of the output. Defaults to the page size of the document.',
  ...choice(undefined, [
    ['a3', '297 × 420 mm', 'A3'],
    ['a4', '210 × 297 mm', 'A4'],
    ['a5', '148 × 210 mm', 'A5'],
    ['b5', '176 × 250 mm', 'B5'],
    ['letter', '8.5 × 11 in', 'Letter'],
    ['legal', '8.5 × 14 in', 'Legal'],
    ['tabloid', '11 × 17 in', 'Tabloid'],
  ]),
};

export const pageOrientation: OptionDescriptor = {
  name: 'page_orientation',
  label: 'Orientation',
  hint: 'Page orientation of the output. Defaults to the orientation of the document.',
  ...choice(undefined, [
    ['portrait', 'Taller than wide', 'Portrait'],
    ['landscape', 'Wider than tall', 'Landscape'],
  ]),
};

export const imageQuality: OptionDescriptor = {
  name: 'image_quality',
  label: 'Image quality',
  hint: 'JPEG quality of images in the PDF. Lower values make smaller files.',
  data_type: 'integer',
  default_value: '90',
  properties: { min: 1, max: 100 },
};

export const imageResolution: OptionDescriptor = {
  name: 'image_resolution',
  label: 'Image resolution',
  hint: 'Downsamples images in the PDF to this resolution. By default, images are not downsampled.',
  data_type: 'integer',
  type: 'enum',
  units: 'dpi',
  enum_values: ['75', '150', '300', '600', '1200'].map((value) => ({ value, hint: `${value} dots per inch` })),
};

const imageDpi: OptionDescriptor = {
  name: 'image_dpi',
  label: 'Resolution',
  hint: 'Resolution at which pages are rendered. A larger width, height or percentage raises it, so that pages stay sharp.',
  data_type: 'integer',
  default_value: '150',
  units: 'dpi',
  properties: { min: 20, max: 1200 },
};

const quality: OptionDescriptor = {
  name: 'quality',
  label: 'Quality',
  hint: 'Image quality. Higher values look better and make larger files.',
  data_type: 'integer',
  default_value: '85',
  properties: { min: 1, max: 100 },
};

const paperColour: OptionDescriptor = { ...background, hint: 'Background colour of the page. Defaults to white.' };
const pageTiffCompression: OptionDescriptor = { ...tiffCompression, default_value: 'deflate' };

/** Lists the options of a rendered page. */
export function pictureOptions(format: string): OptionDescriptor[] {
  return withPictureOptions([paperColour, ...(format === 'tiff' ? [pageTiffCompression] : [])], format);
}

/** Lists the options of pages that become images, including vector formats. */
export function imageOptions(format: string): OptionDescriptor[] {
  if (format === 'svg' || format === 'eps') return [pageRange];
  const own = [pageRange, imageDpi, ...(format === 'jpg' || format === 'webp' ? [quality] : [])];
  const names = own.map(({ name }) => name);
  return [...own, ...pictureOptions(format).filter(({ name }) => !names.includes(name))];
}

export const keepLayout: OptionDescriptor = {
  name: 'keep_layout',
  label: 'Keep layout',
  hint: 'Keeps columns and spacing as they are on the page, by spaces. By default, text is in reading order, and a tab separates the cells of a table.',
  data_type: 'boolean',
  default_value: 'false',
};

export const delimiter: OptionDescriptor = {
  name: 'csv_delimiter',
  label: 'Delimiter',
  hint: 'Field delimiter of the CSV file. Defaults to automatic detection for input and a comma for output.',
  ...choice(undefined, [
    ['comma', ',', 'Comma'],
    ['semicolon', ';', 'Semicolon'],
    ['tab', 'Tab character', 'Tab'],
    ['pipe', '|', 'Pipe'],
  ]),
};

export const inputEncoding: OptionDescriptor = {
  name: 'input_encoding',
  label: 'Input encoding',
  hint: 'Character encoding of the input. A byte order mark takes precedence.',
  ...choice('auto', [
    ['auto', 'As declared, or detected from the text', 'Automatic'],
    ['utf-8', 'Unicode'],
    ['utf-16le', 'Unicode, 16-bit'],
    ['utf-16be', 'Unicode, 16-bit, big-endian'],
    ['windows-1252', 'Western European'],
    ['iso-8859-1', 'Western European'],
    ['iso-8859-15', 'Western European'],
    ['macintosh', 'Western European'],
    ['iso-8859-2', 'Central European'],
    ['windows-1250', 'Central European'],
    ['windows-1257', 'Baltic'],
    ['windows-1251', 'Cyrillic'],
    ['koi8-r', 'Cyrillic'],
    ['koi8-u', 'Cyrillic, Ukrainian'],
    ['windows-1253', 'Greek'],
    ['windows-1254', 'Turkish'],
    ['windows-1255', 'Hebrew'],
    ['windows-1256', 'Arabic'],
    ['windows-1258', 'Vietnamese'],
    ['windows-874', 'Thai'],
    ['shift_jis', 'Japanese'],
    ['euc-jp', 'Japanese'],
    ['iso-2022-jp', 'Japanese'],
    ['gbk', 'Chinese, simplified'],
    ['gb18030', 'Chinese, simplified'],
    ['big5', 'Chinese, traditional'],
    ['euc-kr', 'Korean'],
  ]),
};

export const outputEncoding: OptionDescriptor = {
  name: 'encoding',
  label: 'Encoding',
  hint: 'Character encoding of the output.',
  ...choice('utf-8', [
    ['utf-8', 'Unicode'],
    ['utf-8-bom', 'Unicode with a byte order mark, for Excel'],
    ['utf-16le', 'Unicode, 16-bit, with a byte order mark'],
    ['windows-1252', 'Western European; other characters become question marks'],
  ]),
};

const sheet: OptionDescriptor = {
  name: 'sheet',
  label: 'Sheet',
  hint: 'Number of the sheet to convert, starting at 1. By default, each visible sheet with content becomes a separate file.',
  data_type: 'integer',
  properties: { min: 1, max: 10_000 },
};

const firstSheet: OptionDescriptor = {
  ...sheet,
  hint: 'Number of the sheet to convert, starting at 1. Defaults to the first visible sheet with content.',
};

const cellValues: OptionDescriptor = {
  name: 'cell_values',
  label: 'Cell values',
  hint: 'How the values of cells are written.',
  ...choice('shown', [
    ['shown', 'As the cells show them, such as 04/03/2026 or 1,234.50 €', 'As shown'],
    ['iso', 'Dates and times as in ISO 8601, such as 2026-03-04; numbers unformatted', 'ISO dates'],
    ['raw', 'Stored numbers without any format, also of dates, such as 46085', 'Raw'],
  ]),
};

function flag(name: string, label: string, hint: string): OptionDescriptor {
  return { name, label, hint, data_type: 'boolean', default_value: 'false' };
}

/** Options for one sheet of a spreadsheet as a table in another document. */
export const oneSheet = [firstSheet, cellValues];

/** Options for a file for each sheet. */
export const eachSheet = [
  sheet,
  flag('hidden_sheets', 'Hidden sheets', 'Converts hidden sheets, too.'),
  flag('empty_sheets', 'Empty sheets', 'Converts empty sheets, too.'),
];

/** Options for a text file for each sheet. */
export const eachSheetAsText = [...eachSheet, cellValues];

export const columnTypes: OptionDescriptor = {
  name: 'column_types',
  label: 'Column types',
  hint: 'Which values of the text file become numbers.',
  ...choice('auto', [
    ['auto', 'Columns of plain numbers; values such as 01234, +4915112345 and dates stay as written', 'Automatic'],
    ['text', 'None', 'Text only'],
    ['detect', 'Whatever looks like a number, a date or a time in English', 'Detect all'],
  ]),
};

export const compressOptions: OptionDescriptor[] = [
  password,
  {
    name: 'compress_pdf',
    label: 'Method',
    hint: 'Compression method.',
    ...choice('by_quality', [
      ['by_quality', 'By quality preset', 'By quality'],
      ['by_percentage', 'To a percentage of the input size', 'By percentage'],
      ['by_size', 'To a maximum file size', 'By size'],
    ]),
  },
  {
    name: 'pdf_compress_quality',
    label: 'Quality',
    hint: 'Quality preset for the intended use.',
    ...choice('ebook', [
      ['screen', 'Smallest: images at 72 dpi', 'Screen'],
      ['ebook', 'Small: images at 150 dpi', 'E-book'],
      ['printer', 'Good: images at 300 dpi', 'Printer'],
      ['prepress', 'Best: images at 300 dpi, colours preserved', 'Prepress'],
    ]),
    conditions: [{ ...only('compress_pdf', 'by_quality', 'By quality'), required: false }],
  },
  {
    name: 'pdf_compress_percentage',
    label: 'Percentage',
    hint: 'Maximum size of the output as a percentage of the input size.',
    data_type: 'integer',
    default_value: '60',
    units: '%',
    properties: { min: 1, max: 99 },
    conditions: [only('compress_pdf', 'by_percentage', 'By percentage')],
  },
  {
    name: 'pdf_compress_max_filesize',
    label: 'Maximum file size',
    hint: 'Maximum size of the output. If it cannot be met, the task fails and reports the smallest possible size.',
    data_type: 'number',
    default_value: '1',
    units: 'MB',
    properties: { min: 0.001, max: 5000 },
    conditions: [only('compress_pdf', 'by_size', 'By size')],
  },
];

function length(name: string, label: string, hint: string, rest: Partial<OptionDescriptor>): OptionDescriptor {
  return { name, label, hint, data_type: 'number', units: 'pt', properties: { min: 0, max: 14_400 }, ...rest };
}

const sized = { properties: { min: 1, max: 14_400 } };

/** Named as in the other engines; a page has no pixels, so its lengths are points of 1/72 inch. */
export const cropOptions: OptionDescriptor[] = [
  password,
  length('x', 'Left', 'Distance of the crop box from the left edge of the page as displayed.', { default_value: '0' }),
  length('y', 'Top', 'Distance of the crop box from the top edge of the page as displayed.', { default_value: '0' }),
  length('width', 'Width', 'Width of the crop box. By default, it extends to the right edge of the page.', sized),
  length('height', 'Height', 'Height of the crop box. By default, it extends to the bottom edge of the page.', sized),
  { ...pageRange, hint: 'Pages to crop, such as 1-3,5,8-. Defaults to all pages.' },
];
