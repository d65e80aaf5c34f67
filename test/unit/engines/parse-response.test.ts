import { describe, expect, test } from 'vitest';
import { EngineError } from '../../../functions/engines/runtime/engine.ts';
import { parseResponse, parseResponses, responseLimits } from '../../../functions/invocation/parse-response.ts';
import { maxFilesPerTask } from '../../../shared/tasks/limits.ts';

const run = { outputFormat: 'webp', elapsedMs: 5_000 };
const output = { name: 'a.webp', format: 'webp', etag: '"0f-2"' };
const done = { type: 'done', outputs: [output], engineMs: 12 };
const refused = { type: 'refused', msg: 'no', detail: '', engineMs: 1 };

const parse = (response: unknown) => parseResponse(JSON.stringify(response), run);
const withDetails = (details: unknown) => ({ ...done, details });

function nested(depth: number): unknown {
  return depth === 0 ? 1 : { a: nested(depth - 1) };
}

/** Returns what the log says about a line that is refused. */
function violationOf(line: string): string {
  try {
    parseResponse(line, run);
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    expect(error.message).toContain("The engine's response was not valid");
    return error.detail;
  }
  throw new Error(`${line.slice(0, 100)} was accepted.`);
}

describe('A line of an engine', () => {
  test.for([
    [{ type: 'isolation', barriers: { files: { stands: true }, network: { stands: false, reason: 'EPERM' } } }],
    [{ type: 'progress', percent: 12.5 }],
    [{ type: 'progress', percent: 0 }],
    [{ type: 'progress', percent: 100 }],
    [done],
    [{ ...done, outputs: Array.from({ length: maxFilesPerTask }, () => output) }],
    [withDetails({ size_before: 2, size_after: 1, note: 'a.png is 5 % smaller.', warnings: ['It ends early.'] })],
    [withDetails(nested(responseLimits.detailsDepth))],
    [{ ...refused, msg: 'The file is damaged.', detail: 'line 1\n\tline 2' }],
    [{ type: 'broken', message: 'Error: no such thing' }],
  ])('is taken as it is: %j', ([response]) => {
    expect(parse(response)).toEqual(response);
  });

  test('carries nothing that no engine sends', () => {
    expect(parse({ type: 'progress', percent: 1, key: 'files/other' })).toEqual({ type: 'progress', percent: 1 });
    expect(parse({ ...done, outputs: [{ ...output, size: 1, key: 'files/other' }] })).toEqual(done);
  });

  test('has texts of bounded length, without control characters and what disguises others', () => {
    const disguised = 'a\u001b[31mb\u0000c\u202ed\u2028e\n';
    const long = 'x'.repeat(responseLimits.logCharacters * 2);
    expect(parse({ ...refused, msg: disguised, detail: disguised })).toMatchObject({
      msg: 'a [31mb c d e ',
      detail: 'a [31mb c\u202ed\u2028e\n',
    });
    expect(parse(withDetails({ note: disguised, warnings: [disguised] }))).toMatchObject({
      details: { note: 'a [31mb c d e ', warnings: ['a [31mb c d e '] },
    });
    expect(parse({ ...refused, msg: long, detail: `${long}end` })).toMatchObject({
      msg: long.slice(0, responseLimits.msgCharacters),
      detail: expect.stringMatching(new RegExp(`^x{${responseLimits.logCharacters - 3}}end$`)),
    });
    expect(parse({ type: 'broken', message: long })).toEqual({
      type: 'broken',
      message: long.slice(0, responseLimits.logCharacters),
    });
  });

  test('has no more engine time than has passed, whatever the clock of the engine', () => {
    expect(parse({ ...done, engineMs: run.elapsedMs + 10 })).toMatchObject({ engineMs: run.elapsedMs });
  });

  test.for([
    ['progress', 'JSON'],
    ['', 'JSON'],
    ['null', 'an object'],
    ['[]', 'an object'],
    ['7', 'an object'],
    ['"done"', 'an object'],
    ['['.repeat(500_000), 'JSON'],
    [`${'['.repeat(500_000)}${']'.repeat(500_000)}`, 'an object'],
    ['{}', 'a known type'],
    ['{"type":"ready"}', 'a known type'],
    ['{"type":{"toString":"done"}}', 'a known type'],
    ['{"__proto__":{"type":"progress","percent":1}}', 'a known type'],
    ['{"type":"progress","percent":"50"}', 'percent'],
    ['{"type":"progress","percent":null}', 'percent'],
    ['{"type":"progress","percent":1e999}', 'percent'],
    ['{"type":"progress","percent":-1}', 'percent'],
    ['{"type":"progress","percent":100.1}', 'percent'],
    ['{"type":"isolation"}', 'barriers'],
    ['{"type":"isolation","barriers":{"files":{"stands":"yes"}}}', 'stands'],
    ['{"type":"isolation","barriers":{"files":{"stands":false}}}', 'reason'],
    ['{"type":"isolation","barriers":{"wall":{"stands":true}}}', 'the name of a barrier'],
    ['{"type":"isolation","barriers":{"__proto__":{"stands":true}}}', 'the name of a barrier'],
    ['{"type":"isolation","barriers":{"toString":{"stands":true}}}', 'the name of a barrier'],
    ['{"type":"broken"}', 'message'],
    ['{"type":"broken","message":{}}', 'message'],
    ['{"type":"refused","msg":{},"detail":"","engineMs":1}', 'msg'],
    ['{"type":"refused","msg":"no","engineMs":1}', 'detail'],
    ['{"type":"refused","msg":"no","detail":""}', 'engineMs'],
    ['{"type":"done","engineMs":1}', 'outputs'],
    ['{"type":"done","outputs":[],"engineMs":1}', 'outputs'],
    ['{"type":"done","outputs":{"length":1},"engineMs":1}', 'outputs'],
    ['{"type":"done","outputs":[null],"engineMs":1}', 'an output'],
    ['{"type":"done","outputs":[{"name":"a"}],"engineMs":1}', 'the format webp'],
    ['{"type":"done","outputs":[{"name":7,"format":"webp","etag":"\\"0\\""}],"engineMs":1}', 'name'],
  ])('is refused if it has another form: %s', ([line = '', expectation]) => {
    const violation = violationOf(line);
    expect(violation).toContain(expectation);
    expect(violation.length).toBeLessThan(400);
  });

  test.for<[object, string]>([
    [{ ...done, engineMs: -1 }, 'engineMs'],
    [{ ...done, engineMs: '1' }, 'engineMs'],
    [{ ...done, engineMs: run.elapsedMs + responseLimits.clockMs + 1 }, 'engineMs'],
    [{ ...done, outputs: Array.from({ length: maxFilesPerTask + 1 }, () => output) }, '501'],
    [{ ...done, outputs: [{ ...output, format: 'png' }] }, 'the format webp'],
    [{ ...done, outputs: [{ ...output, format: '../../webp' }] }, 'the format webp'],
    [{ ...done, outputs: [{ ...output, name: 'x'.repeat(responseLimits.nameCharacters + 1) }] }, 'a name'],
    [{ ...done, outputs: [{ ...output, etag: '0f' }] }, 'a tag'],
    [{ ...done, outputs: [{ ...output, etag: '"0"\r\nx-amz-acl: "public-read"' }] }, 'a tag'],
    [withDetails(null), 'details'],
    [withDetails([1]), 'details'],
    ...['url', 'files', 'form', 'errorCode', 'msg', 'conversionSeconds'].map((field): [object, string] => [
      withDetails({ [field]: 'forged' }),
      'details without fields of the result',
    ]),
    [withDetails(JSON.parse('{"__proto__":{"url":"x"}}')), 'a key of small letters'],
    [withDetails({ a: JSON.parse('{"__proto__":1}') }), 'a key of small letters'],
    [withDetails({ 'a b': 1 }), 'a key of small letters'],
    [withDetails({ ['a'.repeat(65)]: 1 }), 'a key of small letters'],
    [withDetails(nested(responseLimits.detailsDepth + 1)), 'levels'],
    [withDetails({ a: [[[[1]]]] }), 'levels'],
    [withDetails({ a: 1e300 }), 'a number that can be stored'],
    [withDetails({ a: 1e-300 }), 'a number that can be stored'],
    [withDetails(Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`a${index}`, 1]))), 'keys'],
    [withDetails({ a: 'x'.repeat(responseLimits.detailsCharacters) }), 'details of at most'],
    [withDetails({ warnings: 'one' }), 'warnings'],
    [withDetails({ warnings: [{ html: '<script>' }] }), 'a warning'],
    [withDetails({ warnings: Array.from({ length: maxFilesPerTask + 1 }, () => 'x') }), 'warnings'],
  ])('is refused if it says what no engine would: %j', ([response, expectation]) => {
    expect(violationOf(JSON.stringify(response))).toContain(expectation);
  });
});

