import type { OptionCondition, OptionDescriptor } from '../../../shared/catalogue/catalogue.ts';
import { background, tiffCompression, withPictureOptions } from '../image/encoding-options.ts';

function only(name: string, value: string, label: string): OptionCondition {
  return { name, required: true, meta: [{ value, label }] };
}

export const password: OptionDescriptor = {
  name: 'password',
  label: 'Password',
  hint: 'Password that opens the input, if it is protected by one.',
  data_type: 'string',
  properties: { pattern: '[^\\r\\n]{1,127}' },
};

export const outputPassword: OptionDescriptor = {
  name: 'output_password',
  label: 'Password to set',
  hint: 'Password that will be needed to open the output.',
  data_type: 'string',
  // An argument file holds one argument a line, and one that starts with @ would name another.
  properties: { pattern: '[^\\r\\n@-][^\\r\\n]{0,126}' },
};

/** A PDF for archives may not be encrypted, so its password goes only with none of the archive parts. */
export const pdfPassword: OptionDescriptor = {
  ...outputPassword,
  conditions: [{ name: 'pdf_a', required: false, meta: [{ value: 'none', label: 'Not for archiving' }] }],
};

export const pageRange: OptionDescriptor = {
  name: 'page_range',
  label: 'Pages',
  hint: 'Pages to convert, such as 1-3,5,8-; all when left out.',
  data_type: 'string',
  properties: { pattern: '\\d{1,5}(?:-(?:\\d{1,5})?)?(?:,\\d{1,5}(?:-(?:\\d{1,5})?)?){0,99}' },
};

export const pdfA: OptionDescriptor = {
  name: 'pdf_a',
  label: 'PDF/A',
  hint: 'Writes a PDF for long-term archiving, by the part of ISO 19005 chosen.',
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
  hint: 'Paper to lay the document out on; its own when left out.',
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
  hint: 'Which way the pages are laid out; as in the document when left out.',
  data_type: 'string',
  type: 'enum',
  enum_values: [
    { value: 'portrait', hint: 'Taller than wide', label: 'Portrait' },
    { value: 'landscape', hint: 'Wider than tall', label: 'Landscape' },
  ],
};

export const imageQuality: OptionDescriptor = {
  name: 'image_quality',
  label: 'Quality of pictures',
  hint: 'JPEG quality of the pictures inside the PDF: lower is smaller.',
  data_type: 'integer',
  default_value: '90',
  properties: { min: 1, max: 100 },
};

export const imageResolution: OptionDescriptor = {
  name: 'image_resolution',
  label: 'Resolution of pictures',
  hint: 'Pictures inside the PDF are reduced to this resolution; they stay as they are when left out.',
  data_type: 'integer',
  type: 'enum',
  units: 'dpi',
  enum_values: ['75', '150', '300', '600', '1200'].map((value) => ({ value, hint: `${value} dots per inch` })),
};

const imageDpi: OptionDescriptor = {
  name: 'image_dpi',
  label: 'Resolution',
  hint: 'Resolution at which pages are drawn. For a larger width, height or percentage they are drawn larger, so that they stay sharp.',
  data_type: 'integer',
  default_value: '150',
  units: 'dpi',
  properties: { min: 20, max: 1200 },
};

const quality: OptionDescriptor = {
  name: 'quality',
  label: 'Quality',
  hint: 'Quality of the pictures: higher looks better and is larger.',
  data_type: 'integer',
  default_value: '85',
  properties: { min: 1, max: 100 },
};

const paperColour: OptionDescriptor = { ...background, hint: 'Colour of the paper; white when it is left out.' };
const pageTiffCompression: OptionDescriptor = { ...tiffCompression, default_value: 'deflate' };

/** Lists the options of a page's picture, whatever page it is of. */
export function pictureOptions(format: string): OptionDescriptor[] {
  return withPictureOptions([paperColour, ...(format === 'tiff' ? [pageTiffCompression] : [])], format);
}

/** Lists the options of pages that become pictures, drawings among them. */
export function imageOptions(format: string): OptionDescriptor[] {
  if (format === 'svg' || format === 'eps') return [pageRange];
  const own = [pageRange, imageDpi, ...(format === 'jpg' || format === 'webp' ? [quality] : [])];
  const names = own.map(({ name }) => name);
  return [...own, ...pictureOptions(format).filter(({ name }) => !names.includes(name))];
}

export const keepLayout: OptionDescriptor = {
  name: 'keep_layout',
  label: 'Keep layout',
  hint: 'Keeps columns and spacing as they stand on the page instead of the order in which it is read.',
  data_type: 'boolean',
  default_value: 'false',
};

