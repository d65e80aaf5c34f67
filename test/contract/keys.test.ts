import { describe, expect, it } from 'vitest';
import { until } from '../support/until.ts';
import { type Body, call, importPng, madeKey, pngBytes, unknownId, upload } from './api.ts';

const withKey = (key: string, more: Record<string, string> = {}) => ({
  as: 'nobody' as const,
  headers: { Authorization: `Bearer ${key}`, ...more },
});

async function listedKey(id: string): Promise<Body> {
  const { body } = await call('/v1/account/keys');
  return body.docs.find((key: Body) => key.id === id);
}

describe('A key', () => {
  it('is shown once, and listed with its name, start, scopes and limits', async () => {
    const limits = { formats: ['png'], maxFileBytes: 1000, requestsPerMinute: 100_000 };
    const made = await madeKey({ name: 'Nightly', scopes: ['read', 'process'], limits });
    expect(made.key).toMatch(/^lathe_[\w-]{43}$/);
    const { key, ...shown } = made;
    expect(shown).toMatchObject({ name: 'Nightly', scopes: ['read', 'process'], limits, expiresAt: null });
    const found = await listedKey(made.id);
    expect(found).toMatchObject({ ...shown, lastUsedAt: found.lastUsedAt, start: key.slice(0, 12) });
    expect(JSON.stringify((await call('/v1/account/keys')).body)).not.toContain(key);
  });

  it('works at once, and tells what it may do', async () => {
    const { id, key } = await madeKey({ name: 'Mine', scopes: ['read'], limits: { maxFileBytes: 5 } });
    const { status, body } = await call('/v1/account/me', withKey(key));
    expect(status).toBe(200);
    expect(body).toMatchObject({
      account: { id: expect.stringMatching(/^[0-9a-f]{24}$/), kind: 'personal' },
      scopes: ['read'],
      key: { id, name: 'Mine', limits: { maxFileBytes: 5 }, expiresAt: null },
      retention: { fileSeconds: expect.any(Number), recordSeconds: expect.any(Number) },
    });
    expect(body).not.toHaveProperty('person');
  });

  it('stops working within 30 seconds after it was deleted, where it was in use', async () => {
    const { id, key } = await madeKey({ scopes: ['read'] });
    expect((await call('/v1/process/tasks', withKey(key))).status).toBe(200);
    expect((await call(`/v1/account/keys/${id}`, { method: 'DELETE' })).status).toBe(200);
    const deletedAt = Date.now();
    await until('the key is refused', async () => {
      return (await call('/v1/process/tasks', withKey(key))).status === 401 || undefined;
    });
    expect(Date.now() - deletedAt).toBeLessThan(30_000);
    expect(await listedKey(id)).toBeUndefined();
    expect((await call(`/v1/account/keys/${id}`, { method: 'DELETE' })).status).toBe(404);
  });

  it('cannot be deleted by another account', async () => {
    const { id } = await madeKey({ scopes: ['read'] });
    expect((await call(`/v1/account/keys/${id}`, { method: 'DELETE', as: 'other' })).status).toBe(404);
    expect(await listedKey(id)).toBeDefined();
  });

  it.each<[string, Record<string, unknown>, string]>([
    ['more scopes', { scopes: ['read', 'process', 'account'] }, 'scopes'],
    ['fewer limits', { limits: {} }, 'limits.formats'],
    ['a wider limit', { limits: { formats: ['png', 'jpg'] } }, 'limits.formats'],
    ['a later expiry', { expires_in: 7200 }, 'expires_at'],
  ])('makes no key with %s than its own', async (_what, change, field) => {
    const own = { scopes: ['read', 'account'], limits: { formats: ['PNG'] }, expires_in: 3600 };
    const { key } = await madeKey(own);
    const body = { name: 'Child', scopes: ['read'], limits: { formats: ['png'] }, expires_in: 60 };
    expect((await call('/v1/account/keys', { ...withKey(key), body })).status).toBe(201);
    const { status, body: error } = await call('/v1/account/keys', { ...withKey(key), body: { ...body, ...change } });
    expect(status).toBe(403);
    expect(error.errorCode).toBe('insufficient_permission');
    expect(Object.keys(error.errors)).toEqual([field]);
  });

  it.each<[Record<string, unknown>, string]>([
    [{ name: '' }, 'name'],
    [{ scopes: [] }, 'scopes'],
    [{ scopes: ['admin'] }, 'scopes.0'],
    [{ expires_in: 0 }, 'expires_in'],
    [{ expires_at: '2020-01-01T00:00:00Z' }, 'expires_at'],
    [{ expires_in: 60, expires_at: '2090-01-01T00:00:00Z' }, 'expires_at'],
    [{ limits: { formats: ['not a format'] } }, 'limits.formats.0'],
    [{ limits: { operations: ['shred'] } }, 'limits.operations.0'],
    [{ limits: { origins: ['example.com'] } }, 'limits.origins.0'],
    [{ limits: { maxFileBytes: 0 } }, 'limits.maxFileBytes'],
    [{ limits: { speed: 1 } }, 'limits'],
  ])('is refused with 400 where it is to have %j', async (change, field) => {
    const { status, body } = await call('/v1/account/keys', { body: { name: 'Wrong', ...change } });
    expect(status).toBe(400);
    expect(Object.keys(body.errors)).toEqual([field]);
  });
});

