import { expect, test } from 'vitest';
import { catalogue } from '../../../functions/catalogue/catalogues.ts';
import { checkProcessing, type ProcessingRequest } from '../../../shared/catalogue/check.ts';

const problems = (
  operation: ProcessingRequest['operation'],
  inputFormat: string | undefined,
  outputFormat: string | undefined,
  options = {},
) => {
  const checked = checkProcessing(catalogue, { operation, inputFormat, outputFormat, options });
  return 'errors' in checked ? checked.errors : undefined;
};

test('an unknown output format is answered with similar ones and those of the input, each by one name', () => {
  const [message = ''] = problems('convert', 'jpg', 'pgn')?.output_format ?? [];
  expect(message).toMatch(/^Cannot convert "jpg" to "pgn". Did you mean .*\bpng\? Valid output formats for jpg: /);
  expect(message).toContain(', webp,');
  expect(message).not.toContain(', jpeg,');
  expect(message).not.toContain('mp3');
});

test('an unknown output format for an unknown input names similar ones instead of hundreds', () => {
  expect(problems('convert', undefined, 'mp33')).toEqual({
    output_format: [
      'Cannot convert to "mp33". Did you mean mp3? GET /v1/query/formats/convert?input_format=* lists the valid output formats.',
    ],
  });
});

test('an unknown input format names similar ones', () => {
  expect(problems('convert', 'jpgg', 'pdf')).toEqual({
    input_format: ['Cannot convert "jpgg": the format is not known. Did you mean jpg or jp2?'],
  });
});

test.each([
  ['compress', 'docx'],
  ['crop', 'docx'],
  ['trim', 'png'],
  ['merge', 'mp3'],
] as const)('%s of %s, which no engine offers, is said to be unavailable for the format', (operation, format) => {
  const [message = ''] = problems(operation, format, operation === 'merge' ? 'pdf' : undefined)?.input_format ?? [];
  expect(message).toContain(`Cannot ${operation} "${format}": ${operation} is not available for this format.`);
  expect(message).not.toContain('instance');
});

test('an option that no conversion to a format has is refused before the input is known', () => {
  expect(problems('convert', undefined, 'webp', { qualty: 80 })).toEqual({
    'options.qualty': ['Unknown option "qualty" of convert to webp. Did you mean quality?'],
  });
  expect(problems('convert', undefined, 'webp', { quality: 80 })).toBeUndefined();
});
