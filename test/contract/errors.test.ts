import { describe, expect, it } from 'vitest';
import { call, createJob, importedTask, importPng, unknownId } from './api.ts';

describe('Errors: every error answer is JSON with errorCode and msg', () => {
  it('400 Bad request: malformed JSON, with the position', async () => {
    const { status, body } = await call('/v1/process/jobs', { raw: '{"tasks": {' });
    expect(status).toBe(400);
    expect(body).toMatchObject({ errorCode: 'bad_request', msg: expect.stringMatching(/position \d+/) });
  });

  it('400 Bad request: fields to blame are in errors', async () => {
    const { status, body } = await call('/v1/process/import/url', { body: { url: 'ftp://example.com/a' } });
    expect(status).toBe(400);
    expect(body.errors.url[0]).toContain('http or https');
  });

  it('400 Bad request: a body of another media type', async () => {
    const { status } = await call('/v1/process/import/url', {
      raw: 'url=x',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    });
    expect(status).toBe(400);
  });

  it.each(['[]', '"text"', '1', 'null', 'true'])('400 Bad request: %s is no request', async (raw) => {
    expect((await call('/v1/process/jobs', { raw })).status).toBe(400);
  });

  it('401 Unauthorized: key missing', async () => {
    expect((await call('/v1/process/tasks', { as: 'nobody' })).body.errorCode).toBe('unauthorized');
  });

  it.each([
    `/v1/process/tasks/${unknownId}`,
    `/v1/process/jobs/${unknownId}`,
    `/v1/process/tasks/${unknownId}/wait`,
    `/v1/process/jobs/${unknownId}/wait`,
    '/v1/unknown',
    '/unknown',
    '/v2/process/tasks',
    `/v1/files/${unknownId}/nothing/file.png`,
  ])('404 Not found: GET %s', async (path) => {
    const { status, body } = await call(path);
    expect(status).toBe(404);
    expect(body).toMatchObject({ errorCode: 'not_found', msg: expect.any(String) });
  });

  it.each([
    ['PUT', '/v1/process/tasks', 'GET'],
    ['PATCH', `/v1/process/tasks/${unknownId}`, 'GET, DELETE'],
    ['GET', '/v1/process/convert', 'POST'],
    ['DELETE', '/v1/query/formats', 'GET'],
  ])('405 Method not allowed: %s %s, with Allow', async (method, path, allow) => {
    const { status, body, headers } = await call(path, { method });
    expect(status).toBe(405);
    expect(body.errorCode).toBe('method_not_allowed');
    expect(headers.get('allow')).toBe(allow);
  });

  it.each(['text/html', 'application/xml', 'application/json;q=0'])(
    '406 Not acceptable: Accept: %s',
    async (Accept) => {
      const { status, body } = await call('/v1/process/tasks', { headers: { Accept } });
      expect(status).toBe(406);
      expect(body.errorCode).toBe('not_acceptable');
    },
  );

  it.each(['*/*', 'application/*', 'text/html, application/json;q=0.5'])('Accept: %s takes JSON', async (Accept) => {
    expect((await call('/v1/process/tasks', { headers: { Accept } })).status).toBe(200);
  });

  it('409 Conflict: canceling a task that has ended', async () => {
    const id = await importedTask();
    const { status, body } = await call(`/v1/process/tasks/${id}/cancel`, { method: 'POST' });
    expect(status).toBe(409);
    expect(body.msg).toContain('completed');
  });

  it('413: a body over the limit', async () => {
    const { status, body } = await call('/v1/process/import/base64', {
      body: { file: `data:image/png;base64,${'A'.repeat(5_600_000)}`, filename: 'a.png' },
    });
    expect(status).toBe(413);
    expect(body?.errorCode ?? 'payload_too_large').toBe('payload_too_large');
  });

  it.each<[number, string, Parameters<typeof call>[1]?]>([
    [200, '/v1/query/formats'],
    [400, '/v1/process/jobs?per_page=0'],
    [401, '/v1/process/jobs', { as: 'nobody' }],
    [404, '/v1/unknown'],
    [405, '/v1/query/formats', { method: 'DELETE' }],
  ])('a %d is not taken for anything but JSON', async (expected, path, request) => {
    const { status, headers } = await call(path, request);
    expect([status, headers.get('content-type')]).toEqual([expected, 'application/json']);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  });

  it('429 headers tell where a client stands', async () => {
    const { headers } = await call('/v1/process/tasks');
    expect(Number(headers.get('ratelimit-limit'))).toBeGreaterThan(0);
    expect(Number(headers.get('ratelimit-remaining'))).toBeGreaterThanOrEqual(0);
    expect(Number(headers.get('ratelimit-reset'))).toBeLessThanOrEqual(60);
  });
});

