import { describe, expect, test } from 'vitest';
import { parseResponse } from '../../../functions/invocation/parse-response.ts';

const survey = { seconds: 100, start: 0, end: 60, sound: true, boundaries: [10, 20.5, 40] };
const parse = (value: unknown, outputs: unknown = []) =>
  parseResponse(JSON.stringify({ type: 'done', outputs, details: { survey: value }, engineMs: 5 }), {
    outputFormat: 'mp4',
    part: { kind: 'survey' },
    elapsedMs: 10,
  });

describe('A survey', () => {
  test('is taken without what it does not have', () => {
    expect(parse({ ...survey, plan: 'mine' })).toEqual({ type: 'done', outputs: [], survey, engineMs: 5 });
    expect(parse({ seconds: 1, start: 0, end: 0, sound: false, whole: 'It is\u001ba slide\nshow.' })).toMatchObject({
      survey: { whole: 'It is a slide show.' },
    });
  });

  test('has a target size, if the options have one', () => {
    const size = { bytes: 1_000_000, overhead: 5_000 };
    expect(parse({ ...survey, size: { ...size, path: '/etc' } })).toMatchObject({ survey: { size } });
  });

  test('has no outputs, whatever the engine says', () => {
    expect(parse(survey, [{ name: 'a', format: 'mp4', etag: '"0"' }])).toMatchObject({ outputs: [] });
  });

  test('may have 20,000 boundaries', () => {
    const boundaries = Array.from({ length: 20_000 }, (_, index) => 0.123456 + index / 500);
    expect(parse({ ...survey, boundaries })).toMatchObject({ survey: { boundaries } });
  });

  test.each([
    ['is missing', undefined],
    ['is a list', [survey]],
    ['has a negative time', { ...survey, seconds: -1 }],
    ['takes forever', { ...survey, seconds: 1e300 }],
    ['has no number', { ...survey, seconds: '100' }],
    ['ends before it starts', { ...survey, start: 61 }],
    ['has boundaries that do not ascend', { ...survey, boundaries: [10, 10] }],
    ['has a boundary outside', { ...survey, boundaries: [10, 61] }],
    ['has a boundary that is no number', { ...survey, boundaries: [10, null] }],
    ['has too many boundaries', { ...survey, boundaries: Array.from({ length: 20_001 }, (_, index) => index / 1_000) }],
    ['does not say whether there is sound', { ...survey, sound: 'yes' }],
    ['has a target size of nothing', { ...survey, size: { bytes: 0, overhead: 0 } }],
    ['has a negative overhead', { ...survey, size: { bytes: 1, overhead: -1 } }],
    ['has a reason that is no text', { ...survey, whole: {} }],
  ])('is refused if it %s', (_, value) => {
    expect(() => parse(value)).toThrow("The engine's response was not valid");
  });
});

describe('A part', () => {
  const parsePart = (outputs: unknown[], kind: 'chunk' | 'measure' | 'join') =>
    parseResponse(JSON.stringify({ type: 'done', outputs, engineMs: 5 }), {
      outputFormat: 'mp4',
      part: kind === 'join' ? { kind, starts: [0], sound: false } : { kind, index: 0, from: 0 },
      elapsedMs: 10,
    });
  const output = (format: string) => ({ name: `a.${format}`, format, etag: '"0"' });

  test('has one output, which may be Matroska if it is joined later', () => {
    expect(parsePart([output('mkv')], 'chunk')).toMatchObject({ outputs: [output('mkv')] });
    expect(parsePart([output('mkv')], 'measure')).toMatchObject({ outputs: [output('mkv')] });
    expect(parsePart([output('mp4')], 'join')).toMatchObject({ outputs: [output('mp4')] });
    for (const [outputs, kind] of [
      [[output('mkv')], 'join'],
      [[output('zip')], 'chunk'],
      [[output('mkv'), output('mkv')], 'chunk'],
      [[], 'chunk'],
    ] as const)
      expect(() => parsePart([...outputs], kind)).toThrow("The engine's response was not valid");
  });
});
