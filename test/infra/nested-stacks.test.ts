import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readFlattened } from '../../packages/local-aws/src/template/flatten.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lathe-test-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const queue = (properties: object = {}) => ({ Type: 'AWS::SQS::Queue', Properties: properties });
const nested = (parameters: object, file = 'inner.json') => ({
  Type: 'AWS::CloudFormation::Stack',
  Properties: { TemplateURL: 'https://example.com', Parameters: parameters },
  Metadata: { 'aws:asset:path': file },
});

function flatten(outer: object, inner: object): unknown {
  writeFileSync(join(folder, 'inner.json'), JSON.stringify(inner));
  writeFileSync(join(folder, 'outer.json'), JSON.stringify(outer));
  return readFlattened(join(folder, 'outer.json'));
}

test('resources of a nested stack receive its parameters, and the outer stack its outputs', () => {
  const flattened = flatten(
    {
      Resources: {
        Outer: queue({ Name: { 'Fn::GetAtt': ['Nested', 'Outputs.Name'] } }),
        Nested: nested({ Given: { Ref: 'Setting' } }),
      },
      Outputs: { Name: { Value: { 'Fn::GetAtt': ['Nested', 'Outputs.Name'] } } },
    },
    {
      Parameters: { Given: { Type: 'String' }, Usual: { Type: 'String', Default: 'usual' } },
      Resources: { Inner: queue({ Given: { 'Fn::Join': ['', [{ Ref: 'Given' }, { Ref: 'Usual' }]] } }) },
      Outputs: { Name: { Value: { 'Fn::GetAtt': ['Inner', 'QueueName'] } } },
    },
  );

  expect(flattened).toEqual({
    Resources: {
      Inner: queue({ Given: { 'Fn::Join': ['', [{ Ref: 'Setting' }, 'usual']] } }),
      Outer: queue({ Name: { 'Fn::GetAtt': ['Inner', 'QueueName'] } }),
    },
    Outputs: { Name: { Value: { 'Fn::GetAtt': ['Inner', 'QueueName'] } } },
  });
});

test.for<[string, object, object, RegExp]>([
  ['a parameter that is not given', nested({}), { Parameters: { Given: { Type: 'String' } } }, /not given .* Given/],
  ['a parameter that is not declared', nested({ Other: 'x' }), {}, /has no parameter Other/],
  ['a resource that the outer stack has too', nested({}), { Resources: { Outer: queue() } }, /a resource Outer/],
  ['a condition', nested({}), { Conditions: { Sometimes: true } }, /Template of Nested\.Conditions/],
  ['an output that it does not have', nested({}), {}, /Nested\.Outputs\.Name is not an output/],
  ['a template that is nowhere', { ...nested({}), Metadata: {} }, {}, /does not say which file/],
  [
    'a parameter inside a text',
    nested({ Given: 'x' }),
    {
      Parameters: { Given: { Type: 'String' } },
      Resources: { Inner: queue({ Name: { 'Fn::Sub': '$' + '{Given}' } }) },
    },
    /Fn::Sub of the parameter Given/,
  ],
])('an error names %s', ([, stack, inner, message]) => {
  const outer = { Resources: { Outer: queue({ Name: { 'Fn::GetAtt': ['Nested', 'Outputs.Name'] } }), Nested: stack } };
  expect(() => flatten(outer, inner)).toThrow(message);
});
