import type { OptionDescriptor } from '../../../../shared/catalogue/catalogue.ts';
import { password } from '../../runtime/pdf-options.ts';
import type { Group } from '../group.ts';

const options: OptionDescriptor[] = [
  password,
  {
    ...password,
    name: 'original_password',
    label: 'Password of the original',
    hint: 'Password of the original, if it is password-protected.',
  },
  {
    name: 'resolution',
    label: 'Resolution',
    hint: 'Resolution at which pages are compared visually. Lower for large pages.',
    data_type: 'integer',
    default_value: '100',
    units: 'dpi',
    properties: { min: 36, max: 200 },
  },
  {
    name: 'tolerance',
    label: 'Tolerance',
    hint: 'How much the color of a point may differ. Edges of letters may differ by more.',
    data_type: 'number',
    default_value: '15',
    units: '%',
    properties: { min: 0, max: 100 },
  },
];

const shown: OptionDescriptor = {
  name: 'pages',
  label: 'Pages',
  hint: 'Pages that the report shows.',
  data_type: 'string',
  default_value: 'changed',
  type: 'enum',
  enum_values: [
    { value: 'changed', hint: 'Pages with differences' },
    { value: 'all', hint: 'All pages' },
  ],
};

/** The comparison of PDFs. */
export const comparison: Group = {
  capabilities: [
    { operation: 'pdf/compare', from: ['pdf'], to: ['pdf'], options: [...options, shown] },
    { operation: 'pdf/compare', from: ['pdf'], to: ['json'], options },
  ],
};
