import { expect, test } from 'vitest';
import { redact, redactError, secretsIn, secretsOf } from '../../../functions/engines/runtime/redact.ts';

test.for([
  ['7zz -phunter2 failed', ['hunter2'], '7zz -p*** failed'],
  ['hunter2hunter2 and hunter22', ['hunter2', 'hunter22'], '****** and ***'],
  ['{"password":"a\\"b\\\\c"}', ['a"b\\c'], '{"password":"***"}'],
  ['https://x/?sig=a%2Fb%3D%3D', ['a/b=='], 'https://x/?sig=***'],
  ["Received '-psec\\x00ret'", ['sec\0ret'], "Received '-p***'"],
  ['costs $1.00 (.*)', ['(.*)'], 'costs $1.00 ***'],
  ['page 12 of 1, password 1', ['1'], 'page 12 of ***, password ***'],
  ['nothing to hide', [], 'nothing to hide'],
])('masks secrets however they are spelled: %s', ([text, secrets, expected]) => {
  expect(redact(String(text), [secrets ?? []].flat())).toBe(expected);
});

test('finds the secret options of a request, and all values of stored secrets', () => {
  expect(secretsOf({ password: 'one', output_password: 'two', quality: 80, title: 'three' })).toEqual(['one', 'two']);
  expect(secretsIn({ options: { password: 1234 }, headers: { Authorization: 'Bearer x' }, sas_token: '' })).toEqual([
    '1234',
    'Bearer x',
  ]);
});

test('masks secrets in an error and its causes', () => {
  const error = new Error('with hunter2', { cause: new Error('by hunter2') });
  redactError(error, ['hunter2']);
  expect(error.message).toBe('with ***');
  expect(error.stack).not.toContain('hunter2');
  expect(error.cause).toMatchObject({ message: 'by ***' });
});
