import { expect, test } from 'vitest';
import {
  clientPartBytesFor,
  maxBlocks,
  maxConfigurableFileBytes,
  maxParts,
  maxRequestBytes,
  minPartBytes,
  partBytesFor,
} from '../../../shared/files/limits.ts';
import { readNumberSettings } from '../../../shared/settings.ts';

const mebibyte = 1024 ** 2;

test.each([
  ['an empty file', 0, maxParts, minPartBytes],
  ['the largest file in parts of the minimum size', maxParts * minPartBytes, maxParts, minPartBytes],
  ['one byte more', maxParts * minPartBytes + 1, maxParts, 6 * mebibyte],
  ['the largest file in blocks of the minimum size', maxBlocks * minPartBytes, maxBlocks, minPartBytes],
  ['one byte more in blocks', maxBlocks * minPartBytes + 1, maxBlocks, 6 * mebibyte],
  ['the largest file that can be configured', maxConfigurableFileBytes, maxParts, 96 * mebibyte],
])('%s is stored in as many parts as a store accepts, each within a request', (_name, size, parts, partBytes) => {
  expect(partBytesFor(size, parts)).toBe(partBytes);
  expect(Math.ceil(size / partBytes)).toBeLessThanOrEqual(parts);
  expect(partBytes).toBeLessThanOrEqual(maxRequestBytes);
});

test.each([
  ['a small file', 1, 16 * mebibyte],
  ['the largest file in parts of 16 MiB', maxParts * 16 * mebibyte, 16 * mebibyte],
  ['one byte more', maxParts * 16 * mebibyte + 1, 17 * mebibyte],
  ['the largest file that can be configured', maxConfigurableFileBytes, 96 * mebibyte],
])('a client sends %s in parts of which there are not too many', (_name, size, partBytes) => {
  expect(clientPartBytesFor(size)).toBe(partBytes);
  expect(Math.ceil(size / partBytes)).toBeLessThanOrEqual(maxParts);
});

test('files of up to 1 TB can be configured', () => {
  const read = (bytes: number) => readNumberSettings({ LATHE_MAX_FILE_BYTES: String(bytes) }).maxFileBytes;
  expect(read(maxConfigurableFileBytes)).toBe(1e12);
  expect(() => read(maxConfigurableFileBytes + 1)).toThrow('LATHE_MAX_FILE_BYTES');
});
