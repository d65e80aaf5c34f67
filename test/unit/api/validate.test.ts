import { expect, test } from 'vitest';
import * as z from 'zod';
import { readJobTasks, readTaskRequest } from '../../../functions/api/creation/read-requests.ts';
import { authenticate } from '../../../functions/api/http/authenticate.ts';
import { HttpError } from '../../../functions/api/http/errors.ts';
import { parse } from '../../../functions/api/http/validate.ts';
import { readInstantRequest } from '../../../functions/api/instant/read-request.ts';

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
  ['covert', /^Unknown operation "covert"\. Did you mean convert\?$/],
  ['pdf/stmap', /^Unknown operation "pdf\/stmap"\. Did you mean pdf\/stamp\?$/],
  [
    'import/s3',
    /^Unknown operation "import\/s3"\. Use import\/objstore_a, which reads from Amazon S3 and compatible stores\.$/,
  ],
  ['constructor', /^Unknown operation "constructor"\. Expected one of import\/upload, .*, export\/sftp\.$/],
  [7, /but received 7\.$/],
])('an operation %s is answered with those that exist, and what is meant if that is known', (operation, message) => {
  expect(errorsOf(() => readJobTasks({ a: { operation } }))).toEqual({
    'tasks.a.operation': [expect.stringMatching(message)],
  });
});

test('a name of a task outside of a job is told from a malformed id', () => {
  expect(errorsOf(() => readTaskRequest('export/url', { input: 'picture' }))).toEqual({
    input: ['Expected the id of a task, of 24 hexadecimal digits; names are valid only within a job.'],
  });
});

test('an Authorization header of another form is told from an unknown key', async () => {
  const event = { headers: { authorization: 'Basic YTpi' } } as unknown as Parameters<typeof authenticate>[0];
  await expect(authenticate(event)).rejects.toMatchObject({
    status: 401,
    message: 'Expected the header Authorization: Bearer <API_KEY> but received another form of it.',
  });
});

test('text in the field of a file is told how a file is sent', async () => {
  const content = Buffer.from(JSON.stringify({ file: 'data:;base64,aGVsbG8=', output_format: 'pdf' }));
  await expect(readInstantRequest('convert', { content, type: 'application/json', query: '' })).rejects.toMatchObject({
    errors: { file: [expect.stringContaining('curl -F file=@picture.png')] },
  });
});