describe('An output in the response', () => {
  const instant = { ...run, inlineBytes: 6, archive: 'a.zip' };
  const inline = (...contents: unknown[]) =>
    JSON.stringify({ ...done, outputs: contents.map((content) => ({ name: 'a.webp', format: 'webp', content })) });
  const base64 = (text: string) => Buffer.from(text).toString('base64');

  test('has up to the maximum of bytes', () => {
    const line = inline(base64('123456'));

    expect(parseResponse(line, instant)).toEqual(JSON.parse(line));
  });

  test.for([
    ['more bytes', inline(base64('1234567'))],
    ['no byte', inline('')],
    ['only padding', inline('====')],
    ['other characters', inline('<p>ü')],
    ['other characters among base64', inline('AA!AAA')],
    ['another type', inline({ length: 4 })],
    ['more outputs than one', inline(base64('1'), base64('2'))],
    ['another format', inline(base64('1')).replace('"webp"', '"html"')],
  ])('is refused: %s', ([, line = '']) => {
    expect(() => parseResponse(line, instant)).toThrow(EngineError);
  });

  test('is refused if nobody asked for it', () => {
    expect(() => parseResponse(inline(base64('1')), run)).toThrow(EngineError);
    const zip = JSON.stringify({ ...done, outputs: [{ ...output, format: 'zip' }] });
    expect(() => parseResponse(zip, run)).toThrow(EngineError);
  });
});

