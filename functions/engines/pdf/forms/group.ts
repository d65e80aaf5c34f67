import type { OptionDescriptor } from '../../../../shared/catalogue/catalogue.ts';
import { password } from '../../runtime/pdf-options.ts';
import { type Group, onPdf } from '../group.ts';

const filling: OptionDescriptor[] = [
  {
    name: 'form_data',
    label: 'Values',
    hint: 'Values of the fields as JSON: an object of names to values, or an array of such records. pdf/forms lists the names.',
    data_type: 'string',
    properties: { maxLength: 32_000 },
  },
  {
    name: 'flatten',
    label: 'Flatten',
    hint: 'Makes the fields part of the page, so that nobody can change them. Without values, flattens the form as it is.',
    data_type: 'boolean',
    default_value: 'false',
  },
  {
    name: 'merge',
    label: 'One file',
    hint: 'Puts several records into one PDF, instead of a PDF for each. The names of their fields then start with the number of the record.',
    data_type: 'boolean',
    default_value: 'false',
  },
  {
    name: 'name_pattern',
    label: 'File names',
    hint: 'Names of the files of several records without extension, with {name} of the input, {n} of the record, and values such as {person.name}. Defaults to {name}-{n}.',
    data_type: 'string',
    properties: { maxLength: 200 },
  },
  {
    name: 'on_mismatch',
    label: 'Values that do not fit',
    hint: 'What happens to unknown fields, values that are no option of a field, and texts that are too long.',
    data_type: 'string',
    default_value: 'fail',
    type: 'enum',
    enum_values: [
      { value: 'fail', hint: 'The task fails and names them' },
      { value: 'warn', hint: 'They are left out with a warning' },
    ],
  },
];

/** Operations on the form of a PDF. */
export const forms: Group = {
  capabilities: [
    { operation: 'pdf/forms', from: ['pdf'], to: ['json'], options: [password] },
    onPdf('pdf/fill', [password, ...filling]),
  ],
};
