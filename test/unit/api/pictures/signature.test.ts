import { createHmac } from 'node:crypto';
import { generateImageUrl } from '@imgproxy/imgproxy-node';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HttpError } from '../../../../functions/api/http/errors.ts';
import { splitPath } from '../../../../functions/api/pictures/parse-path.ts';
import { type PictureKey, signatureOf, verifySignature } from '../../../../functions/api/pictures/signature.ts';

const endpoint = 'https://pictures.example.com/i/6af9126cc0830000f25c62d1';
const pictureKey = {
  key: '943b421c9eb07c830af81030552c86009268de4e532ba2ee2eab8247c6da0881',
  salt: '520f986b998545b4785e0defbc4f3c1203f22de2374a3d53cb7a7fe9fea309c5',
};
const otherKey = { key: '00'.repeat(32), salt: pictureKey.salt };
const otherSalt = { key: pictureKey.key, salt: '00' };

function clientPath(url: string, width: number, keys: { key?: string; salt?: string } = pictureKey): string {
  return generateImageUrl({ endpoint, url, options: { width }, ...keys }).slice(endpoint.length);
}

/** Returns the reason for the refusal; undefined if the path is valid. */
function refusal(path: string, key: PictureKey = pictureKey): string | undefined {
  try {
    verifySignature(splitPath(path), key);
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    expect(error).toMatchObject({ status: 403, errorCode: 'invalid_signature' });
    return error.message;
  }
  return undefined;
}

const [, signature = '', rest = ''] = /^\/([^/]+)(\/.*)$/.exec(clientPath('https://example.com/a.jpg', 300)) ?? [];

describe('the signature of a picture', () => {
  it('is that of the documentation of imgproxy', () => {
    const path = '/rs:fill:300:400:0/g:sm/aHR0cDovL2V4YW1w/bGUuY29tL2ltYWdl/cy9jdXJpb3NpdHku/anBn.png';

    expect(signatureOf(path, { key: '736563726574', salt: '68656C6C6F' })).toBe(
      'oKfUtW34Dvo2BGQehJFR4Nr0_rIjOtdtzJ3QFsUcXH8',
    );
  });

  it('by the client of imgproxy is valid for its key only', () => {
    fc.assert(
      fc.property(fc.webUrl({ withQueryParameters: true }), fc.nat(), (url, width) => {
        expect(refusal(clientPath(url, width))).toBeUndefined();
        for (const key of [otherKey, otherSalt])
          expect(refusal(clientPath(url, width, key))).toBe('The signature is invalid.');
      }),
      { numRuns: 50 },
    );
  });

  it('is valid after a proxy has encoded the colons of options or merged slashes', () => {
    const plain = '/w:300/plain/https://example.com/a.jpg';
    const signed = `/${signatureOf(plain, pictureKey)}`;

    expect(refusal(`/${signature}${rest.replace(':', '%3A')}`)).toBeUndefined();
    expect(refusal(`${signed}${plain.replace('//', '/')}`)).toBeUndefined();
    expect(refusal(`${signed}${plain}?query`)).toBeUndefined();
  });

  it('is invalid for any other path', () => {
    for (const path of [`${rest}.png`, `${rest}/`, rest.replace('300', '301'), `/h:1${rest}`, rest.replace('w', '%77')])
      expect(refusal(`/${signature}${path}`)).toBe('The signature is invalid.');
  });

  it('is invalid if a character is different or missing, or one is added', () => {
    for (let index = 0; index < signature.length; index++) {
      const other = signature[index] === 'A' ? 'B' : 'A';
      expect(refusal(`/${signature.slice(0, index)}${other}${signature.slice(index + 1)}${rest}`)).toBeDefined();
      if (index > 0) expect(refusal(`/${signature.slice(0, index)}${rest}`)).toBeDefined();
    }
    for (const suffix of ['A', '=', '%3D', '.', ' ', '\n'])
      expect(refusal(`/${signature}${suffix}${rest}`)).toBeDefined();
  });

  it('has one encoding only', () => {
    const bytes = Buffer.from(signature, 'base64url');
    const others = [bytes.toString('base64').replaceAll('/', '%2F'), bytes.toString('hex'), bytes.toString('latin1')];
    // The last two bits of the last character are unused, so that four characters decode to the same bytes.
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const sameBytes = [...alphabet]
      .map((last) => signature.slice(0, -1) + last)
      .filter((text) => text !== signature && Buffer.from(text, 'base64url').equals(bytes));

    expect(sameBytes).toHaveLength(3);
    for (const text of [...others, ...sameBytes, `${signature}=`, encodeURI(`${signature} `)])
      expect(refusal(`/${text.replaceAll('/', '_')}${rest}`)).toBeDefined();
  });

  it('is as long as the key says, neither shorter nor longer', () => {
    const truncated = createHmac('sha256', Buffer.from(pictureKey.key, 'hex'))
      .update(Buffer.from(pictureKey.salt, 'hex'))
      .update(rest)
      .digest()
      .subarray(0, 12)
      .toString('base64url');

    expect(refusal(`/${truncated}${rest}`, { ...pictureKey, signatureSize: 12 })).toBeUndefined();
    expect(refusal(`/${truncated}${rest}`)).toBeDefined();
    expect(refusal(`/${truncated}${rest}`, { ...pictureKey, signatureSize: 13 })).toBeDefined();
    expect(refusal(`/${signature}${rest}`, { ...pictureKey, signatureSize: 12 })).toBeDefined();
  });

  it.each(['unsafe', 'insecure', '_'])('is never %s', (placeholder) => {
    expect(refusal(`/${placeholder}${rest}`)).toBe('URLs without a signature are not valid.');
    expect(refusal(`/${placeholder}1${rest}`)).toBe('The signature is invalid.');
  });

  it('by the client without a key is insecure', () => {
    const path = clientPath('https://example.com/a.jpg', 300, {});

    expect(refusal(path)).toBe('URLs without a signature are not valid.');
  });

  it('is missed if the path begins with an option', () => {
    expect(refusal(rest)).toBe('Expected a signature before the options, but the path begins with an option.');
  });

  it.each<[string, PictureKey]>([
    ['an empty key', { key: '', salt: '00' }],
    ['an empty salt', { key: '00', salt: '' }],
    ['a key that is not hexadecimal', { key: 'secret', salt: '00' }],
    ['half a byte', { key: '000', salt: '00' }],
    ['a signature that can be guessed', { ...pictureKey, signatureSize: 7 }],
    ['a signature longer than the digest', { ...pictureKey, signatureSize: 33 }],
  ])('is not computed with %s', (_name, key) => {
    expect(() => signatureOf('/a', key)).toThrow('Expected');
    expect(() => verifySignature({ signature: 'a', path: '/a' }, key)).toThrow('Expected');
  });
});
