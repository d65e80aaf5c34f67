import { describe, expect, it } from 'vitest';
import { parseJson } from '../../src/parse-json.ts';

const file = Buffer.alloc(100_000, 'content').toString('base64');

describe('parseJson', () => {
  it.each<[string, unknown]>([
    ['a short text', { key: 'ü', list: [1, true, null] }],
    ['a file in base64', { inputs: [{ content: file }], name: 'a "quoted" name', end: -1.5e3 }],
    ['several files', { inputs: [{ content: file }, { content: `${file}AA` }], last: file }],
    ['a file as the only value', file],
    ['a long key', { [file]: 'a', b: { [file]: file } }],
    ['long strings with escapes', [`${file}\n`, `"${file}`, `${file}\\`, `"${file}"${file}`, `:${file},`]],
    ['a long string in other scripts', { text: `${file}ü`, file }],
    ['long gaps without strings', [Array.from({ length: 100_000 }, () => 1), 'a', { b: file }]],
  ])('returns what JSON.parse returns for %s', (_, value) => {
    const text = JSON.stringify(value);

    expect(parseJson(Buffer.from(text))).toEqual(JSON.parse(text));
  });

  it('returns what JSON.parse returns for indented text', () => {
    const value = { inputs: [{ [file]: file }], rest: file };

    expect(parseJson(Buffer.from(JSON.stringify(value, undefined, 80_000)))).toEqual(value);
  });
});
