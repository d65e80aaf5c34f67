import { describe, expect, it } from 'vitest';
import { type Body, call, madeKey } from './api.ts';

const path = '/v1/account/image-keys';
const source = { host: 'Images.example.com', prefix: '/public/' };
const bucket = { bucket: 'photos', region: 'eu-central-1', access_key_id: 'AKIA', secret_access_key: 'hidden-secret' };

async function made(body: object = {}): Promise<Body> {
  const response = await call(path, { body: { name: 'Shop', sources: [source], ...body } });
  expect(response.status).toBe(201);
  return response.body;
}

async function listed(id: string): Promise<Body> {
  return (await call(path)).body.docs.find((key: Body) => key.id === id);
}

describe('An image key', () => {
  it('is shown once, and listed without its secrets', async () => {
    const { key, salt, ...shown } = await made({
      sources: [source, bucket],
      presets: { small: 'rs:fit:300:300/q:75' },
      watermark: 'https://images.example.com/public/mark.png',
      signature_size: 12,
      max_age: 60,
    });
    const { secret_access_key: secret, ...listedBucket } = bucket;

    expect([key, salt]).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/), expect.stringMatching(/^[0-9a-f]{64}$/)]);
    expect(key).not.toBe(salt);
    expect(shown).toMatchObject({
      name: 'Shop',
      url: expect.stringMatching(new RegExp(`^http.*/i/${shown.id}$`)),
      sources: [{ host: 'images.example.com', prefix: '/public/' }, listedBucket],
      presets: { small: 'rs:fit:300:300/q:75' },
      presets_only: false,
      signature_size: 12,
      max_age: 60,
    });
    expect(await listed(shown.id)).toEqual(shown);
    const text = JSON.stringify((await call(path)).body);
    for (const hidden of [key, salt, secret]) expect(text).not.toContain(hidden);
  });

  it('is deleted by its account only, and the audit log has both', async () => {
    const { id } = await made();
    expect((await call(`${path}/${id}`, { method: 'DELETE', as: 'other' })).status).toBe(404);
    expect((await call(path, { as: 'other' })).body.docs).toEqual([]);
    expect(await listed(id)).toBeDefined();

    expect((await call(`${path}/${id}`, { method: 'DELETE' })).status).toBe(200);
    expect(await listed(id)).toBeUndefined();
    expect((await call(`${path}/${id}`, { method: 'DELETE' })).status).toBe(404);
    const { body } = await call('/v1/account/audit');
    const actions = body.docs.filter(({ subject }: Body) => subject === id).map(({ action }: Body) => action);
    expect(actions).toEqual(['image_key.deleted', 'image_key.created']);
  });

  it.each<[string, object, string, string?]>([
    ['no source', { sources: [] }, 'sources'],
    ['a source that is neither host nor bucket', { sources: [{}] }, 'sources.0'],
    ['a URL instead of a host', { sources: [{ host: 'https://example.com' }] }, 'sources.0'],
    ['an endpoint that is no URL', { sources: [{ ...bucket, endpoint: 'x' }] }, 'sources.0'],
    ['a bucket without credentials', { sources: [{ bucket: 'photos', region: 'r' }] }, 'sources.0'],
    ['a preset with an unknown option', { presets: { a: 'nonsense:1' } }, 'presets.a', 'invalid_options'],
    ['a preset without an option', { presets: { a: 'x' } }, 'presets.a', 'invalid_options'],
    ['a signature that can be guessed', { signature_size: 7 }, 'signature_size'],
    ['a signature longer than the digest', { signature_size: 33 }, 'signature_size'],
    ['a negative age', { max_age: -1 }, 'max_age'],
    ['a watermark outside of its sources', { watermark: 'https://example.com/a.png' }, 'watermark', 'invalid_url'],
  ])('cannot have %s', async (_what, body, field, reason) => {
    const response = await call(path, { body: { name: 'Shop', sources: [source], ...body } });

    expect(response.status).toBe(400);
    expect(Object.keys(response.body.errors)[0]).toMatch(new RegExp(`^${field}`));
    expect(response.body.reason).toBe(reason);
  });

  it.each<[string, object]>([
    ['limits', { limits: { maxFileBytes: 5 } }],
    ['an expiry', { expires_in: 3600 }],
    ['no scope for conversions', { scopes: ['read', 'account'] }],
  ])('is not made by a key with %s, because it has none itself', async (_what, own) => {
    const { key } = await madeKey({ scopes: ['read', 'process', 'account'], ...own });
    const body = { name: 'Shop', sources: [source] };
    const response = await call(path, { as: 'nobody', headers: { Authorization: `Bearer ${key}` }, body });

    expect(response).toMatchObject({ status: 403, body: { errorCode: 'insufficient_permission' } });
  });

  it('is one of 20 at most', async () => {
    const statuses: number[] = [];
    const ids: string[] = [];
    while (!statuses.includes(409) && statuses.length < 25) {
      const { status, body } = await call(path, { body: { name: 'Many', sources: [source] } });
      statuses.push(status);
      if (body.id) ids.push(body.id);
    }
    expect((await call(path)).body.docs).toHaveLength(20);
    for (const id of ids) await call(`${path}/${id}`, { method: 'DELETE' });
    expect(statuses.at(-1)).toBe(409);
  });
});

describe('An image URL', () => {
  it('of an unknown key is not found, and never cached', async () => {
    const { status, headers, body } = await call('/i/6af9126cc0830000f25c62d1/x/w:1/aHR0', { as: 'nobody' });

    expect({ status, code: body.errorCode }).toEqual({ status: 404, code: 'not_found' });
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('content-security-policy')).toContain('sandbox');
  });
});
