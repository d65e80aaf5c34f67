import { expect, test } from 'vitest';
import { outcomeOf } from '../../commands/verify/outcome.ts';

const crash = `[1mSynthesizing[22m
file:///test/main.ts:70
  throw new Error('no');
        ^

Error: CloudFormation responded with status 400
    at call (file:///test/main.ts:70:27) {
  [cause]: undefined
}

Node.js v24.21.0
npm error Lifecycle script failed
`;

test.each([
  ['passes with its last line', 'a\n\u001b[32m404 passed, 0 failed\u001b[39m\n\n', 0, 'passed', '404 passed, 0 failed'],
  [
    'fails by its exit code, whatever it prints',
    'Skipped: no Python.\nAll of it holds.\n',
    1,
    'failed',
    'All of it holds.',
  ],
  ['fails where a signal ended it', '', null, 'failed', 'printed nothing'],
  [
    'is skipped with its reason',
    '> lathe\nSkipped: pip could not install x.\n',
    0,
    'skipped',
    'pip could not install x.',
  ],
])('a command %s', (_, output, code, result, detail) => {
  expect(outcomeOf(output, code)).toEqual({ result, detail, leftOut: [] });
});

test('a command that breaks off shows its error, not the trace', () => {
  expect(outcomeOf(crash, 1).detail).toBe('Error: CloudFormation responded with status 400');
  const withoutTrace = '[TypeError: fetch failed] {\n  [cause]: [Error: wrong version number]\n}\n\nNode.js v24.21.0\n';
  expect(outcomeOf(withoutTrace, 1).detail).toBe('[TypeError: fetch failed] {');
});

test('a command that passes tells what it left out', () => {
  const output = 'versitygw\n  left out: Go is missing\nSkipped 3 in test/a.test.ts: no Calibre\n8 passed, 0 failed\n';
  expect(outcomeOf(output, 0)).toEqual({
    result: 'passed',
    detail: '8 passed, 0 failed',
    leftOut: ['left out: Go is missing', 'Skipped 3 in test/a.test.ts: no Calibre'],
  });
});
