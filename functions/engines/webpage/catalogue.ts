import type { EngineCatalogue, OptionDescriptor } from '../../../shared/catalogue/catalogue.ts';
import { background, withPictureOptions } from '../image/encoding-options.ts';
import { components, requires } from './requires.ts';

const loading: OptionDescriptor[] = [
  {
    name: 'wait_until',
    label: 'Wait until',
    hint: 'When the page counts as loaded.',
    data_type: 'string',
    type: 'enum',
    default_value: 'load',
    enum_values: [
      { value: 'domcontentloaded', hint: 'The HTML is there; images and fonts may still be on their way.' },
      { value: 'load', hint: 'Everything the HTML names is there.' },
      { value: 'networkidle2', hint: 'No more than two requests for half a second.' },
      { value: 'networkidle0', hint: 'No request for half a second.' },
    ],
  },
  {
    name: 'initial_delay',
    label: 'Delay',
    hint: 'How long to wait after loading, for pages that go on building themselves.',
    data_type: 'number',
    default_value: '0',
    units: 's',
    properties: { min: 0, max: 30 },
  },
  {
    name: 'hide_cookie',
    label: 'Hide cookie banners',
    hint: 'Takes away the usual consent banners and the veil behind them.',
    data_type: 'boolean',
    default_value: 'true',
  },
  {
    name: 'use_print_stylesheet',
    label: 'Print style sheet',
    hint: 'Lays the page out as its author meant it for paper instead of for the screen.',
    data_type: 'boolean',
    default_value: 'false',
  },
];

const viewport: OptionDescriptor[] = [
  {
    name: 'viewport_width',
    label: 'Width of the window',
    hint: 'Width of the browser window that the page is laid out for.',
    data_type: 'integer',
    default_value: '1440',
    units: 'px',
    properties: { min: 200, max: 7680 },
  },
  {
    name: 'viewport_height',
    label: 'Height of the window',
    hint: 'Height of the browser window; the height of the picture when full_page is false.',
    data_type: 'integer',
    default_value: '900',
    units: 'px',
    properties: { min: 200, max: 7680 },
  },
  {
    name: 'full_page',
    label: 'Whole page',
    hint: 'Takes the whole page, not only what the window shows.',
    data_type: 'boolean',
    default_value: 'true',
  },
  {
    name: 'scale',
    label: 'Scale',
    hint: 'Pixels of the picture for each pixel of the page: 2 is as sharp as on a high-resolution screen.',
    data_type: 'number',
    default_value: '1',
    properties: { min: 0.25, max: 4 },
  },
];

const quality: OptionDescriptor = {
  name: 'quality',
  label: 'Quality',
  hint: 'Quality of the output: higher looks better and is larger.',
  data_type: 'integer',
  default_value: '90',
  properties: { min: 1, max: 100 },
};

const behind: OptionDescriptor = {
  ...background,
  hint: 'Colour shown where the page itself paints nothing; white when it is left out.',
};

const paper: OptionDescriptor[] = [
  {
    name: 'page_size',
    label: 'Page size',
    hint: 'Size of the paper. Left out, it is what the print style sheet says where that is used, and A4 otherwise.',
    data_type: 'string',
    type: 'enum',
    enum_values: ['A0', 'A1', 'A2', 'A3', 'A4', 'A5', 'A6', 'Letter', 'Legal', 'Tabloid', 'Ledger'].map((value) => ({
      value,
      hint: `${value} paper`,
    })),
  },
  {
    name: 'page_orientation',
    label: 'Orientation',
    hint: 'Which way round the paper is.',
    data_type: 'string',
    type: 'enum',
    default_value: 'portrait',
    enum_values: [
      { value: 'portrait', hint: 'Higher than wide' },
      { value: 'landscape', hint: 'Wider than high' },
    ],
  },
  {
    name: 'margin',
    label: 'Margin',
    hint: 'Empty border on each side of the paper.',
    data_type: 'number',
    default_value: '10',
    units: 'mm',
    properties: { min: 0, max: 100 },
  },
  {
    name: 'viewport_width',
    label: 'Width of the window',
    hint: 'Lays the page out for a window of this width and scales it to the paper. Left out, the page is laid out for the paper, as printing does.',
    data_type: 'integer',
    units: 'px',
    properties: { min: 200, max: 7680 },
  },
  {
    name: 'viewport_height',
    label: 'Height of the window',
    hint: 'Height of the browser window while the page loads.',
    data_type: 'integer',
    default_value: '900',
    units: 'px',
    properties: { min: 200, max: 7680 },
  },
  {
    name: 'scale',
    label: 'Scale',
    hint: 'Size of the page on the paper; without effect together with viewport_width.',
    data_type: 'number',
    default_value: '1',
    properties: { min: 0.1, max: 2 },
  },
  {
    name: 'print_background',
    label: 'Backgrounds',
    hint: 'Prints background colours and images.',
    data_type: 'boolean',
    default_value: 'true',
  },
];

const lossy = [quality, ...viewport, ...loading, behind];
const from = ['htm', 'html', 'xht', 'xhtml'];

export const catalogue: EngineCatalogue = {
  engine: 'webpage',
  // A browser renders a page as its author sees it, an office suite only roughly.
  precedence: 1,
  operations: ['import/webpage'],
  summary: 'Renders web pages with Chromium',
  resources: { packaging: 'image', memoryMegabytes: 3008, diskMegabytes: 2048, timeoutSeconds: 180, mostAtOnce: 50 },
  formats: [
    { ext: 'html', mediaType: 'text/html' },
    { ext: 'htm', mediaType: 'text/html', aliasOf: 'html' },
    // An XHTML file with its XML declaration is detected as any XML.
    { ext: 'xhtml', mediaType: 'application/xhtml+xml', contents: ['xml'] },
    { ext: 'xht', mediaType: 'application/xhtml+xml', aliasOf: 'xhtml' },
    { ext: 'pdf', mediaType: 'application/pdf' },
    { ext: 'png', mediaType: 'image/png' },
    { ext: 'jpg', mediaType: 'image/jpeg' },
    { ext: 'jpeg', mediaType: 'image/jpeg', aliasOf: 'jpg' },
    { ext: 'webp', mediaType: 'image/webp' },
  ],
  capabilities: [
    { operation: 'convert', from, to: ['pdf'], options: [...paper, ...loading] },
    { operation: 'convert', from, to: ['png'], options: withPictureOptions([...viewport, ...loading, behind], 'png') },
    { operation: 'convert', from, to: ['jpeg', 'jpg'], options: withPictureOptions(lossy, 'jpg') },
    { operation: 'convert', from, to: ['webp'], options: withPictureOptions(lossy, 'webp') },
  ],
  components,
  requires,
};
