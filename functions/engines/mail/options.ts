import type { OptionDescriptor } from '../../../shared/catalogue/catalogue.ts';
import { pageSizes } from '../webpage/targets.ts';

export const remoteContent: OptionDescriptor = {
  name: 'remote_content',
  label: 'Remote pictures',
  hint: 'Whether pictures that are stored on other hosts are loaded. Loading them can tell the sender that the message was read.',
  data_type: 'string',
  type: 'enum',
  default_value: 'block',
  enum_values: [
    { value: 'block', hint: 'A box of the same size stands for each picture.', label: 'Block' },
    {
      value: 'load',
      hint: 'Pictures are loaded from public addresses. Styles, fonts and frames are not.',
      label: 'Load',
    },
  ],
};

export const attachments: OptionDescriptor = {
  name: 'attachments',
  label: 'Attachments',
  hint: 'What becomes of the attachments. Their names and sizes are always in the header block.',
  data_type: 'string',
  type: 'enum',
  default_value: 'append',
  enum_values: [
    {
      value: 'append',
      hint: 'Messages, documents, spreadsheets, pictures, PDFs and text are converted, and follow as pages.',
      label: 'As pages',
    },
    { value: 'embed', hint: 'They become embedded files of the PDF.', label: 'As files' },
    { value: 'list', hint: 'Only their names and sizes are listed.', label: 'List only' },
  ],
};

export const oneFilePer: OptionDescriptor = {
  name: 'one_file_per',
  label: 'One file per',
  hint: 'Which messages make a file. Messages are in the order of their conversations.',
  data_type: 'string',
  type: 'enum',
  default_value: 'mailbox',
  enum_values: [
    { value: 'mailbox', hint: 'All messages in one file', label: 'Mailbox' },
    { value: 'thread', hint: 'A file for each conversation', label: 'Conversation' },
    { value: 'message', hint: 'A file for each message', label: 'Message' },
  ],
};

export const paper: OptionDescriptor[] = [
  {
    name: 'page_size',
    label: 'Page size',
    hint: 'Paper size.',
    data_type: 'string',
    type: 'enum',
    default_value: 'A4',
    enum_values: pageSizes.map((value) => ({ value, hint: `${value} paper` })),
  },
  {
    name: 'page_orientation',
    label: 'Orientation',
    hint: 'Page orientation.',
    data_type: 'string',
    type: 'enum',
    default_value: 'portrait',
    enum_values: [
      { value: 'portrait', hint: 'Taller than wide' },
      { value: 'landscape', hint: 'Wider than tall' },
    ],
  },
  {
    name: 'margin',
    label: 'Margin',
    hint: 'Margin on each side of the page.',
    data_type: 'number',
    default_value: '15',
    units: 'mm',
    properties: { min: 0, max: 100 },
  },
];