describe('Limits of a key', () => {
  const jobWith = (key: string, tasks: Record<string, unknown>) =>
    call('/v1/process/jobs', { ...withKey(key), body: { tasks } });

  it('of operations are checked for every task of a job, and alone', async () => {
    const { key } = await madeKey({ limits: { operations: ['import/base64'] } });
    expect((await jobWith(key, { import: importPng })).status).toBe(201);
    const job = await jobWith(key, { import: importPng, link: { operation: 'export/url', input: 'import' } });
    expect(job.status).toBe(403);
    expect(job.body.errors).toEqual({ 'tasks.link.operation': [expect.stringContaining('the limit operations')] });
    const task = await call('/v1/process/import/upload', { ...withKey(key), body: {} });
    expect(task.status).toBe(403);
    expect(Object.keys(task.body.errors)).toEqual(['operation']);
  });

  it('of formats are checked at creation where formats are known', async () => {
    const { key } = await madeKey({ limits: { formats: ['JPEG', 'webp'] } });
    const file = await jobWith(key, { import: importPng });
    expect(file.status).toBe(403);
    expect(Object.keys(file.body.errors)).toEqual(['tasks.import.file']);
    const output = await jobWith(key, {
      import: { operation: 'import/upload' },
      convert: { operation: 'convert', input: 'import', input_format: 'jpg', output_format: 'png' },
    });
    expect(output.status).toBe(403);
    expect(output.body.errors).toEqual({
      'tasks.convert.output_format': [expect.stringContaining('the limit formats')],
    });
    const page = await call('/v1/process/import/webpage', { ...withKey(key), body: { url: 'https://example.com/' } });
    expect(page.status).toBe(403);
  });

  it('of formats fail a task whose file turns out to be another', async () => {
    const { key } = await madeKey({ limits: { formats: ['jpg'] } });
    const { body: task } = await call('/v1/process/import/upload', { ...withKey(key), body: {} });
    expect(await upload(task.result.form, pngBytes(), 'really.jpg')).toBeLessThan(300);
    const ended = await until('the task has ended', async () => {
      const { body } = await call(`/v1/process/tasks/${task.id}`, withKey(key));
      return body.status === 'processing' ? undefined : body;
    });
    expect(ended).toMatchObject({
      status: 'failed',
      result: { errorCode: 'insufficient_permission', msg: expect.stringContaining('the limit formats') },
    });
  });

  it('of the size of files hold for forms and for files in requests', async () => {
    const size = pngBytes().byteLength;
    const { key } = await madeKey({ limits: { maxFileBytes: size - 1 } });
    const file = await jobWith(key, { import: importPng });
    expect(file.status).toBe(403);
    expect(file.body.errors).toEqual({ 'tasks.import.file': [expect.stringContaining('the limit maxFileBytes')] });
    const { body: task } = await call('/v1/process/import/upload', { ...withKey(key), body: {} });
    expect(await upload(task.result.form, pngBytes(), 'dot.png')).toBe(400);
    expect(await upload(task.result.form, pngBytes().slice(1), 'dot.png')).toBeLessThan(300);
  });

  it.each<[string, Record<string, unknown>, string]>([
    ['operations', { operations: ['convert'] }, 'operation'],
    ['formats of the file', { formats: ['jpg', 'webp'] }, 'file'],
    ['formats of the result', { formats: ['png', 'jpg'] }, 'output_format'],
    ['the size of files', { maxFileBytes: pngBytes().byteLength - 1 }, 'file'],
  ])('of %s hold for instant conversions', async (_what, limits, field) => {
    const { key } = await madeKey({ limits });
    const { status, body } = await call('/v1/instant/convert?output_format=webp', {
      ...withKey(key, { 'Content-Type': 'image/png' }),
      method: 'POST',
      raw: pngBytes(),
    });
    expect(status).toBe(403);
    expect(body.errorCode).toBe('insufficient_permission');
    expect(Object.keys(body.errors)).toContain(field);
  });

  it('of origins refuse other pages and requests from none', async () => {
    const { key } = await madeKey({ scopes: ['read'], limits: { origins: ['https://example.com'] } });
    expect((await call('/v1/account/me', withKey(key, { Origin: 'https://example.com' }))).status).toBe(200);
    for (const origin of [{}, { Origin: 'https://example.org' }] as Record<string, string>[]) {
      const { status, body } = await call('/v1/account/me', withKey(key, origin));
      expect(status).toBe(403);
      expect(Object.keys(body.errors)).toEqual(['Origin']);
    }
  });
});

