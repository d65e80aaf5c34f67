import { expect, test } from 'vitest';
import { failedMessageIds } from '../../src/sqs/batch-response.ts';

const sent = new Set(['a', 'b']);

test.each([
  ['nothing', null],
  ['an empty object', {}],
  ['no list', { batchItemFailures: null }],
  ['an empty list', { batchItemFailures: [] }],
])('%s is full success', (_, response) => {
  expect(failedMessageIds(response, sent)).toEqual(new Set());
});

test('named messages have failed', () => {
  expect(failedMessageIds({ batchItemFailures: [{ itemIdentifier: 'b' }] }, sent)).toEqual(new Set(['b']));
});

test.each([
  ['a text', 'ok'],
  ['another object', { statusCode: 200 }],
  ['a list that is none', { batchItemFailures: 'a' }],
  ['an unknown id', { batchItemFailures: [{ itemIdentifier: 'c' }] }],
  ['an empty id', { batchItemFailures: [{ itemIdentifier: '' }] }],
  ['a missing id', { batchItemFailures: [{ id: 'a' }] }],
])('%s is failure of the whole batch', (_, response) => {
  expect(failedMessageIds(response, sent)).toBeUndefined();
});
