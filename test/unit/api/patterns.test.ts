import { expect, test } from 'vitest';
import { openapiDocument } from '../../../functions/api/service/openapi-document.ts';

/** Returns the patterns that a part of a document demands of strings of a length that it limits. */
function patternsIn(part: unknown): string[] {
  if (typeof part !== 'object' || part === null) return [];
  const { type, maxLength, pattern } = Object(part);
  const own = type === 'string' && maxLength !== undefined && typeof pattern === 'string' ? [pattern] : [];
  return [...own, ...Object.values(part).flatMap(patternsIn)];
}

// Regression: a URL or a data URI with a NUL fitted the document, and was refused.
test('no string of a request that fits the document has a NUL', () => {
  const patterns = new Set(patternsIn(openapiDocument('http://localhost:3000').paths));
  expect(patterns.size).toBeGreaterThan(3);
  const samples = ['a\0b', 'https://example.com/\0', 'data:\0;base64,QUJD', '\0'];
  for (const pattern of patterns)
    for (const sample of samples) expect(new RegExp(pattern).test(sample), pattern).toBe(false);
});
