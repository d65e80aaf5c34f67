import { expect, test } from 'vitest';
import { residentBytes } from '../../../functions/engines/runtime/sandbox/memory.ts';

test('the memory of a process group is added up from what ps lists, as macOS has no /proc', () => {
  const listing = '    1   9000\n 4711   1024\n 4711  20480\n  471   5000\n47110    100\n';
  expect(residentBytes(listing, 4711)).toBe((1024 + 20_480) * 1024);
  expect(residentBytes(listing, 12)).toBe(0);
});
