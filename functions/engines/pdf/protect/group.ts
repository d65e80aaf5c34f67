import type { OptionDescriptor } from '../../../../shared/catalogue/catalogue.ts';
import { password } from '../../runtime/pdf-options.ts';
import { type Group, onPdf } from '../group.ts';

/** Passwords are UTF-8 of at most 127 bytes, which is checked when the work runs. */
const newPassword: Pick<OptionDescriptor, 'data_type' | 'properties'> = {
  data_type: 'string',
  properties: { pattern: '[^\\r\\n]{1,127}' },
};

/** Whether readers without the owner password may do something. */
const permission = (name: string, label: string, hint: string): OptionDescriptor => ({
  name,
  label,
  hint,
  data_type: 'boolean',
  default_value: 'true',
});

/** Operations on the encryption of a PDF. */
export const protect: Group = {
  capabilities: [
    onPdf('pdf/encrypt', [
      password,
      {
        ...newPassword,
        name: 'user_password',
        label: 'User password',
        hint: 'Password that opens the document. Without it, anyone can open it within the permissions.',
      },
      {
        ...newPassword,
        name: 'owner_password',
        label: 'Owner password',
        hint: 'Password that opens the document with all permissions. Required if a permission is withheld.',
      },
      {
        name: 'print',
        label: 'Print',
        hint: 'Whether others than the owner may print.',
        data_type: 'string',
        default_value: 'full',
        type: 'enum',
        enum_values: [
          { value: 'full', hint: 'In full quality' },
          { value: 'low', hint: 'In low quality' },
          { value: 'none', hint: 'Not at all' },
        ],
      },
      permission('copy', 'Copy', 'Whether others than the owner may copy text and pictures.'),
      permission('modify', 'Modify', 'Whether others than the owner may change the content and the pages.'),
      permission('annotate', 'Annotate', 'Whether others than the owner may comment. Includes filling in forms.'),
      permission('forms', 'Forms', 'Whether others than the owner may fill in forms.'),
    ]),
    onPdf('pdf/decrypt', [{ ...password, hint: 'User or owner password of the document.' }]),
  ],
};
