import { describe, expect, test } from 'vitest';
import { inFormat, planOutputs, withSuffix } from '../../../packages/client/src/cli/plan.ts';
import { OutputNames } from '../../../packages/client/src/node/paths.ts';

describe('the outputs of several inputs', () => {
  const cases: [string, string[], string[]][] = [
    ['are named after their inputs', ['a/x.jpg', 'a/y.jpg'], ['out/x.webp', 'out/y.webp']],
    ['tell inputs of one stem by the whole name', ['a/x.jpg', 'a/x.png'], ['out/x.jpg.webp', 'out/x.png.webp']],
    ['are numbered where whole names are the same', ['a/x.jpg', 'b/x.jpg'], ['out/x.webp', 'out/x-2.webp']],
    [
      'are numbered past a name that an input has',
      ['a/x.jpg', 'b/x.jpg', 'x-2.jpg'],
      ['out/x.webp', 'out/x-3.webp', 'out/x-2.webp'],
    ],
    ['differ by more than case', ['a/x.jpg', 'b/X.JPG'], ['out/x.webp', 'out/X-2.webp']],
    [
      'differ by more than the form of Unicode',
      ['a/\u00e9.jpg', 'b/e\u0301.jpg'],
      ['out/\u00e9.webp', 'out/e\u0301-2.webp'],
    ],
    ['do not replace another input', ['in/z.png', 'out/z.webp'], ['out/z.png.webp', 'out/z.webp.webp']],
  ];
  test.each(cases)('%s', (_rule, inputs, outputs) => {
    const found = inputs.map((input) => ({ input, place: input.replace(/^.*\//, '') }));
    expect(planOutputs(found, inFormat('webp'), 'out').map(({ output }) => output)).toEqual(outputs);
  });

  test('are numbered when they are compressed into one folder', () => {
    const found = ['a/x.pdf', 'b/x.pdf', 'c/X.pdf'].map((input) => ({ input, place: input.slice(2) }));
    expect(planOutputs(found, withSuffix(''), 'out').map(({ output }) => output)).toEqual([
      'out/x.pdf',
      'out/x-2.pdf',
      'out/X-3.pdf',
    ]);
  });

  test('are kept from an input that lies where another output would', () => {
    const found = [
      { input: 'src/sub/a.png', place: 'sub/a.png' },
      { input: 'out/sub/a.webp', place: 'a.webp' },
    ];
    expect(planOutputs(found, inFormat('webp'), 'out').map(({ output }) => output)).toEqual([
      'out/sub/a-2.webp',
      'out/a.webp',
    ]);
  });

  test('do not take the numbers of an output of several files', () => {
    const names = new OutputNames([
      { input: 'doc.pdf', output: 'doc.jpg' },
      { input: 'doc-1.pdf', output: 'doc-1.jpg' },
    ]);
    expect(names.take('doc.pdf', 'doc.jpg', 2)).toEqual(['doc-2-1.jpg', 'doc-2-2.jpg']);
    expect(names.take('doc-1.pdf', 'doc-1.jpg')).toEqual(['doc-1.jpg']);
    expect(names.take('doc.pdf', 'doc.jpg', 2)).toEqual(['doc-2-1.jpg', 'doc-2-2.jpg']);
  });
});
