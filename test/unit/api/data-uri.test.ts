import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeDataUri } from '../../../functions/api/creation/data-uri.ts';

const form = 'Expected a data URI of the form data:<media_type>;base64,<data>.';
const invalid = 'The data after the comma is not valid base64.';

function decoded(uri: string): string {
  const result = decodeDataUri(uri);
  return 'bytes' in result ? Buffer.from(result.bytes).toString('latin1') : `error: ${result.error}`;
}

describe('a data URI', () => {
  it.each([
    ['data:text/plain;base64,aGVsbG8=', 'hello'],
    ['data:;base64,aGVsbG8=', 'hello'],
    ['DATA:text/plain;charset=utf-8;BASE64,aGVsbG8=', 'hello'],
    ['data:text/plain;base64,aGVs\r\n bG8=', 'hello'],
    ['data:text/plain;base64,aGVsbG8', 'hello'],
    ['data:image/png;base64,-_-_', '\xfb\xff\xbf'],
    ['data:image/png;base64,+/+/', '\xfb\xff\xbf'],
  ])('%j is decoded', (uri, content) => {
    expect(decoded(uri)).toBe(content);
  });

  it.each(['', 'aGVsbG8=', 'data:text/plain,hello', 'data:text/plain;base64', 'http://x;base64,aGVsbG8='])(
    '%j is refused with the form it should have',
    (uri) => {
      expect(decoded(uri)).toBe(`error: ${form}`);
    },
  );

  it.each(['aGVs!', 'a', 'aGVsb', 'aGVsb===', 'aGVsb=', 'A=', 'AA=', '=', 'aG=s', 'aGVsbG8=aGVs', 'aGVs,bG8='])(
    'with the data %j is refused instead of giving a damaged file',
    (data) => {
      expect(decoded(`data:text/plain;base64,${data}`)).toBe(`error: ${invalid}`);
    },
  );

  it.each(['', '   '])('with the data %j is an empty file', (data) => {
    expect(decoded(`data:text/plain;base64,${data}`)).toBe('error: The file is empty.');
  });

  it('gives any content back as it was', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1 }), fc.constantFrom('base64', 'base64url'), (content, alphabet) => {
        const uri = `data:application/octet-stream;base64,${Buffer.from(content).toString(alphabet)}`;
        expect(decodeDataUri(uri)).toEqual({ bytes: Buffer.from(content) });
      }),
    );
  });

  it('never throws, and never gives an empty file', () => {
    fc.assert(
      fc.property(fc.string(), fc.string({ unit: fc.constantFrom(...'aZ0+/-_= ,') }), (header, data) => {
        for (const uri of [header, data, `data:${header};base64,${data}`]) {
          const result = decodeDataUri(uri);
          expect('error' in result || result.bytes.byteLength > 0).toBe(true);
        }
      }),
    );
  });
});
