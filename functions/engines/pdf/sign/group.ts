import type { OptionDescriptor } from '../../../../shared/catalogue/catalogue.ts';
import { password } from '../../runtime/pdf-options.ts';
import type { Group } from '../group.ts';
import { onPdf } from '../group.ts';
import { position } from '../marks/group.ts';

/** A long chain of certificates in PEM. */
const maxCertificateLength = 65_536;

const whenVisible = {
  conditions: [{ name: 'visible', required: true, meta: [{ value: true, label: 'Visible' }] }],
};

const line = (name: string, label: string, hint: string): OptionDescriptor => ({
  name,
  label,
  hint,
  data_type: 'string',
  properties: { maxLength: 200, pattern: '[^\\p{Cc}]*[^\\s\\p{Cc}][^\\p{Cc}]*' },
});

const length = (name: string, label: string, hint: string, default_value?: string): OptionDescriptor => ({
  name,
  label,
  hint,
  data_type: 'number',
  units: 'pt',
  properties: { min: default_value === undefined ? 0 : 10, max: 5_000 },
  ...(default_value === undefined ? {} : { default_value }),
  ...whenVisible,
});

/** Operations on the signatures of a PDF. */
export const signatures: Group = {
  capabilities: [
    onPdf('pdf/sign', [
      password,
      {
        name: 'certificate',
        label: 'Certificate',
        hint: 'Key and certificates of the signer: a PKCS#12 file (.p12, .pfx) in base64, or PEM. Never stored in clear or shown.',
        data_type: 'string',
        properties: { maxLength: maxCertificateLength },
      },
      {
        name: 'certificate_password',
        label: 'Password of the certificate',
        hint: 'Password of the PKCS#12 file, or of an encrypted key in PEM.',
        data_type: 'string',
        properties: { pattern: '[^\\r\\n]{0,1000}' },
      },
      line('name', 'Name', 'Name of the signer. Defaults to that of the certificate.'),
      line('reason', 'Reason', 'Why the document is signed.'),
      line('location', 'Location', 'Where it is signed.'),
      line('contact', 'Contact', 'How to reach the signer.'),
      {
        ...line('field', 'Field', 'Name of the signature field: an empty one, or a new one. Defaults to a new one.'),
        properties: { maxLength: 200, pattern: '[^\\p{Cc}.]+(?:\\.[^\\p{Cc}.]+)*' },
      },
      {
        name: 'digest',
        label: 'Digest',
        hint: 'Digest algorithm of the signature.',
        data_type: 'string',
        default_value: 'sha256',
        type: 'enum',
        enum_values: [
          { value: 'sha256', hint: 'SHA-256' },
          { value: 'sha384', hint: 'SHA-384' },
          { value: 'sha512', hint: 'SHA-512' },
        ],
      },
      {
        name: 'timestamp',
        label: 'Time stamp',
        hint: 'URL of a time stamp authority (RFC 3161), whose confirmation of the time makes the signature PAdES B-T.',
        data_type: 'string',
        properties: { maxLength: 1000, pattern: 'https?://\\S+' },
      },
      {
        name: 'certify',
        label: 'Certify',
        hint: 'Makes it a certification of the document, as its first signature, with the changes that remain permitted.',
        data_type: 'string',
        type: 'enum',
        enum_values: [
          { value: 'no_changes', hint: 'No changes' },
          { value: 'forms', hint: 'Filling in forms, and signing' },
          { value: 'annotations', hint: 'Annotations, filling in forms, and signing' },
        ],
      },
      {
        name: 'visible',
        label: 'Visible',
        hint: 'Shows the signature on a page. One in an existing field with a place on a page is always shown.',
        data_type: 'boolean',
        default_value: 'false',
      },
      {
        name: 'page',
        label: 'Page',
        hint: 'Page of a visible signature. Negative numbers count from the end.',
        data_type: 'integer',
        default_value: '1',
        properties: { min: -10_000, max: 10_000 },
        ...whenVisible,
      },
      { ...position('bottom-right'), ...whenVisible },
      length('width', 'Width', 'Width of a visible signature.', '200'),
      length('height', 'Height', 'Height of a visible signature.', '60'),
      {
        name: 'margin',
        label: 'Margin',
        hint: 'Distance from the edges of the page.',
        data_type: 'number',
        default_value: '36',
        units: 'pt',
        properties: { min: 0, max: 1_000 },
        ...whenVisible,
      },
      length('left', 'Left', 'Distance from the left edge of the page, instead of the one by position.'),
      length('top', 'Top', 'Distance from the top edge of the page, instead of the one by position.'),
      {
        name: 'text',
        label: 'Text',
        hint: 'Text of a visible signature. {name}, {date}, {reason} and {location} are filled in. Defaults to the name and date, or to none with a picture.',
        data_type: 'string',
        properties: { maxLength: 1000, pattern: '[^]*\\S[^]*' },
      },
    ]),
    {
      operation: 'pdf/verify',
      from: ['pdf'],
      to: ['json'],
      options: [password],
    },
  ],
};
