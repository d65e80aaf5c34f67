import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { generateImageUrl } from '@imgproxy/imgproxy-node';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ErrorBody } from '../support/client.ts';
import { putAsOperator } from '../support/operator.ts';
import { type JoinedService, joinService } from '../support/shared-service.ts';
import { until } from '../support/until.ts';

interface ImageKey {
  id: string;
  url: string;
  key: string;
  salt: string;
}

let service: JoinedService;
let other: JoinedService;
let files: Server;
let host: string;
let imageKey: ImageKey;
/** Requests that the source has received, by path. */
const fetched: string[] = [];

const picture = (format: 'png' | 'jpeg', width = 400, height = 300) =>
  sharp({ create: { width, height, channels: 3, background: '#e67e22' } })
    .toFormat(format)
    .toBuffer();

beforeAll(async () => {
  const [png, jpeg] = await Promise.all([picture('png'), picture('jpeg')]);
  const black = await sharp({ create: { width: 50, height: 50, channels: 3, background: '#000' } })
    .jpeg()
    .toBuffer();
  const large = Buffer.concat([png, Buffer.alloc(26_000_000)]);
  const noise = await sharp(
    Buffer.alloc(1_600 * 1_100 * 3).map(() => Math.random() * 256),
    {
      raw: { width: 1_600, height: 1_100, channels: 3 },
    },
  )
    .png()
    .toBuffer();
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>alert(1)</script></svg>';
  const contents: Record<string, Buffer | string> = {
    png,
    jpg: jpeg,
    svg,
    large,
    noise,
    html: '<h1>Not an image</h1>',
  };
  files = createServer((request: IncomingMessage, response) => {
    const url = request.url ?? '';
    fetched.push(url);
    if (url.startsWith('/to-private')) return response.writeHead(302, { location: 'http://10.0.0.1/a.png' }).end();
    const name = /\.(\w+)(?:\?|$)/.exec(url)?.[1] ?? '';
    const content = url.startsWith('/missing') ? undefined : url.startsWith('/mark') ? black : contents[name];
    if (content === undefined) return response.writeHead(404).end();
    return setTimeout(() => response.end(content), url.startsWith('/slow') ? 4_000 : 0);
  }).listen(0, '127.0.0.1');
  [service, other] = await Promise.all([joinService(), joinService()]);
  host = `127.0.0.1:${(files.address() as AddressInfo).port}`;
  imageKey = await newKey({});
});
afterAll(() => void files.close());

function newKey(body: Record<string, unknown>): Promise<ImageKey> {
  return service.client.create('/v1/account/image-keys', { name: 'Shop', sources: [{ host }], ...body });
}

type Options = NonNullable<Parameters<typeof generateImageUrl>[0]['options']>;

/** Returns the URL of a picture by the client library of imgproxy. */
function urlOf(
  path: string,
  options: Options = {},
  { url: endpoint, key, salt } = imageKey,
  displayAs: 'plain' | 'base64' = 'plain',
): string {
  const url = path.includes('://') ? path : `http://${host}${path}`;
  // The library signs plain URLs as they are, but browsers change some characters.
  const value = displayAs === 'plain' ? encodeURIComponent(url) : url;
  return generateImageUrl({ endpoint, url: { value, displayAs }, options, key, salt });
}

async function show(url: string, headers: Record<string, string> = {}) {
  const response = await fetch(url, { redirect: 'manual', headers });
  const bytes = Buffer.from(await response.arrayBuffer());
  return { status: response.status, headers: response.headers, bytes };
}

async function refusalOf(url: string): Promise<{ status: number } & ErrorBody> {
  const { status, bytes, headers } = await show(url);
  expect(headers.get('cache-control')).toBe('no-store');
  return { status, ...JSON.parse(bytes.toString()) };
}