describe('An output in parts', () => {
  const large = { overBytes: 10, partBytes: 5, parts: ['one', 'two'], rest: 'rest' };
  const inParts = (...lists: unknown[]) =>
    JSON.stringify({ ...done, outputs: lists.map((parts) => ({ name: 'a.webp', format: 'webp', parts })) });
  const tags = (count: number) => Array.from({ length: count }, (_, index) => `"${index}"`);

  test('has up to as many tags as there are URLs', () => {
    const line = inParts(tags(3));
    expect(parseResponse(line, { ...run, large })).toEqual(JSON.parse(line));
  });

  test.for([
    ['more tags than URLs', inParts(tags(4))],
    ['something other than tags', inParts(['0'])],
    ['something other than a list', inParts({ length: 1 })],
    ['two of them', inParts(tags(1), tags(1))],
    ['another format', inParts(tags(1)).replaceAll('"webp"', '"html"')],
  ])('is refused: %s', ([, line = '']) => {
    expect(() => parseResponse(line, { ...run, large })).toThrow(EngineError);
  });

  test('is refused if there is no upload for it', () => {
    expect(violationOf(inParts(tags(1)))).toContain('one output in parts');
  });
});

describe('A stored response', () => {
  const parseStored = (text: string) => parseResponses(new TextEncoder().encode(text), run);
  const line = (response: unknown) => `${JSON.stringify(response)}\n`;

  test('has the lines so far', () => {
    expect(parseStored(line({ type: 'progress', percent: 3 }) + line(done))).toEqual([
      { type: 'progress', percent: 3 },
      done,
    ]);
    expect(parseStored(line({ ...refused, needsTime: true }))).toEqual([{ ...refused, needsTime: true }]);
    expect(parseStored(line({ ...refused, needsTime: 'yes' }))).toEqual([refused]);
  });

  test.for([
    ['the beginning of a line', JSON.stringify(done)],
    ['a line that is too long', `${' '.repeat(responseLimits.lineCharacters + 1)}\n`],
    ['too many lines', '1\n'.repeat(responseLimits.lines + 1)],
    ['too many bytes', ' '.repeat(responseLimits.bytes + 1)],
    ['something else than lines of JSON', '<html>\n'],
    ['an output of another format', line({ ...done, outputs: [{ ...output, format: 'exe' }] })],
  ])('is refused if it has %s', ([, text]) => {
    expect(() => parseStored(text ?? '')).toThrow("The engine's response was not valid");
  });
});
