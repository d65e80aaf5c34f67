import type { EngineCatalogue, OptionDescriptor } from '../../../shared/catalogue/catalogue.ts';
import { background, withPictureOptions } from '../image/encoding-options.ts';
import { components, requires } from './requires.ts';
import { pageSizes, sides } from './targets.ts';

function flag(name: string, label: string, hint: string, isDefault: boolean): OptionDescriptor {
  return { name, label, hint, data_type: 'boolean', default_value: String(isDefault) };
}

const loading: OptionDescriptor[] = [
  {
    name: 'wait_until',
    label: 'Wait until',
    hint: 'When the page is considered loaded.',
    data_type: 'string',
    type: 'enum',
    default_value: 'load',
    enum_values: [
      { value: 'domcontentloaded', hint: 'The HTML is parsed; images and fonts may still be loading.' },
      { value: 'load', hint: 'All resources of the HTML are loaded.' },
      { value: 'networkidle2', hint: 'At most two open requests for half a second.' },
      { value: 'networkidle0', hint: 'No open requests for half a second.' },
    ],
  },
  {
    name: 'initial_delay',
    label: 'Delay',
    hint: 'How long to wait after the page is loaded, for content that appears late.',
    data_type: 'number',
    default_value: '0',
    units: 's',
    properties: { min: 0, max: 30 },
  },
  flag('hide_cookie', 'Hide cookie banners', 'Removes common cookie consent banners and their overlays.', true),
];

const printStyles = flag(
  'use_print_stylesheet',
  'Print style sheet',
  'Applies the print styles of the page instead of its screen styles.',
  false,
);

/** Defaults to true for PDF: print styles are what the page's author intended for paper. */
const paperStyles: OptionDescriptor = {
  ...printStyles,
  hint: 'Applies the print styles of the page (@media print), its paper size and its margins (@page). If false, the page looks as on the screen.',
  default_value: 'true',
};

const viewportWidth: OptionDescriptor = {
  name: 'viewport_width',
  label: 'Viewport width',
  hint: 'Lays out the page for a viewport of this width and scales it to the paper. By default, the page is laid out for the paper, as in printing.',
  data_type: 'integer',
  units: 'px',
  properties: { min: 200, max: 7680 },
};

const viewportHeight: OptionDescriptor = {
  name: 'viewport_height',
  label: 'Viewport height',
  hint: 'Height of the browser viewport while the page loads.',
  data_type: 'integer',
  default_value: '900',
  units: 'px',
  properties: { min: 200, max: 7680 },
};

const viewport: OptionDescriptor[] = [
  { ...viewportWidth, hint: 'Width of the browser viewport.', default_value: '1440' },
  { ...viewportHeight, hint: 'Height of the browser viewport, and of the image if full_page is false.' },
  flag('full_page', 'Full page', 'Captures the full page instead of only the viewport.', true),
  {
    name: 'scale',
    label: 'Scale',
    hint: 'Device pixel ratio: 2 is as sharp as on a high-resolution screen.',
    data_type: 'number',
    default_value: '1',
    properties: { min: 0.25, max: 4 },
  },
];

const quality: OptionDescriptor = {
  name: 'quality',
  label: 'Quality',
  hint: 'Quality of the output. Higher values look better and make larger files.',
  data_type: 'integer',
  default_value: '90',
  properties: { min: 1, max: 100 },
};

const behind: OptionDescriptor = {
  ...background,
  hint: 'Background colour of areas that the page leaves empty. Defaults to white.',
};

function margin(name: string, label: string, hint: string): OptionDescriptor {
  return { name, label, hint, data_type: 'number', units: 'mm', properties: { min: 0, max: 100 } };
}

function template(part: string): OptionDescriptor {
  return {
    name: `${part.toLowerCase()}_template`,
    label: part,
    hint: `HTML that is printed in the ${part === 'Header' ? 'top' : 'bottom'} margin of each page. Elements of the classes pageNumber, totalPages, date and title are filled in, such as <span class="pageNumber"></span>.`,
    data_type: 'string',
  };
}

