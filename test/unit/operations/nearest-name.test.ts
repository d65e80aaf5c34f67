import { expect, test } from 'vitest';
import { operationSchemas } from '../../../functions/api/creation/schemas.ts';
import { nearestName } from '../../../shared/operations/nearest-name.ts';
import { operationNames } from '../../../shared/operations/operations.ts';

test.each([
  ['outputFormat', 'output_format'],
  ['output-format', 'output_format'],
  ['output_fromat', 'output_format'],
  ['outputformt', 'output_format'],
  ['inputs', 'input'],
  ['option', 'options'],
  ['uri', 'url'],
  ['URL', 'url'],
])('%s is a misspelling of %s', (name, meant) => {
  expect(nearestName(name, ['input', 'input_format', 'output_format', 'options', 'url'])).toBe(meant);
});

test('the fields that other services have are none of ours', () => {
  const fields = [
    ...['engine', 'engine_version', 'timeout', 'name', 'id', 'job', 'type', 'status', 'description', 'callback'],
    ...['metadata', 'priority', 'redirect', 'ignore_error', 'inline', 'storage', 'language', 'title', 'format', 'acl'],
    ...['output', 'target', 'source', 'preset', 'convert_to', 'notify', 'a', '', 'ä'.repeat(80)],
  ];
  for (const operation of operationNames) {
    const known = Object.keys(operationSchemas[operation].shape);
    const found = fields.flatMap((name) => nearestName(name, known) ?? []);
    expect([operation, found]).toEqual([operation, []]);
    // No field of an operation is taken for another of its fields.
    for (const name of known)
      expect(
        nearestName(
          name,
          known.filter((other) => other !== name),
        ),
      ).toBeUndefined();
  }
});
