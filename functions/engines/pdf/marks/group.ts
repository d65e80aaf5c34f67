import type { OptionDescriptor } from '../../../../shared/catalogue/catalogue.ts';
import { password } from '../../runtime/pdf-options.ts';
import { type Group, onPdf } from '../group.ts';
import { pageList } from '../pages/group.ts';

const text: OptionDescriptor = {
  name: 'text',
  label: 'Text',
  hint: 'Text in any script, also of several lines. {page}, {pages}, {date}, {name} and, in stamps, {bates} are filled in.',
  data_type: 'string',
  properties: { maxLength: 1000, pattern: '[^]*\\S[^]*' },
};

const positions = ['top-left', 'top', 'top-right', 'left', 'center', 'right', 'bottom-left', 'bottom', 'bottom-right'];

export const position = (default_value: string): OptionDescriptor => ({
  name: 'position',
  label: 'Position',
  hint: 'Place on the page as it is displayed.',
  data_type: 'string',
  default_value,
  type: 'enum',
  enum_values: positions.map((value) => ({
    value,
    hint: `${value[0]?.toUpperCase()}${value.slice(1).replace('-', ' ')}`,
  })),
});

const margin: OptionDescriptor = {
  name: 'margin',
  label: 'Margin',
  hint: 'Distance from the edges of the page.',
  data_type: 'number',
  default_value: '24',
  units: 'pt',
  properties: { min: 0, max: 1_000 },
};

const size: OptionDescriptor = {
  name: 'size',
  label: 'Size',
  hint: 'Font size of a text, or width of a picture.',
  data_type: 'number',
  units: 'pt',
  properties: { min: 1, max: 5_000 },
};

const color = (default_value: string): OptionDescriptor => ({
  name: 'color',
  label: 'Color',
  hint: 'Color of the text as #rrggbb.',
  data_type: 'string',
  default_value,
  properties: { pattern: '#[0-9a-fA-F]{6}' },
});

const font: OptionDescriptor = {
  name: 'font',
  label: 'Font',
  hint: 'Kind of font. Characters that it lacks are taken from other installed fonts.',
  data_type: 'string',
  default_value: 'sans',
  type: 'enum',
  enum_values: [
    { value: 'sans', hint: 'Without serifs, like Arial' },
    { value: 'serif', hint: 'With serifs, like Times' },
    { value: 'mono', hint: 'Of one width, like Courier' },
  ],
};

const opacity = (default_value: string): OptionDescriptor => ({
  name: 'opacity',
  label: 'Opacity',
  hint: 'How much of the page is covered: 100 is opaque.',
  data_type: 'number',
  default_value,
  units: '%',
  properties: { min: 1, max: 100 },
});

const rotation: OptionDescriptor = {
  name: 'rotation',
  label: 'Rotation',
  hint: 'Degrees clockwise. Defaults to -45 for the text of a watermark, and otherwise to 0.',
  data_type: 'number',
  units: '°',
  properties: { min: -360, max: 360 },
};

const onlyWatermarks: OptionDescriptor[] = [
  {
    name: 'tile',
    label: 'Repeat',
    hint: 'Repeats the mark all over the page.',
    data_type: 'boolean',
    default_value: 'false',
  },
  {
    name: 'gap',
    label: 'Gap',
    hint: 'Distance of repeated marks. It is larger if a page would have more than 1,000.',
    data_type: 'number',
    default_value: '60',
    units: 'pt',
    properties: { min: 0, max: 5_000 },
    conditions: [{ name: 'tile', required: true, meta: [{ value: true, label: 'Repeat' }] }],
  },
  {
    name: 'layer',
    label: 'Layer',
    hint: 'Whether the mark is over the page or under it. A scanned page hides what is under it.',
    data_type: 'string',
    default_value: 'front',
    type: 'enum',
    enum_values: [
      { value: 'front', hint: 'Over the page' },
      { value: 'behind', hint: 'Under the page' },
    ],
  },
];

const onlyStamps: OptionDescriptor[] = [
  {
    name: 'first_number',
    label: 'First page number',
    hint: '{page} of the first stamped page. Defaults to its place in the document.',
    data_type: 'integer',
    properties: { min: 0, max: 1_000_000 },
  },
  {
    name: 'bates_prefix',
    label: 'Bates prefix',
    hint: 'Text before the number in {bates}.',
    data_type: 'string',
    properties: { maxLength: 100 },
  },
  {
    name: 'bates_start',
    label: 'First Bates number',
    hint: 'Number in {bates} of the first stamped page. The numbers run on over the inputs of a task.',
    data_type: 'integer',
    default_value: '1',
    properties: { min: 0, max: 1_000_000_000 },
  },
  {
    name: 'bates_digits',
    label: 'Bates digits',
    hint: 'Digits of the number in {bates}, with zeros in front.',
    data_type: 'integer',
    default_value: '6',
    properties: { min: 1, max: 15 },
  },
  {
    name: 'bates_suffix',
    label: 'Bates suffix',
    hint: 'Text after the number in {bates}.',
    data_type: 'string',
    properties: { maxLength: 100 },
  },
];

const dateFormat: OptionDescriptor = {
  name: 'date_format',
  label: 'Date format',
  hint: 'Form of {date}, which is the current date in UTC.',
  data_type: 'string',
  default_value: 'YYYY-MM-DD',
  type: 'enum',
  enum_values: [
    { value: 'YYYY-MM-DD', hint: 'ISO 8601' },
    { value: 'DD.MM.YYYY', hint: 'Day first, with dots' },
    { value: 'DD/MM/YYYY', hint: 'Day first, with slashes' },
    { value: 'MM/DD/YYYY', hint: 'Month first' },
  ],
};

/** Operations that draw on the pages of a PDF. */
export const marks: Group = {
  capabilities: [
    onPdf('pdf/watermark', [
      password,
      pageList,
      text,
      { ...size, hint: `${size.hint} Defaults to three quarters of the page, or a quarter if it is repeated.` },
      color('#000000'),
      font,
      opacity('20'),
      rotation,
      position('center'),
      margin,
      ...onlyWatermarks,
      dateFormat,
    ]),
    onPdf('pdf/stamp', [
      password,
      pageList,
      { ...text, hint: `${text.hint} Defaults to {page} / {pages} if there is no picture.` },
      {
        ...size,
        hint: `${size.hint} Defaults to 10 for a text and 100 for a picture. Made smaller if it exceeds the page.`,
      },
      color('#000000'),
      font,
      opacity('100'),
      rotation,
      position('bottom'),
      margin,
      ...onlyStamps,
      dateFormat,
    ]),
  ],
};