const paper: OptionDescriptor[] = [
  {
    name: 'page_size',
    label: 'Page size',
    hint: 'Paper size. Defaults to the size in the print styles of the page (@page) if these are used, otherwise A4.',
    data_type: 'string',
    type: 'enum',
    enum_values: pageSizes.map((value) => ({ value, hint: `${value} paper` })),
  },
  {
    name: 'page_orientation',
    label: 'Orientation',
    hint: 'Page orientation. Defaults to that in the print styles of the page if these are used, otherwise portrait.',
    data_type: 'string',
    type: 'enum',
    enum_values: [
      { value: 'portrait', hint: 'Taller than wide' },
      { value: 'landscape', hint: 'Wider than tall' },
    ],
  },
  margin(
    'margin',
    'Margin',
    'Margin on each side of the page. Defaults to the margins in the print styles of the page if these are used, otherwise 10 mm.',
  ),
  ...sides.map((side) =>
    margin(`margin_${side}`, `Margin ${side}`, `Margin on this side of the page. Defaults to margin.`),
  ),
  viewportWidth,
  viewportHeight,
  {
    name: 'scale',
    label: 'Scale',
    hint: 'Scale of the page on the paper. Ignored if viewport_width is given.',
    data_type: 'number',
    default_value: '1',
    properties: { min: 0.1, max: 2 },
  },
  flag(
    'shrink_to_fit',
    'Shrink to fit',
    'Shrinks a page that is wider than the paper until all of it fits. By default, the browser shrinks it to two thirds at most, and what is still too wide is cut off.',
    false,
  ),
  template('Header'),
  template('Footer'),
  flag('print_background', 'Backgrounds', 'Prints background colours and images.', true),
  flag(
    'tagged',
    'Tags',
    'Adds tags for screen readers: headings, lists, tables and alternative texts. Without them, the file is smaller and made faster.',
    true,
  ),
];

const pictured = [...viewport, ...loading, printStyles, behind];
const lossy = [quality, ...pictured];
const from = ['htm', 'html', 'xht', 'xhtml'];

export const catalogue: EngineCatalogue = {
  engine: 'webpage',
  // A browser renders a page as intended, an office suite only roughly.
  precedence: 1,
  operations: ['import/webpage'],
  summary: 'Renders web pages with Chromium',
  resources: {
    packaging: 'image',
    layers: ['chromium', 'fonts'],
    // Enough for Chromium with a large page, and for one and a half cores to start it.
    memoryMegabytes: 3008,
    // Pages are in memory. Only outputs are on disk.
    diskMegabytes: 2048,
    // A page gets two minutes in total. The rest is for starting the browser.
    timeoutSeconds: 180,
    typicalSeconds: 2,
    // A twentieth of an account's 1,000 concurrent executions, twice: a worker waits for each engine.
    maxConcurrency: 50,
    network: true,
  },
  formats: [
    { ext: 'html', mediaType: 'text/html' },
    { ext: 'htm', mediaType: 'text/html', aliasOf: 'html' },
    // An XHTML file with an XML declaration is detected as XML.
    { ext: 'xhtml', mediaType: 'application/xhtml+xml', contents: ['xml'] },
    { ext: 'xht', mediaType: 'application/xhtml+xml', aliasOf: 'xhtml' },
    { ext: 'pdf', mediaType: 'application/pdf' },
    { ext: 'png', mediaType: 'image/png' },
    { ext: 'jpg', mediaType: 'image/jpeg' },
    { ext: 'jpeg', mediaType: 'image/jpeg', aliasOf: 'jpg' },
    { ext: 'webp', mediaType: 'image/webp' },
  ],
  capabilities: [
    { operation: 'convert', from, to: ['pdf'], options: [...paper, ...loading, paperStyles] },
    { operation: 'convert', from, to: ['png'], options: withPictureOptions(pictured, 'png') },
    { operation: 'convert', from, to: ['jpeg', 'jpg'], options: withPictureOptions(lossy, 'jpg') },
    { operation: 'convert', from, to: ['webp'], options: withPictureOptions(lossy, 'webp') },
  ],
  components,
  requires,
};
