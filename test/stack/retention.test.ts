import { describe, it } from 'vitest';
import * as z from 'zod';
import { dataUri, type TaskView } from '../support/client.ts';
import { photograph, twoHalves } from '../support/images.ts';
import { functionOf, startAlteredStack, startService } from '../support/running-stack.ts';
import { until } from '../support/until.ts';

describe.concurrent('Retention', () => {
  it('files and links go after the time of files, the record after its own, and an upload that never came fails', {
    timeout: 120_000,
  }, async ({ expect }) => {
    await using service = await startService({
      LATHE_FILE_SECONDS: '15',
      LATHE_RECORD_SECONDS: '25',
      LATHE_UPLOAD_SECONDS: '5',
      LATHE_SWEEP_SECONDS: '1',
    });
    const { client } = service;
    const picture = dataUri(await twoHalves(8, 8), 'image/png');
    const task: TaskView = await client.createTask('import/base64', { file: picture, filename: 'a.png' });
    const upload: TaskView = await client.createTask('import/upload');
    const link = task.result.url ?? '';
    expect((await fetch(link)).status).toBe(200);
    expect(Date.parse(task.expiresAt) - Date.parse(task.createdAt)).toBe(25_000);

    const timedOut = await client.waitForTask(upload.id, { seconds: 60 });
    expect(timedOut).toMatchObject({
      status: 'failed',
      result: { errorCode: 'upload_timeout', msg: expect.any(String) },
    });

    await until('the link is gone', async () => (await fetch(link)).status === 404, {
      seconds: 60,
    });
    expect(Date.now() - Date.parse(task.createdAt)).toBeGreaterThan(14_900);
    expect((await client.call('GET', `/v1/process/tasks/${task.id}`)).status).toBe(200);

    await until(
      'the record is gone',
      async () => (await client.call('GET', `/v1/process/tasks/${task.id}`)).status === 404,
      { seconds: 60 },
    );
    expect(Date.now() - Date.parse(task.createdAt)).toBeGreaterThan(24_900);
    const list = await client.call<{ docs: TaskView[] }>('GET', '/v1/process/tasks');
    expect(list.body.docs.map(({ id }) => id)).not.toContain(task.id);
  });

  it('an upload in parts waits as long as it makes progress', { timeout: 120_000 }, async ({ expect }) => {
    await using service = await startService({ LATHE_UPLOAD_SECONDS: '10', LATHE_SWEEP_SECONDS: '1' });
    const { client } = service;
    const { id, createdAt, result } = await client.createTask('import/upload');
    const speak = async (path: string, init?: RequestInit): Promise<Record<string, string>> => {
      const response = await fetch(`${result.form?.endpoint}/s3/multipart${path}`, init);
      return z.record(z.string(), z.string()).parse(await response.json());
    };
    const post = (body: object): RequestInit => ({
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const { uploadId } = await speak('', post({ filename: 'a.png' }));

    const ETag = await until('a part was sent later than the form would take it', async () => {
      const { url = '' } = await speak(`/${uploadId}/1`);
      const response = await fetch(url, { method: 'PUT', body: new Uint8Array(await twoHalves(8, 8)) });
      return Date.now() - Date.parse(createdAt) > 14_000 && response.headers.get('etag')?.replaceAll('"', '');
    });

    await speak(`/${uploadId}/complete`, post({ parts: [{ PartNumber: 1, ETag }] }));
    expect(await client.waitForTask(id)).toMatchObject({ status: 'completed' });
  });

  it('an engine over its limit fails the task with engine_timeout', async ({ expect }) => {
    // Ten seconds are kept back for writing the end, so this leaves the engine one.
    await using stack = await startAlteredStack((altered) => {
      functionOf(altered, { worker: 'image' }).timeoutSeconds = 11;
    });
    const large = await photograph(2_400, 1_600);
    const upload = await stack.client.createTask('import/upload');
    const form = upload.result.form ?? { url: '', parameters: {} };
    const body = new FormData();
    for (const [field, value] of Object.entries(form.parameters)) body.append(field, value);
    body.append('file', new Blob([new Uint8Array(large)]), 'large.png');
    expect((await fetch(form.url, { method: 'POST', body })).ok).toBe(true);
    const convert = await stack.client.createTask('convert', { input: upload.id, output_format: 'avif' });
    const task = await stack.client.waitForTask(convert.id, { seconds: 60 });
    expect(task).toMatchObject({
      status: 'failed',
      result: { errorCode: 'engine_timeout', msg: expect.stringContaining('time limit') },
    });
  });
});
