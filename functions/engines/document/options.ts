import type { OptionCondition, OptionDescriptor } from '../../../shared/catalogue/catalogue.ts';
import { background, tiffCompression, withPictureOptions } from '../image/encoding-options.ts';

function only(name: string, value: string, label: string): OptionCondition {
  return { name, required: true, meta: [{ value, label }] };
}

export const password: OptionDescriptor = {
  name: 'password',
  label: 'Password',
  hint: 'Password of the input, if it is password-protected.',
  data_type: 'string',
  properties: { pattern: '[^\\r\\n]{1,127}' },
};

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

export const pageRange: OptionDescriptor = {
  name: 'page_range',
  label: 'Pages',
  hint: 'Pages to convert, such as 1-3,5,8-. Defaults to all pages.',
  data_type: 'string',
  properties: { pattern: '\\d{1,5}(?:-(?:\\d{1,5})?)?(?:,\\d{1,5}(?:-(?:\\d{1,5})?)?){0,99}' },
};

export const pdfA: OptionDescriptor = {
  name: 'pdf_a',
  label: 'PDF/A',
  hint: 'Writes a PDF/A file for long-term archiving (ISO 19005).',
  data_type: 'string',
  default_value: 'none',
  type: 'enum',
  enum_values: [
    { value: 'none', hint: 'Ordinary PDF', label: 'No' },
    { value: '1b', hint: 'PDF/A-1b: the oldest and strictest, without transparency', label: 'PDF/A-1b' },
    { value: '2b', hint: 'PDF/A-2b: with transparency and layers', label: 'PDF/A-2b' },
    { value: '3b', hint: 'PDF/A-3b: may also carry attached files', label: 'PDF/A-3b' },
  ],
};

export const pageSize: OptionDescriptor = {
  name: 'page_size',
  label: 'Page size',
  hint: 'Paper size of the output. Defaults to the page size of the document.',
  data_type: 'string',
  type: 'enum',
  enum_values: [
    { value: 'a3', hint: '297 × 420 mm', label: 'A3' },
    { value: 'a4', hint: '210 × 297 mm', label: 'A4' },
    { value: 'a5', hint: '148 × 210 mm', label: 'A5' },
    { value: 'b5', hint: '176 × 250 mm', label: 'B5' },
    { value: 'letter', hint: '8.5 × 11 in', label: 'Letter' },
    { value: 'legal', hint: '8.5 × 14 in', label: 'Legal' },
    { value: 'tabloid', hint: '11 × 17 in', label: 'Tabloid' },
  ],
};

export const pageOrientation: OptionDescriptor = {
  name: 'page_orientation',
  label: 'Orientation',
  hint: 'Page orientation of the output. Defaults to the orientation of the document.',
  data_type: 'string',
  type: 'enum',
  enum_values: [
    { value: 'portrait', hint: 'Taller than wide', label: 'Portrait' },
    { value: 'landscape', hint: 'Wider than tall', label: 'Landscape' },
  ],
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
  data_type: 'string',
  type: 'enum',
  enum_values: [
    { value: 'comma', hint: ',', label: 'Comma' },
    { value: 'semicolon', hint: ';', label: 'Semicolon' },
    { value: 'tab', hint: 'Tab character', label: 'Tab' },
    { value: 'pipe', hint: '|', label: 'Pipe' },
  ],
};

export const inputEncoding: OptionDescriptor = {
  name: 'input_encoding',
  label: 'Input encoding',
  hint: 'Character encoding of the input. A byte order mark takes precedence.',
  data_type: 'string',
  default_value: 'auto',
  type: 'enum',
  enum_values: [
    { value: 'auto', hint: 'As declared, or detected from the text', label: 'Automatic' },
    ...[
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
    ].map(([value = '', hint = '']) => ({ value, hint })),
  ],
};

export const outputEncoding: OptionDescriptor = {
  name: 'encoding',
  label: 'Encoding',
  hint: 'Character encoding of the output.',
  data_type: 'string',
  default_value: 'utf-8',
  type: 'enum',
  enum_values: [
    { value: 'utf-8', hint: 'Unicode' },
    { value: 'utf-8-bom', hint: 'Unicode with a byte order mark, for Excel' },
    { value: 'utf-16le', hint: 'Unicode, 16-bit, with a byte order mark' },
    { value: 'windows-1252', hint: 'Western European; other characters become question marks' },
  ],
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
  data_type: 'string',
  default_value: 'shown',
  type: 'enum',
  enum_values: [
    { value: 'shown', hint: 'As the cells show them, such as 04/03/2026 or 1,234.50 €', label: 'As shown' },
    {
      value: 'iso',
      hint: 'Dates and times as in ISO 8601, such as 2026-03-04; numbers unformatted',
      label: 'ISO dates',
    },
    { value: 'raw', hint: 'Stored numbers without any format, also of dates, such as 46085', label: 'Raw' },
  ],
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
  data_type: 'string',
  default_value: 'auto',
  type: 'enum',
  enum_values: [
    {
      value: 'auto',
      hint: 'Columns of plain numbers; values such as 01234, +4915112345 and dates stay as written',
      label: 'Automatic',
    },
    { value: 'text', hint: 'None', label: 'Text only' },
    { value: 'detect', hint: 'Whatever looks like a number, a date or a time in English', label: 'Detect all' },
  ],
};

export const compressOptions: OptionDescriptor[] = [
  password,
  {
    name: 'compress_pdf',
    label: 'Method',
    hint: 'Compression method.',
    data_type: 'string',
    default_value: 'by_quality',
    type: 'enum',
    enum_values: [
      { value: 'by_quality', hint: 'By quality preset', label: 'By quality' },
      { value: 'by_percentage', hint: 'To a percentage of the input size', label: 'By percentage' },
      { value: 'by_size', hint: 'To a maximum file size', label: 'By size' },
    ],
  },
  {
    name: 'pdf_compress_quality',
    label: 'Quality',
    hint: 'Quality preset for the intended use.',
    data_type: 'string',
    default_value: 'ebook',
    type: 'enum',
    enum_values: [
      { value: 'screen', hint: 'Smallest: images at 72 dpi', label: 'Screen' },
      { value: 'ebook', hint: 'Small: images at 150 dpi', label: 'E-book' },
      { value: 'printer', hint: 'Good: images at 300 dpi', label: 'Printer' },
      { value: 'prepress', hint: 'Best: images at 300 dpi, colours preserved', label: 'Prepress' },
    ],
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