describe('An image by URL', () => {
  it('is converted and resized', async () => {
    const { status, headers, bytes } = await show(urlOf('/a.jpg', { width: 100, format: 'webp' }));

    expect(status).toBe(200);
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'image/webp',
      'content-disposition': 'inline; filename="a.webp"',
      'cache-control': 'public, max-age=31536000',
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
      'x-content-type-options': 'nosniff',
    });
    expect(headers.has('vary')).toBe(false);
    expect(await sharp(bytes).metadata()).toMatchObject({ format: 'webp', width: 100, height: 75 });
  });

  it('comes from a plain or an encoded URL, with any characters', async () => {
    const path = '/a b/ü%2F@2x.png?v=1&w=%20#';
    const urls = (['plain', 'base64'] as const).map((as) => urlOf(path, { width: 9 }, imageKey, as));
    const responses = await Promise.all(urls.map((url) => show(url)));

    expect(responses.map(({ status }) => status)).toEqual([200, 200]);
    expect(fetched.filter((each) => each.startsWith('/a%20b/'))).toEqual(
      Array(2).fill('/a%20b/%C3%BC%2F@2x.png?v=1&w=%20'),
    );
  });

  it('has the format that the browser accepts, if the URL has none', async () => {
    const url = urlOf('/a.jpg', { width: 40 });
    const accepts = ['image/avif,image/webp,*/*', 'text/html,image/webp;q=0.8', '*/*'];
    const responses = await Promise.all(accepts.map((accept) => show(url, { accept })));

    expect(responses.map(({ headers }) => headers.get('content-type'))).toEqual([
      'image/avif',
      'image/webp',
      'image/jpeg',
    ]);
    expect(new Set(responses.map(({ headers }) => headers.get('vary')))).toEqual(new Set(['Accept']));
  });

  it('is named and cached as the URL says', async () => {
    const expires = Math.floor(Date.now() / 1000) + 100;
    const options = { filename: { name: encodeURIComponent('Größe.v2') }, return_attachment: true, expires, raw: true };
    const { headers } = await show(urlOf('/a.png', options));

    expect(headers.get('content-disposition')).toBe(
      `attachment; filename="Gr__e.v2.png"; filename*=UTF-8''Gr%C3%B6%C3%9Fe.v2.png`,
    );
    expect(headers.get('cache-control')).toMatch(/^public, max-age=(?:9\d|100)$/);
  });

  it('is made once if a hundred ask at once', async () => {
    // Environments take longer to start than an image to make. Requests are at the same time only once some are running.
    await Promise.all(Array.from({ length: 6 }, (_, index) => show(urlOf(`/slow/${index}.png`, { raw: true }))));
    const url = urlOf('/slow/a.png', { width: 50, format: 'jpg' });
    const responses = await Promise.all(Array.from({ length: 100 }, () => show(url)));

    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(responses.map(({ bytes }) => bytes.toString('base64'))).size).toBe(1);
    expect(fetched.filter((path) => path === '/slow/a.png')).toHaveLength(1);
  });

  it('fails once if many ask at once', async () => {
    const url = urlOf('/slow/a.html', { width: 50 });
    const responses = await Promise.all(Array.from({ length: 10 }, () => show(url)));

    expect(new Set(responses.map(({ status, bytes }) => `${status} ${bytes}`)).size).toBe(1);
    expect(responses[0]?.status).toBe(422);
    expect(fetched.filter((path) => path === '/slow/a.html')).toHaveLength(1);
  });

  it('may be too large for an invocation, and for a response', async () => {
    const [{ status, bytes }, raw] = await Promise.all([
      show(urlOf('/a.noise', { width: 30, format: 'webp' })),
      show(urlOf('/a.noise', { raw: true })),
    ]);

    expect(status).toBe(200);
    expect(await sharp(bytes).metadata()).toMatchObject({ format: 'webp', width: 30 });
    expect(raw.status).toBe(303);
    expect(raw.headers.get('cache-control')).toBe('no-store');
    const file = await show(raw.headers.get('location') ?? '');
    expect(await sharp(file.bytes).metadata()).toMatchObject({ format: 'png', width: 1_600 });
  });

  it('has the watermark of the key, which is fetched once', async () => {
    const key = await newKey({ watermark: `http://${host}/mark/a.jpg` });
    const options = { watermark: { opacity: 1 }, width: 200, format: 'png' as const };
    const responses = [
      await show(urlOf('/white/a.png', options, key)),
      await show(urlOf('/white/b.png', options, key)),
      await show(urlOf('/white/a.png', options)),
    ];

    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(fetched.filter((path) => path === '/mark/a.jpg').length).toBeLessThanOrEqual(2);
    const pixels = await Promise.all(responses.map(({ bytes }) => sharp(bytes).raw().toBuffer()));
    const [marked = Buffer.of(), , plain = Buffer.of()] = pixels;
    expect(plain.equals(marked)).toBe(false);
  });

  it('may be an SVG, which runs no script', async () => {
    const { status, headers, bytes } = await show(urlOf('/a.svg', { format: 'svg' }));

    expect({ status, type: headers.get('content-type') }).toEqual({ status: 200, type: 'image/svg+xml' });
    expect(headers.get('content-security-policy')).toContain('sandbox');
    expect(bytes.toString()).not.toContain('<script');
  });

  it('counts as usage of the key', async () => {
    const key = await newKey({});
    await show(urlOf('/usage/a.png', { width: 10, format: 'webp' }, key));
    const { body } = await service.client.call<{ days: { keys: object; formats: object }[] }>(
      'GET',
      '/v1/account/usage',
    );

    expect(Object.assign({}, ...body.days.map(({ keys }) => keys))).toHaveProperty([key.id]);
  });

  it('comes from a bucket with the credentials of the key', async () => {
    const store = { region: 'eu-central-1', access_key_id: 'AKIAEXAMPLE', secret_access_key: 'secret' };
    const endpoint = `http://${host}`;
    const key = await newKey({ sources: [{ bucket: 'photos', prefix: 'public/', endpoint, ...store }] });
    const { status } = await show(urlOf('s3://photos/public/a b.png', { width: 10 }, key));

    expect(status).toBe(200);
    const [request = ''] = fetched.filter((path) => path.startsWith('/photos/'));
    const { searchParams } = new URL(request, endpoint);
    const time = (searchParams.get('X-Amz-Date') ?? '').replace(/^(....)(..)(..T..)(..)/, '$1-$2-$3:$4:');
    const client = new S3Client({
      ...{ region: store.region, endpoint, forcePathStyle: true, responseChecksumValidation: 'WHEN_REQUIRED' },
      credentials: { accessKeyId: store.access_key_id, secretAccessKey: store.secret_access_key },
    });
    const command = new GetObjectCommand({ Bucket: 'photos', Key: 'public/a b.png' });
    const signed = await getSignedUrl(client, command, { expiresIn: 60, signingDate: new Date(time) });
    expect(`${endpoint}${request}`).toBe(signed);
    for (const source of [
      's3://photos/private/a.png',
      's3://photos/public/../private/a.png',
      's3://others/public/a.png',
    ])
      expect(await refusalOf(urlOf(source, {}, key))).toMatchObject({ status: 404 });
    const { body } = await service.client.call<object>('GET', '/v1/account/image-keys');
    expect(JSON.stringify(body)).not.toContain('"secret"');
    expect(JSON.stringify(body)).not.toContain(key.key);
  });
});

