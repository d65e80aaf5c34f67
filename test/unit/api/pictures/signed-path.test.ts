import { describe, expect, it } from 'vitest';
import { signatureOf } from '../../../../functions/api/pictures/signature.ts';
import { signedPath } from '../../../../functions/api/pictures/signed-path.ts';

const key = { key: '01'.repeat(32), salt: '02'.repeat(32) };
const sign = (path: string) => `/${signatureOf(path, key)}${path}`;
const source = 'https://a.example.com/ä b/c@2x.png';

describe('a path that API Gateway has decoded', () => {
  it.each([
    '/w:1/aHR0cHM6Ly9h.png',
    `/w:1/plain/${encodeURIComponent(source)}`,
    `/w:1/plain/${encodeURIComponent(source)}@webp`,
    `/w:1/plain/${encodeURI(source).replace('@', '%40')}`.replace('%40', '@'),
    '/plain/https://a.example.com/b.png',
    `/plain/${encodeURIComponent('https://a.example.com/100%.png')}`,
  ])('has the signature of %s', (path) => {
    expect(signedPath({ path: decodeURIComponent(sign(path)), isDecoded: true }, key)).toBe(path);
  });

  it.each(['/w:2/plain/https://a.example.com/a b.png', '/w:1/plain/https://a.example.com/a c.png'])(
    'is refused if it is %s',
    (other) => {
      const [, signature] = sign('/w:1/plain/https%3A%2F%2Fa.example.com%2Fa%20b.png').split('/');

      expect(() => signedPath({ path: `/${signature}${other}`, isDecoded: true }, key)).toThrow(
        'The signature is invalid.',
      );
    },
  );
});

describe('a path as the client sent it', () => {
  it('is verified as it is, and not encoded again', () => {
    const path = `/plain/${encodeURIComponent(source)}`;

    expect(signedPath({ path: sign(path), isDecoded: false }, key)).toBe(path);
    expect(() => signedPath({ path: decodeURIComponent(sign(path)), isDecoded: false }, key)).toThrow();
  });
});
