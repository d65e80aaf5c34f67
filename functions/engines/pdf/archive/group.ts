import type { OptionDescriptor } from '../../../../shared/catalogue/catalogue.ts';
import { language, password } from '../../runtime/pdf-options.ts';
import { type Group, onPdf } from '../group.ts';

const level: OptionDescriptor = {
  name: 'level',
  label: 'Level',
  hint: 'Part of ISO 19005 and conformance level to convert to.',
  data_type: 'string',
  default_value: '2b',
  type: 'enum',
  enum_values: [
    { value: '1b', label: 'PDF/A-1b', hint: 'The oldest and strictest, without transparency' },
    { value: '2b', label: 'PDF/A-2b', hint: 'With transparency and layers' },
    { value: '2u', label: 'PDF/A-2u', hint: 'As 2b, with text that can be searched and copied' },
    { value: '3b', label: 'PDF/A-3b', hint: 'As 2b, with attached files of any kind' },
  ],
};

/** Makes PDFs for archives, and for people who cannot see them. */
export const archive: Group = {
  capabilities: [onPdf('pdf/a', [password, level]), onPdf('pdf/ua', [password, language])],
};
