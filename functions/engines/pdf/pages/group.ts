import type { OptionCondition, OptionDescriptor } from '../../../../shared/catalogue/catalogue.ts';
import { password } from '../../runtime/pdf-options.ts';
import { type Group, onPdf } from '../group.ts';
import { rangesPattern } from './ranges.ts';

/** The option for pages, with negative numbers from the end. */
export const pageList: OptionDescriptor = {
  name: 'page_range',
  label: 'Pages',
  hint: 'Pages, such as 1-3,7,-1. Negative numbers count from the end, and odd and even are every other page. Defaults to all pages.',
  data_type: 'string',
  properties: { pattern: rangesPattern, maxLength: 4096 },
};

const angle: OptionDescriptor = {
  name: 'angle',
  label: 'Angle',
  hint: 'Degrees by which pages are turned clockwise from how they are displayed.',
  data_type: 'integer',
  default_value: '90',
  type: 'enum',
  enum_values: [
    { value: '90', hint: 'A quarter turn to the right' },
    { value: '180', hint: 'Upside down' },
    { value: '270', hint: 'A quarter turn to the left' },
  ],
};

/** Holds for a mode; that of the default also holds if no mode is given. */
const inMode = (value: string, label: string, required = true): OptionCondition[] => [
  { name: 'mode', required, meta: [{ value, label }] },
];

const splitting: OptionDescriptor[] = [
  {
    name: 'mode',
    label: 'Split',
    hint: 'Where a new file starts.',
    data_type: 'string',
    default_value: 'pages',
    type: 'enum',
    enum_values: [
      { value: 'pages', label: 'Every N pages', hint: 'After a number of pages' },
      { value: 'ranges', label: 'By ranges', hint: 'A file for each range' },
      { value: 'bookmarks', label: 'By bookmarks', hint: 'At each bookmark of the first level' },
      { value: 'size', label: 'By size', hint: 'As many pages as fit into a size' },
    ],
  },
  {
    name: 'pages_per_file',
    label: 'Pages per file',
    hint: 'Number of pages of each file.',
    data_type: 'integer',
    default_value: '1',
    properties: { min: 1, max: 5_000 },
    conditions: inMode('pages', 'Every N pages', false),
  },
  {
    name: 'ranges',
    label: 'Ranges',
    hint: 'Pages of each file, such as 1-3,7,-1 for three files. Negative numbers count from the end.',
    data_type: 'string',
    properties: { pattern: rangesPattern, maxLength: 4096 },
    conditions: inMode('ranges', 'By ranges'),
  },
  {
    name: 'max_size',
    label: 'Maximum size',
    hint: 'Maximum size of each file. A page that is larger alone is a file with a warning.',
    data_type: 'integer',
    units: 'bytes',
    properties: { min: 1_000, max: 10_000_000_000 },
    conditions: inMode('size', 'By size'),
  },
  {
    name: 'name_pattern',
    label: 'File names',
    hint: 'Names without extension, with {name} of the input, {n} of the file, {first} and {last} page, and {title} of the bookmark. Defaults to {name}-{n}, or {n}-{title} by bookmarks.',
    data_type: 'string',
    properties: { maxLength: 200 },
  },
];

const reordering: OptionDescriptor[] = [
  {
    name: 'order',
    label: 'Order',
    hint: 'Pages in their new order, such as 3,1,2 or 5-8,1, or reverse. A page may be listed several times.',
    data_type: 'string',
    default_value: 'reverse',
    properties: { pattern: `reverse|${rangesPattern}`, maxLength: 4096 },
  },
  {
    name: 'rest',
    label: 'Other pages',
    hint: 'What happens to pages that are not in the list.',
    data_type: 'string',
    default_value: 'append',
    type: 'enum',
    enum_values: [
      { value: 'append', hint: 'They follow in their old order' },
      { value: 'drop', hint: 'They are left out' },
    ],
  },
];

/** Operations on the pages of a PDF as they are. */
export const pages: Group = {
  capabilities: [
    onPdf('pdf/split', [password, ...splitting]),
    onPdf('pdf/extract', [
      password,
      { ...pageList, hint: 'Pages in the order of the output, such as 1-3,7,-1. Negative numbers count from the end.' },
    ]),
    onPdf('pdf/rotate', [password, pageList, angle]),
    onPdf('pdf/reorder', [password, ...reordering]),
  ],
};
