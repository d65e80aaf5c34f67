import type { OptionDescriptor } from '../../../../shared/catalogue/catalogue.ts';
import { imageFormats, spellings } from '../../image/formats.ts';
import { languagesOption, password } from '../../runtime/pdf-options.ts';
import type { Group } from '../group.ts';

/** Pictures that need no further programs to become pages. */
const pictures = imageFormats.filter(({ read }) => read?.by === 'sharp' || read?.by === 'tiff');

const existingText: OptionDescriptor = {
  name: 'existing_text',
  label: 'Existing text',
  hint: 'What happens to pages that have text already.',
  data_type: 'string',
  default_value: 'skip',
  type: 'enum',
  enum_values: [
    {
      value: 'skip',
      hint: 'They stay as they are, unless a scan fills the page and the text is a stamp or a page number',
    },
    { value: 'keep', hint: 'Text in their pictures is added' },
    { value: 'redo', hint: 'Invisible text of an earlier recognition is replaced, and visible text stays' },
    { value: 'force', hint: 'They become pictures, and all of their text is recognised' },
  ],
};

const onlyPdf: OptionDescriptor[] = [
  password,
  existingText,
  {
    name: 'invalidate_digital_signatures',
    label: 'Signed files',
    hint: 'Processes a signed PDF, which removes its signatures. Otherwise it is a failure.',
    data_type: 'boolean',
    default_value: 'false',
  },
];

const options: OptionDescriptor[] = [
  languagesOption,
  {
    name: 'rotate_pages',
    label: 'Rotate pages',
    hint: 'Turns scans upright that lie on a side or upside down.',
    data_type: 'boolean',
    default_value: 'false',
  },
  {
    name: 'deskew',
    label: 'Deskew',
    hint: 'Straightens scans that are tilted by a few degrees.',
    data_type: 'boolean',
    default_value: 'false',
  },
  {
    name: 'clean',
    label: 'Clean',
    hint: 'Removes specks and shadows. The pages become pictures that are compressed anew.',
    data_type: 'boolean',
    default_value: 'false',
  },
];

/** The recognition of text in scans and pictures. */
export const ocr: Group = {
  capabilities: [
    { operation: 'pdf/ocr', from: ['pdf'], to: ['pdf', 'txt'], options: [...options, ...onlyPdf] },
    { operation: 'pdf/ocr', from: spellings(pictures), to: ['pdf', 'txt'], options },
  ],
};
