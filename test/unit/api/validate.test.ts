import { expect, test } from 'vitest';
import * as z from 'zod';
import { readJobTasks, readTaskRequest } from '../../../functions/api/creation/read-requests.ts';
import { HttpError } from '../../../functions/api/http/errors.ts';
import { parse } from '../../../functions/api/http/validate.ts';

const errorsOf = (read: () => unknown) => {
  try {
    read();
  } catch (error) {
    if (error instanceof HttpError) return error.errors;
    throw error;
  }
  return undefined;
};

test('a missing field is said to be missing, with what is expected', () => {
  expect(errorsOf(() => readTaskRequest('import/url', {}))).toEqual({
    url: ['The field is missing. Expected an http or https URL.'],
  });
  expect(errorsOf(() => readJobTasks({ a: { operation: 'convert', input: 'b' } }))).toEqual({
    'tasks.a.output_format': ['The field is missing. Expected a format such as pdf.'],
  });
});

test('a value of another type is named by its type, and not repeated', () => {
  expect(
    errorsOf(() => readTaskRequest('import/sftp', { host: 'a', username: 'b', file_string: 'c', password: 1 })),
  ).toEqual({
    password: ['Expected a string but received a number.'],
  });
  expect(errorsOf(() => readTaskRequest('import/url', { url: ['https://example.com/'] }))).toEqual({
    url: ['Expected an http or https URL but received an array.'],
  });
});

test('a value that is not in a list is repeated', () => {
  const input = ['6af9126cc0830000f25c62d1', '6af9126cc0830000f25c62d2'];
  expect(errorsOf(() => readTaskRequest('merge', { input, output_format: 'tiff' }))).toEqual({
    output_format: ['Expected pdf or gif but received "tiff".'],
  });
});

test('a file that is too large for base64 is told the limit and what to use', () => {
  const file = `data:image/png;base64,${'A'.repeat(1_500_000)}`;
  const [message = ''] = errorsOf(() => readTaskRequest('import/base64', { file, filename: 'a.png' }))?.file ?? [];
  expect(message).toContain('at most 1500000 characters');
  expect(message).toContain('import/upload or import/url');
});

test('a misspelled field is named before the one that it was meant to be', () => {
  const errors = errorsOf(() => readTaskRequest('import/url', { Url: 'https://example.com/' }));
  expect(Object.entries(errors ?? {})[0]).toEqual(['Url', ['Unknown field "Url": did you mean url?']]);
});

test('a body that is no object is named by what it is', () => {
  expect(errorsOf(() => parse(z.object({ a: z.string() }), []))).toEqual({
    body: ['Expected a JSON object but received an array.'],
  });
});

test.each([
  [undefined, /^The field is missing\. Expected one of import\/upload, .*, export\/sftp\.$/],
  ['covert', /but received "covert"\. Did you mean convert\?$/],
  ['import/s3', /Use import\/objstore_a, which reads from Amazon S3 and compatible stores\.$/],
  ['constructor', /but received "constructor"\.$/],
  [7, /but received 7\.$/],
])('an operation %s is answered with those that exist, and what is meant if that is known', (operation, message) => {
  expect(errorsOf(() => readJobTasks({ a: { operation } }))).toEqual({
    'tasks.a.operation': [expect.stringMatching(message)],
  });
});
