import { describe, expect, it } from 'vitest';
import { isJson } from '../../src/lambda/is-json.ts';

const file = Buffer.alloc(100_000, 'content').toString('base64');
const spaces = ' '.repeat(100_000);

describe('isJson', () => {
  it.each([
    ['a short object', '{"a":[1,true,null,"ü"]}'],
    ['a file in base64', `{"a":"${file}","b":"${file}A","c":["${file}AA"]}`],
    ['a long key', `{"${file}":"${file}"}`],
    ['a long string with escapes', `["${file}\\"${file}\\n${file}"]`],
    ['a long string in other scripts', `["${file}ü${file}"]`],
    ['long gaps between values', `["a"${spaces},${spaces}"b"]${spaces}`],
    ['many numbers', `["a",${'1,'.repeat(100_000)}"b"]`],
  ])('accepts %s', (_, text) => {
    expect([isJson(Buffer.from(text)), JSON.parse(text) !== undefined]).toEqual([true, true]);
  });

  it.each([
    ['nothing', ''],
    ['a text', 'hello'],
    ['a string without an end', `["${file}`],
    ['a string after another', `["a"${file}"b"]`],
    ['a string after spaces', `["a"${spaces}"b"]`],
    ['a file outside of a string', `["a",${file},"b"]`],
    ['an invalid escape', `["${file}\\q${file}"]`],
    ['a comma at the end', `["${file}",]`],
    ...[0, 1, 2, 3, 4, 50_001, 50_002, 50_003, 50_004].flatMap((at) =>
      ['\n', '\0', '\x1f'].map((sign) => [
        `${JSON.stringify(sign)} at ${at} of a file`,
        `{"a":"${file.slice(0, at)}${sign}${file.slice(at)}","b":1}`,
      ]),
    ),
    ['a line break at the end of a file', `{"a":"${file}\n","b":1}`],
  ])('refuses %s', (_, text) => {
    expect(isJson(Buffer.from(text))).toBe(false);
    expect(() => JSON.parse(text)).toThrow(SyntaxError);
  });
});
