import type { OptionDescriptor } from '../../../shared/catalogue/catalogue.ts';
import { languagesOption } from '../runtime/pdf-options.ts';

export const images: OptionDescriptor = {
  name: 'images',
  label: 'Pictures',
  hint: 'What becomes of the pictures in the document.',
  data_type: 'string',
  default_value: 'files',
  type: 'enum',
  enum_values: [
    { value: 'files', hint: 'Each is an output of its own, and the Markdown refers to it by its name', label: 'Files' },
    { value: 'embedded', hint: 'In the Markdown, as data URIs', label: 'Embedded' },
    { value: 'none', hint: 'Only their descriptions remain', label: 'Left out' },
  ],
};

export const pageMarkers: OptionDescriptor = {
  name: 'page_markers',
  label: 'Page markers',
  hint: 'Writes a comment such as <!-- page 3 --> where a page or slide begins, if the document says where that is.',
  data_type: 'boolean',
  default_value: 'true',
};

export const sheetOptions: OptionDescriptor[] = [
  {
    name: 'sheet',
    label: 'Sheet',
    hint: 'Number of the sheet to convert, starting at 1. Defaults to all visible sheets with content.',
    data_type: 'integer',
    properties: { min: 1, max: 10_000 },
  },
  {
    name: 'hidden_sheets',
    label: 'Hidden sheets',
    hint: 'Converts hidden sheets, too.',
    data_type: 'boolean',
    default_value: 'false',
  },
];

export const languages: OptionDescriptor = {
  ...languagesOption,
  hint: `Of the text in pictures and scanned pages. ${languagesOption.hint}`,
};
