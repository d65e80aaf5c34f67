import { describe, expect, test } from 'vitest';
import { parseResponse } from '../../../functions/engines/runtime/worker/parse-response.ts';
import { maxFilesPerTask } from '../../../shared/tasks/limits.ts';

const output = { name: 'a.webp', format: 'webp' };

describe('A line of an engine', () => {
  test.for([
    [{ type: 'isolation', barriers: { files: { stands: true }, network: { stands: false, reason: 'EPERM' } } }],
    [{ type: 'progress', percent: 12.5 }],
    [{ type: 'done', outputs: [output], engineMs: 12 }],
    [{ type: 'done', outputs: [output], details: { before: 2, after: 1 }, engineMs: 0 }],
    [{ type: 'refused', msg: 'The file is damaged.', detail: '', engineMs: 5 }],
    [{ type: 'broken', message: 'Error: no such thing' }],
  ])('is taken as it is: %j', ([response]) => {
    expect(parseResponse(JSON.stringify(response))).toEqual(response);
  });

  test('carries nothing that no engine sends', () => {
    const line = JSON.stringify({ type: 'progress', percent: 1, key: 'files/other' });
    expect(parseResponse(line)).toEqual({ type: 'progress', percent: 1 });
  });

  test.for([
    'null',
    '[]',
    '"done"',
    '{}',
    '{"type":"progress","percent":"50"}',
    '{"type":"isolation","barriers":{"files":{"stands":"yes"}}}',
    '{"type":"isolation","barriers":{"files":{"stands":false}}}',
    '{"type":"done","engineMs":1}',
    '{"type":"done","outputs":[]}',
    '{"type":"done","outputs":[],"engineMs":-1}',
    '{"type":"done","outputs":[{"name":"a"}],"engineMs":1}',
    '{"type":"done","outputs":[null],"engineMs":1}',
    '{"type":"refused","msg":{},"engineMs":1}',
    JSON.stringify({ type: 'done', outputs: Array.from({ length: maxFilesPerTask + 1 }, () => output), engineMs: 1 }),
  ])('is refused where it has another form: %s', (line) => {
    expect(() => parseResponse(line)).toThrow('Expected a response of an engine');
  });

  test('is refused where it is no JSON', () => {
    expect(() => parseResponse('progress')).toThrow(SyntaxError);
  });
});
