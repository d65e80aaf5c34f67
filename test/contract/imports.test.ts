import { describe, expect, it } from 'vitest';
import { call, createJob, importPng, pngBytes, upload, waitingTask } from './api.ts';

const secret = 'S3cr3t-of-a-client';

const tables = {
  'import/url': { fields: { url: 'https://files.invalid/a.png' }, optional: { filename: 'b.png' } },
  'import/objstore_b': {
    fields: { project_id: 'p', bucket: 'b', client_email: `${secret}@example.com`, private_key: secret, file: 'a.png' },
    optional: { filename: 'b.png' },
  },
  'import/blobstore': {
    fields: { container: 'c', storage_account: 'account1', storage_access_key: secret, blob: 'a.png' },
    optional: { filename: 'b.png' },
  },
  'import/objstore_a': {
    fields: { bucket: 'b', region: 'us-east-1', key: 'a.png' },
    optional: { access_key_id: secret, secret_access_key: secret, endpoint: 'https://storage.invalid' },
  },
  'import/sftp': {
    fields: { host: 'files.invalid', username: secret, password: secret, file_string: '/a.png' },
    optional: { port: '2222' },
  },
  'import/base64': { fields: { file: importPng.file, filename: 'a.png' }, optional: {} },
  'import/webpage': { fields: { url: 'https://page.invalid/' }, optional: {} },
} as const;

for (const [operation, { fields, optional }] of Object.entries(tables)) {
  describe(`POST /v1/process/${operation}`, () => {
    it('responds with 201 and the created task', async () => {
      const { status, body } = await call(`/v1/process/${operation}`, { body: { ...fields, ...optional } });
      expect(status).toBe(201);
      expect(body).toMatchObject({
        id: expect.any(String),
        operation,
        status: expect.any(String),
        payload: expect.any(Object),
      });
    });

    it.each(Object.keys(fields))('%s is required', async (field) => {
      const { [field as keyof typeof fields]: _left, ...rest } = fields as Record<string, unknown>;
      const { status, body } = await call(`/v1/process/${operation}`, { body: rest });
      expect(status).toBe(400);
      expect(Object.keys(body.errors)).toContain(field);
    });

    it.each([...Object.keys(fields), ...Object.keys(optional)])(
      '%s of a wrong type is a 400 that names it',
      async (field) => {
        const { status, body } = await call(`/v1/process/${operation}`, {
          body: { ...fields, ...optional, [field]: { no: 'text' } },
        });
        expect(status).toBe(400);
        expect(Object.keys(body.errors)).toContain(field);
      },
    );

    it('shows no secret in any response', async () => {
      const created = await call(`/v1/process/${operation}`, { body: { ...fields, ...optional } });
      const shown = await call(`/v1/process/tasks/${created.body.id}`);
      const listed = await call(`/v1/process/tasks?operation=${encodeURIComponent(operation)}`);
      const job = await createJob({ a: { operation, ...fields, ...optional } });
      for (const { text } of [created, shown, listed, { text: JSON.stringify(job) }])
        expect(text).not.toContain(secret);
    });
  });
}

describe('POST /v1/process/import/upload', () => {
  it('takes no body and responds with 201 and form.url and form.parameters', async () => {
    const { status, body } = await call('/v1/process/import/upload', { method: 'POST' });
    expect(status).toBe(201);
    expect(body.result.form.url).toMatch(/^https?:/);
    for (const value of Object.values(body.result.form.parameters)) expect(typeof value).toBe('string');
  });

  it('the form is dynamic per task', async () => {
    const [first, second] = [await waitingTask(), await waitingTask()];
    expect(first.result.form.parameters).not.toEqual(second.result.form.parameters);
  });

  it('any 2xx responds to the upload', async () => {
    const task = await waitingTask();
    const status = await upload(task.result.form, pngBytes(), 'a.png');
    expect(status).toBeGreaterThanOrEqual(200);
    expect(status).toBeLessThan(300);
  });

  it('a changed form parameter is refused', async () => {
    const { result } = await waitingTask();
    const other = await waitingTask();
    const parameters = { ...result.form.parameters, key: other.result.form.parameters.key };
    expect(await upload({ url: result.form.url, parameters }, pngBytes(), 'a.png')).toBeGreaterThanOrEqual(400);
  });
});

describe('Import field rules', () => {
  it('import/blobstore: sas_token instead of storage_access_key is enough', async () => {
    const { storage_access_key: _key, ...rest } = tables['import/blobstore'].fields;
    expect((await call('/v1/process/import/blobstore', { body: { ...rest, sas_token: 'sv=1&sig=x' } })).status).toBe(
      201,
    );
  });

  it('import/sftp: private_key instead of password is enough', async () => {
    const { password: _password, ...rest } = tables['import/sftp'].fields;
    expect((await call('/v1/process/import/sftp', { body: { ...rest, private_key: 'KEY' } })).status).toBe(201);
  });

  it.each([22, '22'])('import/sftp: port may be %j', async (port) => {
    expect((await call('/v1/process/import/sftp', { body: { ...tables['import/sftp'].fields, port } })).status).toBe(
      201,
    );
  });

  it('import/sftp: the default port is 22', async () => {
    expect((await call('/v1/process/import/sftp', { body: tables['import/sftp'].fields })).body.payload.port).toBe(22);
  });

  it('import/objstore_a: key_prefix inside jobs only', async () => {
    const { key: _key, ...rest } = tables['import/objstore_a'].fields;
    expect(
      (await call('/v1/process/import/objstore_a', { body: { ...rest, key_prefix: 'in/' } })).body.errors,
    ).toHaveProperty('key_prefix');
    expect((await createJob({ a: { operation: 'import/objstore_a', ...rest, key_prefix: 'in/' } })).tasks).toHaveLength(
      1,
    );
  });

  it('import/base64: the content is emptied in the payload', async () => {
    const { body } = await call('/v1/process/import/base64', { body: tables['import/base64'].fields });
    expect(body.payload.file).toBe('');
  });

  it('import/base64: at most 1.5 MB of encoded content', async () => {
    const prefix = 'data:application/octet-stream;base64,';
    const fits = prefix + 'A'.repeat(1_500_000 - prefix.length);
    expect((await call('/v1/process/import/base64', { body: { file: fits, filename: 'a.bin' } })).status).toBe(201);
    expect(
      (await call('/v1/process/import/base64', { body: { file: `${fits}AAAA`, filename: 'a.bin' } })).body.errors,
    ).toHaveProperty('file');
  });

  it.each(['plain text', 'data:image/png,notbase64', 'data:image/png;base64,@@@@', 'data:;base64,'])(
    'import/base64: %j is no data URI with content',
    async (file) => {
      expect(
        (await call('/v1/process/import/base64', { body: { file, filename: 'a.png' } })).body.errors,
      ).toHaveProperty('file');
    },
  );
});
