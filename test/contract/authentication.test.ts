import { describe, expect, it } from 'vitest';
import { call, importedTask, unknownId, waitingTask } from './api.ts';

const protectedRoutes = [
  ['GET', '/v1/process/tasks'],
  ['GET', `/v1/process/tasks/${unknownId}`],
  ['DELETE', `/v1/process/tasks/${unknownId}`],
  ['POST', `/v1/process/tasks/${unknownId}/cancel`],
  ['GET', '/v1/process/jobs'],
  ['POST', '/v1/process/jobs'],
  ['GET', `/v1/process/jobs/${unknownId}`],
  ['DELETE', `/v1/process/jobs/${unknownId}`],
  ...['upload', 'url', 'objstore_b', 'blobstore', 'objstore_a', 'sftp', 'base64', 'webpage'].map((source) => [
    'POST',
    `/v1/process/import/${source}`,
  ]),
  ...['convert', 'compress', 'merge'].map((operation) => ['POST', `/v1/process/${operation}`]),
  ['POST', '/v1/process/export/url'],
] as [string, string][];

describe('Authentication 1 and 4: a protected route without valid authentication fails with 401', () => {
  it.each(protectedRoutes)('%s %s responds with 401 without a key', async (method, path) => {
    const { status, body } = await call(path, { method, as: 'nobody' });
    expect(status).toBe(401);
    expect(body).toMatchObject({ errorCode: 'unauthorized', msg: expect.stringContaining('Authorization: Bearer') });
  });

  it.each(['Bearer wrong', 'Bearer ', 'Basic dXNlcjpwYXNz', 'wrong', 'Bearer a b'])(
    'a key of the form %j is invalid',
    async (header) => {
      const { status, body } = await call('/v1/process/tasks', { as: 'nobody', headers: { Authorization: header } });
      expect(status).toBe(401);
      expect(body.errorCode).toBe('unauthorized');
    },
  );
});

describe('Authentication 6: the upload step', () => {
  it('needs no Authorization header', async () => {
    const task = await waitingTask();
    expect(new URL(task.result.form.url).protocol).toMatch(/^https?:$/);
  });
});

describe('Ownership', () => {
  it('shows another user’s task to nobody: 404 for show, cancel and delete', async () => {
    const id = await importedTask();
    expect((await call(`/v1/process/tasks/${id}`, { as: 'other' })).status).toBe(404);
    expect((await call(`/v1/process/tasks/${id}/cancel`, { method: 'POST', as: 'other' })).status).toBe(404);
    expect((await call(`/v1/process/tasks/${id}`, { method: 'DELETE', as: 'other' })).status).toBe(404);
    expect((await call(`/v1/process/tasks/${id}`)).status).toBe(200);
  });

  it('refuses another user’s task as an input with a 400 that names the field', async () => {
    const id = await importedTask();
    const { status, body } = await call('/v1/process/convert', {
      as: 'other',
      body: { input: id, output_format: 'jpg' },
    });
    expect(status).toBe(400);
    expect(Object.keys(body.errors)).toEqual(['input']);
  });
});