export const delimiter: OptionDescriptor = {
  name: 'csv_delimiter',
  label: 'Delimiter',
  hint: 'What separates the fields of the csv; found out from the file when it is read, a comma when it is written.',
  data_type: 'string',
  type: 'enum',
  enum_values: [
    { value: 'comma', hint: ',', label: 'Comma' },
    { value: 'semicolon', hint: ';', label: 'Semicolon' },
    { value: 'tab', hint: 'Tabulator', label: 'Tab' },
    { value: 'pipe', hint: '|', label: 'Pipe' },
  ],
};

export const inputEncoding: OptionDescriptor = {
  name: 'encoding',
  label: 'Encoding',
  hint: 'Encoding of the text in the input.',
  data_type: 'string',
  default_value: 'auto',
  type: 'enum',
  enum_values: [
    { value: 'auto', hint: 'Found out: UTF-8 and UTF-16 by themselves, else Western European', label: 'Automatic' },
    ...[
      ['utf-8', 'Unicode'],
      ['utf-16le', 'Unicode, 16 bit'],
      ['windows-1252', 'Western European'],
      ['iso-8859-2', 'Central European'],
      ['windows-1250', 'Central European'],
      ['windows-1251', 'Cyrillic'],
      ['koi8-r', 'Cyrillic'],
      ['windows-1253', 'Greek'],
      ['windows-1254', 'Turkish'],
      ['windows-1255', 'Hebrew'],
      ['windows-1256', 'Arabic'],
      ['shift_jis', 'Japanese'],
      ['euc-jp', 'Japanese'],
      ['gb18030', 'Chinese, simplified'],
      ['big5', 'Chinese, traditional'],
      ['euc-kr', 'Korean'],
    ].map(([value = '', hint = '']) => ({ value, hint })),
  ],
};

export const outputEncoding: OptionDescriptor = {
  name: 'encoding',
  label: 'Encoding',
  hint: 'Encoding of the text in the output.',
  data_type: 'string',
  default_value: 'utf-8',
  type: 'enum',
  enum_values: [
    { value: 'utf-8', hint: 'Unicode, for every script' },
    { value: 'utf-8-bom', hint: 'Unicode with the mark by which Excel knows it' },
    { value: 'utf-16le', hint: 'Unicode, 16 bit, with its mark' },
    { value: 'windows-1252', hint: 'Western European; other letters become question marks' },
  ],
};

export const sheet: OptionDescriptor = {
  name: 'sheet',
  label: 'Sheet',
  hint: 'Number of the sheet to convert, from 1; each sheet gives a file of its own when left out.',
  data_type: 'integer',
  properties: { min: 1, max: 10_000 },
};

export const firstSheet: OptionDescriptor = {
  ...sheet,
  hint: 'Number of the sheet to convert, from 1.',
  default_value: '1',
};

export const compressOptions: OptionDescriptor[] = [
  password,
  {
    name: 'compress_pdf',
    label: 'Method',
    hint: 'What decides how small the file becomes.',
    data_type: 'string',
    default_value: 'by_quality',
    type: 'enum',
    enum_values: [
      { value: 'by_quality', hint: 'By a quality for a purpose', label: 'By quality' },
      { value: 'by_percentage', hint: 'To a share of the present size', label: 'By percentage' },
      { value: 'by_size', hint: 'To a size that the file will not exceed', label: 'By size' },
    ],
  },
  {
    name: 'pdf_compress_quality',
    label: 'Quality',
    hint: 'What the file is for.',
    data_type: 'string',
    default_value: 'ebook',
    type: 'enum',
    enum_values: [
      { value: 'screen', hint: 'Smallest: pictures at 72 dpi', label: 'Screen' },
      { value: 'ebook', hint: 'Small: pictures at 150 dpi', label: 'E-book' },
      { value: 'printer', hint: 'Good: pictures at 300 dpi', label: 'Printer' },
      { value: 'prepress', hint: 'Best: pictures at 300 dpi, colours kept', label: 'Prepress' },
    ],
    conditions: [{ ...only('compress_pdf', 'by_quality', 'By quality'), required: false }],
  },
  {
    name: 'pdf_compress_percentage',
    label: 'Share of the size',
    hint: 'Size of the output as a percentage of the input: the best quality that is no larger.',
    data_type: 'integer',
    default_value: '60',
    units: '%',
    properties: { min: 1, max: 99 },
    conditions: [only('compress_pdf', 'by_percentage', 'By percentage')],
  },
  {
    name: 'pdf_compress_max_filesize',
    label: 'Largest size',
    hint: 'Size that the output will not exceed; the task fails with the smallest reachable size where it cannot be met.',
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
  length('x', 'Left', 'Distance of the box from the left of the page as it is shown.', { default_value: '0' }),
  length('y', 'Top', 'Distance of the box from the top of the page as it is shown.', { default_value: '0' }),
  length('width', 'Width', 'Width of the box. When left out it goes to the right edge of the page.', sized),
  length('height', 'Height', 'Height of the box. When left out it goes to the bottom of the page.', sized),
  { ...pageRange, hint: 'Pages to crop, such as 1-3,5,8-; all when left out.' },
];