describe('A URL is refused', () => {
  it('if its signature is forged, truncated, missing or that of another key', async () => {
    const url = urlOf('/a.png', { width: 60 });
    const key = await newKey({});
    const signature = url.slice(imageKey.url.length + 1).split('/', 1)[0] ?? '';
    const forged = [
      url.replace('width:60', 'width:61').replace('w:60', 'w:61'),
      url.replace(signature, signature.slice(0, -1)),
      url.replace(signature, 'unsafe'),
      url.replace(imageKey.id, key.id),
    ];

    expect(new Set([url, ...forged]).size).toBe(5);
    for (const each of forged)
      expect(await refusalOf(each)).toMatchObject({ status: 403, errorCode: 'invalid_signature' });
  });

  it('if the key is unknown or deleted', async () => {
    const key = await newKey({});
    const url = urlOf('/a.png', { raw: true }, key);
    expect((await show(url)).status).toBe(200);
    expect((await other.client.call('DELETE', `/v1/account/image-keys/${key.id}`)).status).toBe(404);
    expect((await service.client.call('DELETE', `/v1/account/image-keys/${key.id}`)).status).toBe(200);
    const deletedAt = Date.now();
    await until('the key is refused', async () => (await show(url)).status === 404 || undefined);

    expect(Date.now() - deletedAt).toBeLessThan(30_000);
    expect(await refusalOf(url)).toMatchObject({ errorCode: 'not_found' });
    const { body } = await other.client.call<{ docs: object[] }>('GET', '/v1/account/image-keys');
    expect(body.docs).toEqual([]);
  });

  it('if the key takes presets only, unless it names one', async () => {
    const key = await newKey({ presets: { small: 'rs:fit:30/f:webp' }, presets_only: true });
    const path = `/small/${Buffer.from(`http://${host}/a.png`).toString('base64url')}`;
    const signature = createHmac('sha256', Buffer.from(key.key, 'hex'))
      .update(Buffer.from(key.salt, 'hex'))
      .update(path);
    const { status, bytes } = await show(`${key.url}/${signature.digest('base64url')}${path}`);

    expect(status).toBe(200);
    expect(await sharp(bytes).metadata()).toMatchObject({ format: 'webp', width: 30 });
    expect((await refusalOf(urlOf('/a.png', { width: 100 }, key))).status).toBe(400);
  });

  it.each([
    ['on another host', 'http://example.com/a.png'],
    ['on a host that begins the same', 'http://127.0.0.1.example.com/a.png'],
    ['of another scheme', 'ftp://127.0.0.1/a.png'],
    ['in the file system', 'local:///etc/passwd'],
  ])('if the source is %s', async (_name, source) => {
    expect(await refusalOf(urlOf(source))).toMatchObject({ status: 404, errorCode: 'not_found' });
  });

  it('if the path is outside of the prefix', async () => {
    const key = await newKey({ sources: [{ host, prefix: '/public/' }] });

    expect((await show(urlOf('/public/a.png', { raw: true }, key))).status).toBe(200);
    for (const path of ['/private/a.png', '/public/../a.png', '/public/%2e%2e/a.png', '/public/..%2fa.png', '/public'])
      expect(await refusalOf(urlOf(path, { raw: true }, key))).toMatchObject({ status: 404 });
  });

  it('if the source is at a private address, directly or by a redirect', async () => {
    const key = await newKey({ sources: [{ host: '10.0.0.1' }, { host }] });

    for (const source of ['http://10.0.0.1/a.png', `http://${host}/to-private/a.png`])
      expect(await refusalOf(urlOf(source, {}, key))).toMatchObject({
        status: 404,
        errorCode: 'source_unavailable',
        msg: expect.stringContaining('not a public address'),
      });
  });

  it('if the conversion minutes of its account are used up', async () => {
    await putAsOperator(other, { pk: `account#${other.user}`, sk: 'account', minutesPerMonth: 0.000001 });
    const key = await other.client.create<ImageKey>('/v1/account/image-keys', { name: 'Poor', sources: [{ host }] });

    expect(await refusalOf(urlOf('/minutes/a.png', { width: 10, format: 'webp' }, key))).toMatchObject({
      status: 403,
      errorCode: 'out_of_conversion_minutes',
    });
  });

  it('if it has expired, is too large, missing or no image', async () => {
    expect(await refusalOf(urlOf('/a.png', { expires: 1_000 }))).toMatchObject({ status: 404 });
    expect(await refusalOf(urlOf('/a.large', { width: 3 }))).toMatchObject({
      status: 404,
      msg: expect.stringContaining('larger than 25,000,000 bytes'),
    });
    expect(await refusalOf(urlOf('/missing/a.png'))).toMatchObject({ status: 404, errorCode: 'source_unavailable' });
    expect(await refusalOf(urlOf('/a.html'))).toMatchObject({ status: 422, errorCode: 'unsupported_source' });
    expect(await refusalOf(urlOf('/a.html', { raw: true }))).toMatchObject({ status: 422 });
  });

  it('if an option is invalid', async () => {
    expect(await refusalOf(urlOf('/a.png', { blur: 1_000 }))).toMatchObject({ status: 400, errorCode: 'bad_request' });
  });
});
