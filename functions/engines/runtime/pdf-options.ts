import type { OptionDescriptor } from '../../../shared/catalogue/catalogue.ts';

export const password: OptionDescriptor = {
  name: 'password',
  label: 'Password',
  hint: 'Password of the input, if it is password-protected.',
  data_type: 'string',
  properties: { pattern: '[^\\r\\n]{1,127}' },
};

export const pageRange: OptionDescriptor = {
  name: 'page_range',
  label: 'Pages',
  hint: 'Pages to convert, such as 1-3,5,8-. Defaults to all pages.',
  data_type: 'string',
  properties: { pattern: '\\d{1,5}(?:-(?:\\d{1,5})?)?(?:,\\d{1,5}(?:-(?:\\d{1,5})?)?){0,99}' },
};

export const language: OptionDescriptor = {
  name: 'language',
  label: 'Language',
  hint: 'Language of the text, such as en or de-CH, if the document does not name it.',
  data_type: 'string',
  properties: { pattern: '[a-zA-Z]{2,8}(?:-[a-zA-Z0-9]{1,8}){0,5}' },
};

/** Languages of text that is recognised. */
export const languagesOption: OptionDescriptor = {
  name: 'languages',
  label: 'Languages',
  hint: 'Languages of the text in their ISO 639-2 codes, such as eng or deu+fra. Defaults to the usual ones of the script that is found: English for Latin.',
  data_type: 'string',
  properties: { pattern: '[A-Za-z]{3}\\w{0,20}(?:[+, ]+[A-Za-z]{3}\\w{0,20}){0,7}' },
};
