import { describe, expect, it } from 'vitest';
import { fetchableUrl, findSource, nameOf } from '../../../../functions/api/pictures/sources.ts';

const hosts = [
  { host: 'a.example.com', prefix: '/public/' },
  { host: '*.example.org' },
  { host: 'b.example.com:8080' },
];
const store = {
  bucket: 'photos',
  region: 'eu-central-1',
  access_key_id: 'AKIA',
  secret_access_key: 's',
  prefix: 'in/',
};

describe('the sources of a key', () => {
  it.each([
    'https://a.example.com/public/a.png',
    'http://A.Example.com/public/x/../a.png',
    'https://a.example.com:443/public/a%20b.png?x=/../..',
    'https://x.example.org/a.png',
    'https://x.y.example.org/a.png',
    'http://b.example.com:8080/a.png',
  ])('include %s', (url) => {
    expect(findSource(hosts, url)).toBeDefined();
  });

  it.each([
    'https://a.example.com/a.png',
    'https://a.example.com/public',
    'https://a.example.com/public/../a.png',
    'https://a.example.com/public/%2e%2E/a.png',
    'https://a.example.com/public/..%2fa.png',
    'https://a.example.com/public/%252e%252e%252fa.png',
    'https://a.example.com/public/..\\a.png',
    'https://a.example.com/public/..%5ca.png',
    'https://a.example.com:8443/public/a.png',
    'https://a.example.com@evil.example/public/a.png',
    'https://a.example.com.evil.example/public/a.png',
    'https://example.org/a.png',
    'https://evilexample.org/a.png',
    'https://b.example.com/a.png',
    'ftp://a.example.com/public/a.png',
    'file:///public/a.png',
    '//a.example.com/public/a.png',
    'a.example.com/public/a.png',
    's3://a.example.com/public/a.png',
    '',
  ])('exclude %j', (url) => {
    expect(findSource(hosts, url)).toBeUndefined();
  });

  it('include the objects of a bucket under its prefix, by a signed URL', async () => {
    const found = findSource([store], 's3://photos/in/a b?.png');
    if (!found) throw new Error('It was not found.');
    const url = new URL(await fetchableUrl(found));

    expect(nameOf(found)).toBe('a b?.png');
    expect(url.origin).toBe('https://photos.s3.eu-central-1.amazonaws.com');
    expect(url.pathname).toBe('/in/a%20b%3F.png');
    expect(url.searchParams.get('X-Amz-Credential')).toMatch(/^AKIA\//);
    for (const source of ['s3://photos/out/a.png', 's3://photos/in/../a.png', 's3://other/in/a.png', 's3://photos/'])
      expect(findSource([store], source)).toBeUndefined();
  });
});
