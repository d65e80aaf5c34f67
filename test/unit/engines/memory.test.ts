import { expect, test } from 'vitest';
import { rowsOf } from '../../../functions/engines/runtime/sandbox/processes.ts';

test('the processes of a sandbox are read from what ps lists, as macOS has no /proc', () => {
  const listing =
    '    1     0     1   9000   0:01.50\n 4711     1  4711   1024  61:02.25\n 4712  4711  4711  20480   0:00.00\n';
  const since = { started: 0, endedSeconds: 0 };
  expect(rowsOf(listing)).toEqual([
    { pid: 1, parent: 0, group: 1, residentBytes: 9000 * 1024, ...since, ownSeconds: 1.5 },
    { pid: 4711, parent: 1, group: 4711, residentBytes: 1024 * 1024, ...since, ownSeconds: 3662.25 },
    { pid: 4712, parent: 4711, group: 4711, residentBytes: 20_480 * 1024, ...since, ownSeconds: 0 },
  ]);
});
