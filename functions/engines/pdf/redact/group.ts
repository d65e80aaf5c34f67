import type { OptionDescriptor } from '../../../../shared/catalogue/catalogue.ts';
import { password } from '../../runtime/pdf-options.ts';
import { type Group, onPdf } from '../group.ts';

const flag = (name: string, label: string, hint: string): OptionDescriptor => ({
  name,
  label,
  hint,
  data_type: 'boolean',
  default_value: 'false',
});

const number = '\\d{1,5}(?:\\.\\d{1,3})?';
const area = `(?:\\d{1,4}|\\*) ?: ?${number}(?:, ?${number}){3}`;

/** Removal of what must not be read. */
export const redaction: Group = {
  capabilities: [
    onPdf('pdf/redact', [
      password,
      {
        name: 'text',
        label: 'Texts',
        hint: 'Texts to remove, one per line.',
        data_type: 'string',
        properties: { maxLength: 20_000 },
      },
      flag('case_sensitive', 'Match case', 'Finds texts and expressions only in the same case.'),
      flag('whole_words', 'Whole words', 'Finds texts only as whole words.'),
      {
        name: 'pattern',
        label: 'Patterns',
        hint: 'Kinds of text to remove, separated by commas: email, phone, iban, credit_card, ssn, ip, url, date.',
        data_type: 'string',
        properties: { maxLength: 200, pattern: '[a-z_]+(?:, ?[a-z_]+)*' },
      },
      {
        name: 'regex',
        label: 'Regular expression',
        hint: 'Expression in RE2 syntax for text to remove. Ends of lines are spaces.',
        data_type: 'string',
        properties: { maxLength: 1000 },
      },
      {
        name: 'areas',
        label: 'Areas',
        hint: 'Areas to remove as page:left,top,width,height in points from the top left corner of the page as displayed, separated by semicolons. * is every page.',
        data_type: 'string',
        properties: { maxLength: 50_000, pattern: `${area}(?:; ?${area})*;?` },
      },
      {
        name: 'color',
        label: 'Color',
        hint: 'Color of the boxes as #rrggbb.',
        data_type: 'string',
        default_value: '#000000',
        properties: { pattern: '#[0-9a-fA-F]{6}' },
      },
      {
        name: 'label',
        label: 'Label',
        hint: 'Text in the boxes, in Latin letters, such as a reason for the removal.',
        data_type: 'string',
        properties: { pattern: '[ -~\\u00a1-\\u00ff]{1,60}' },
      },
      {
        name: 'attachments',
        label: 'Attached files',
        hint: 'What happens to embedded files, which are not searched.',
        data_type: 'string',
        default_value: 'remove',
        type: 'enum',
        enum_values: [
          { value: 'remove', hint: 'They are removed' },
          { value: 'keep', hint: 'They are kept as they are' },
        ],
      },
      flag(
        'remove_metadata',
        'Remove metadata',
        'Removes title, author and all other metadata instead of only what is found in it.',
      ),
      {
        name: 'if_nothing_found',
        label: 'If nothing is found',
        hint: 'What happens if there is nothing to remove.',
        data_type: 'string',
        default_value: 'fail',
        type: 'enum',
        enum_values: [
          { value: 'fail', hint: 'The task fails' },
          { value: 'warn', hint: 'The result has a warning' },
        ],
      },
      {
        name: 'if_unreadable',
        label: 'If text is unreadable',
        hint: 'What happens if a page cannot be searched, such as a scan without a text layer.',
        data_type: 'string',
        default_value: 'fail',
        type: 'enum',
        enum_values: [
          { value: 'fail', hint: 'The task fails' },
          { value: 'warn', hint: 'The result has a warning' },
        ],
      },
    ]),
  ],
};
