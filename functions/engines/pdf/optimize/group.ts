import type { OptionDescriptor } from '../../../../shared/catalogue/catalogue.ts';
import { password } from '../../runtime/pdf-options.ts';
import { type Group, onPdf } from '../group.ts';

const choice = (
  name: string,
  label: string,
  hint: string,
  values: [value: string, hint: string][],
): OptionDescriptor => ({
  name,
  label,
  hint,
  data_type: 'string',
  default_value: values[0]?.[0] ?? '',
  type: 'enum',
  enum_values: values.map(([value, about]) => ({ value, hint: about })),
});

const only = (value: string, label: string, required = true) => [
  { name: 'compress_pdf', required, meta: [{ value, label }] },
];

/** Makes PDFs smaller and keeps all that they have. */
export const optimization: Group = {
  capabilities: [
    onPdf('pdf/optimize', [
      password,
      {
        name: 'linearize',
        label: 'Fast web view',
        hint: 'Lets readers show the first page before the rest has arrived.',
        data_type: 'boolean',
        default_value: 'true',
      },
      choice('compress_pdf', 'Method', 'What decides the quality of pictures.', [
        ['by_quality', 'The options image_dpi and image_quality'],
        ['by_percentage', 'The best quality with a percentage of the input size'],
        ['by_size', 'The best quality with a maximum file size'],
        ['lossless', 'Pictures are not changed'],
      ]),
      {
        name: 'image_dpi',
        label: 'Resolution',
        hint: 'Pictures with a higher resolution on the page are scaled down to it.',
        data_type: 'integer',
        default_value: '150',
        units: 'dpi',
        properties: { min: 30, max: 2400 },
        conditions: only('by_quality', 'By quality', false),
      },
      {
        name: 'image_quality',
        label: 'Picture quality',
        hint: 'Quality of photos as JPEG.',
        data_type: 'integer',
        default_value: '75',
        properties: { min: 10, max: 100 },
        conditions: only('by_quality', 'By quality', false),
      },
      {
        name: 'pdf_compress_percentage',
        label: 'Percentage',
        hint: 'Maximum size of the output as a percentage of the input size.',
        data_type: 'integer',
        default_value: '60',
        units: '%',
        properties: { min: 1, max: 99 },
        conditions: only('by_percentage', 'By percentage'),
      },
      {
        name: 'pdf_compress_max_filesize',
        label: 'Maximum file size',
        hint: 'Maximum size of the output. If it cannot be met, the task fails and reports the smallest possible size.',
        data_type: 'number',
        default_value: '1',
        units: 'MB',
        properties: { min: 0.001, max: 5000 },
        conditions: only('by_size', 'By size'),
      },
      {
        name: 'remove_metadata',
        label: 'Remove metadata',
        hint: 'Removes title, author and all other metadata.',
        data_type: 'boolean',
        default_value: 'false',
      },
      choice('signatures', 'Signatures', 'What happens to a signed PDF. No signature survives a change of the file.', [
        ['fail', 'The task fails'],
        ['remove', 'The signatures are removed'],
      ]),
    ]),
  ],
};
