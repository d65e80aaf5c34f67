import { describe, expect, test } from 'vitest';
import type { PartRequest } from '../../../functions/engines/runtime/protocol.ts';
import { parseResponse } from '../../../functions/invocation/parse-response.ts';

const survey = { seconds: 100, start: 0, end: 60, sound: true, boundaries: [10, 20.5, 40] };
const parse = (value: unknown, outputs: unknown = []) =>
  parseResponse(JSON.stringify({ type: 'done', outputs, details: { survey: value }, engineMs: 5 }), {
    outputFormat: 'mp4',
    part: { kind: 'survey' },
    inputs: [{ size: 1_000 }],
    elapsedMs: 10,
  });
const reads = {
  index: [
    [0, 10],
    [900, 1_000],
  ],
  from: [10, 200, 400, 600, 800],
  to: [50, 300, 500, 700, 900],
  pictures: [0, 100, 205, 400, 600],
};

describe('A survey', () => {
  test('is taken without what it does not have', () => {
    expect(parse({ ...survey, plan: 'mine' })).toEqual({ type: 'done', outputs: [], survey, engineMs: 5 });
    expect(parse({ seconds: 1, start: 0, end: 0, sound: false, whole: 'It is\u001ba slide\nshow.' })).toMatchObject({
      survey: { whole: 'It is a slide show.' },
    });
  });

  test('says which bytes the parts need', () => {
    const complete = { ...survey, reads: { ...reads, sound: [[5, 6]], join: reads.index } };
    expect(parse({ ...complete, reads: { ...complete.reads, more: [] } })).toMatchObject({ survey: complete });
  });

  test.each([
    ['are no object', []],
    ['are outside the file', { ...reads, index: [[0, 1_001]] }],
    ['begin before it', { ...reads, index: [[-1, 5]] }],
    ['are no integers', { ...reads, index: [[0.5, 5]] }],
    ['are no pair', { ...reads, index: [[1, 2, 3]] }],
    ['lack an end', { ...reads, index: [[1]] }],
    ['are empty', { ...reads, sound: [[5, 5]] }],
    [
      'overlap',
      {
        ...reads,
        join: [
          [0, 10],
          [10, 20],
        ],
      },
    ],
    [
      'descend',
      {
        ...reads,
        join: [
          [20, 30],
          [0, 10],
        ],
      },
    ],
    ['are too many', { ...reads, index: Array.from({ length: 2_001 }, () => [0, 1]) }],
    ['are of too few chunks', { ...reads, from: [10, 200, 400, 600] }],
    ['are of chunks that begin outside', { ...reads, from: [10, 200, 400, 600, 1_001] }],
    ['are of chunks that end where they start', { ...reads, from: [10, 500, 500, 600, 800] }],
    ['are of chunks in another order', { ...reads, from: [200, 10, 400, 600, 800] }],
    ['have fewer pictures before a later boundary', { ...reads, pictures: [0, 100, 99, 400, 600] }],
  ])('is refused if the bytes %s', (_, value) => {
    expect(() => parse({ ...survey, reads: value })).toThrow("The engine's response was not valid");
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

describe('A survey of pages', () => {
  const png = (name: string) => ({ name, format: 'png', etag: '"0"' });
  const parsePages = (outputs: unknown, part: PartRequest, details: object = {}) =>
    parseResponse(JSON.stringify({ type: 'done', outputs, details, engineMs: 5 }), {
      outputFormat: 'png',
      part,
      elapsedMs: 10,
    });
  const found = { seconds: 100, start: 0, end: 0, sound: false, pages: 400 };

  test('has their number, within bounds', () => {
    expect(parse(found)).toMatchObject({ survey: { pages: 400 } });
    for (const pages of [0, 5_001, 1.5, '4', null]) expect(() => parse({ ...found, pages })).toThrow();
  });

  test('may be the whole run if that was allowed, and is nothing else', () => {
    const part = { kind: 'survey', wholeWithin: 90 } as const;
    const performed = parsePages([png('1'), png('2')], part);
    expect(performed).toMatchObject({ outputs: [{ name: '1' }, { name: '2' }] });
    expect(performed).not.toHaveProperty('survey');
    expect(parsePages([], part, { survey: found })).toMatchObject({ outputs: [], survey: found });
    expect(() => parsePages([], part)).toThrow();
  });

  test('is followed by parts with a file for each page, no more and no fewer', () => {
    const part = { kind: 'pages', from: 4, to: 6 } as const;
    expect(parsePages([png('5'), png('6')], part)).toMatchObject({ outputs: [{ name: '5' }, { name: '6' }] });
    expect(() => parsePages([png('5')], part)).toThrow();
    expect(() => parsePages([png('5'), png('6'), png('7')], part)).toThrow();
    expect(() => parsePages([png('5'), { ...png('6'), format: 'mkv' }], part)).toThrow();
  });
});