describe('The audit log', () => {
  it('names who made and deleted what, and from where, newest first and page by page', async () => {
    const { body: me } = await call('/v1/account/me');
    const { id } = await madeKey({ name: 'Logged', scopes: ['read'] });
    await call(`/v1/account/keys/${id}`, { method: 'DELETE', headers: { 'User-Agent': 'x'.repeat(1_000) } });
    const { body: hook } = await call('/v1/account/webhooks', { body: { url: 'https://example.com/a?secret=1' } });
    await call(`/v1/account/webhooks/${hook.id}`, { method: 'DELETE' });

    const { body } = await call('/v1/account/audit?limit=200');
    const ours = body.docs.filter(({ subject }: Body) => subject === id || subject === hook.id);
    expect(ours).toMatchObject([
      { action: 'webhook.deleted', subject: hook.id },
      { action: 'webhook.created', subject: hook.id, name: 'https://example.com/a' },
      { action: 'key.deleted', subject: id, name: 'Logged', agent: 'x'.repeat(200) },
      { action: 'key.created', subject: id, name: 'Logged', scopes: ['read'] },
    ]);
    for (const { actor, address, at } of ours) {
      expect(actor).toEqual({ type: 'key', id: me.key.id });
      expect(address).toMatch(/^[0-9a-f.:]+$/);
      expect(Math.abs(Date.now() - Date.parse(at))).toBeLessThan(300_000);
    }

    const { body: first } = await call('/v1/account/audit?limit=2');
    const { body: second } = await call(`/v1/account/audit?limit=2&before=${encodeURIComponent(first.next)}`);
    expect(first.docs).toHaveLength(2);
    const ids = [...first.docs, ...second.docs].map((entry: Body) => entry.id);
    expect(ids).toEqual(ids.toSorted().reverse());
    expect(new Set(ids).size).toBe(4);
  });

  it('shows nothing of another account', async () => {
    const { id } = await madeKey({ scopes: ['read'] });
    const { body } = await call('/v1/account/audit', { as: 'other' });
    expect(JSON.stringify(body)).not.toContain(id);
  });
});

describe('A personal account', () => {
  it('has no members but its owner, and invites nobody', async () => {
    expect((await call('/v1/account/members')).status).toBe(200);
    const { status, body } = await call('/v1/account/members', { body: { email: 'somebody@example.com' } });
    expect(status).toBe(409);
    expect(body.msg).toContain('Create a team');
    const change = await call(`/v1/account/members/${unknownId}`, { body: { role: 'viewer' } });
    expect(change.status).toBe(404);
    expect((await call(`/v1/account/members/${unknownId}`, { method: 'DELETE' })).status).toBe(404);
  });

  it('makes no team by a key', async () => {
    const { status, body } = await call('/v1/account/teams', { body: { name: 'Team' } });
    expect(status).toBe(403);
    expect(body).toMatchObject({ errorCode: 'insufficient_permission', msg: expect.stringContaining('Sign in') });
  });

  it.each(['nobody', '@example.com', 'a@b', 'a b@example.com'])('%j is no e-mail address', async (email) => {
    const { status, body } = await call('/v1/account/members', { body: { email } });
    expect(status).toBe(400);
    expect(Object.keys(body.errors)).toEqual(['email']);
  });
});