describe('A refused request creates nothing', () => {
  it('leaves no task of a job behind whose last task is wrong', async () => {
    // A user and an operation that no other file of this suite creates anything with.
    const count = async () => (await call('/v1/process/tasks?operation=convert', { as: 'other' })).body.totalDocs;
    const before = await count();
    const tasks = {
      a: importPng,
      b: { operation: 'convert', input: 'a', output_format: 'jpg' },
      c: { operation: 'convert', input: 'a', output_format: 'nonsense' },
    };
    expect((await call('/v1/process/jobs', { body: { tasks }, as: 'other' })).status).toBe(400);
    expect(await count()).toBe(before);
  });
});

describe('Job requests', () => {
  const convert = { operation: 'convert', input: 'a', output_format: 'jpg' };
  it.each([
    ['an empty tasks', {}, 'tasks'],
    ['a bad task name', { 'a b': importPng }, 'tasks.a b'],
    ['an unknown operation', { a: { operation: 'explode' } }, 'tasks.a.operation'],
    ['a missing operation', { a: {} }, 'tasks.a.operation'],
    ['a task that is no object', { a: 'import' }, 'tasks.a'],
    ['an unknown input', { b: convert }, 'tasks.b.input'],
    ['a task that is its own input', { a: convert }, 'tasks.a.input'],
    ['a task that is its own ancestor', { a: { ...convert, input: 'b' }, b: convert }, 'tasks.b.input'],
    ['an unknown id as input', { a: { ...convert, input: unknownId } }, 'tasks.a.input'],
    ['a missing field', { a: { operation: 'import/base64', filename: 'a.png' } }, 'tasks.a.file'],
    ['an unknown option', { a: importPng, b: { ...convert, options: { nonsense: 1 } } }, 'tasks.b.options.nonsense'],
    [
      'an option of the wrong type',
      { a: importPng, b: { ...convert, options: { strip: 'maybe' } } },
      'tasks.b.options.strip',
    ],
    [
      'an option outside its range',
      { a: importPng, b: { ...convert, options: { quality: 101 } } },
      'tasks.b.options.quality',
    ],
  ])('with %s are a 400 that names the task and the field', async (_what, tasks, field) => {
    const { status, body } = await call('/v1/process/jobs', { body: { tasks } });
    expect(status).toBe(400);
    expect(Object.keys(body.errors)).toContain(field);
    expect(body.msg).toContain(field);
  });

  it('with tasks named like properties of objects work as any other', async () => {
    const job = await createJob({ constructor: importPng, toString: { ...convert, input: 'constructor' } });
    expect(job.tasks.map(({ name }: { name: string }) => name)).toEqual(['constructor', 'toString']);
  });

  it('with a task named __proto__ are refused or harmless', async () => {
    const { status } = await call('/v1/process/jobs', { raw: `{"tasks":{"__proto__":${JSON.stringify(importPng)}}}` });
    expect([201, 400]).toContain(status);
  });

  it('with ten thousand tasks are a 400', async () => {
    const tasks = Object.fromEntries(
      Array.from({ length: 10_000 }, (_, index) => [`t${index}`, { operation: 'import/upload' }]),
    );
    expect((await call('/v1/process/jobs', { body: { tasks } })).status).toBe(400);
  });

  it('with deeply nested JSON are a 400', async () => {
    const raw = `{"tasks":${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}}`;
    expect((await call('/v1/process/jobs', { raw })).status).toBe(400);
  });
});
