import { describe, expect, it } from 'vitest';
import { call, createJob, ended, importedTask, importPng, taskOf, waitingTask } from './api.ts';

describe('POST /v1/process/convert', () => {
  it('input: is required', async () => {
    expect((await call('/v1/process/convert', { body: { output_format: 'jpg' } })).body.errors).toHaveProperty('input');
  });
  it('output_format: is required', async () => {
    expect((await call('/v1/process/convert', { body: { input: await importedTask() } })).body.errors).toHaveProperty(
      'output_format',
    );
  });
  it('responds with 201 and the created task, which completes', async () => {
    const { status, body } = await call('/v1/process/convert', {
      body: { input: await importedTask(), input_format: 'png', output_format: 'jpg' },
    });
    expect(status).toBe(201);
    const task = await ended('tasks', body.id);
    expect(task).toMatchObject({
      status: 'completed',
      operation: 'convert',
      result: { files: [{ filename: 'dot.jpg', media_type: 'image/jpeg' }] },
    });
  });
  it('input_format: is taken from the file when it is left out', async () => {
    const { body } = await call('/v1/process/convert', {
      body: { input: await importedTask(), output_format: 'webp' },
    });
    expect((await ended('tasks', body.id)).status).toBe('completed');
  });
  it('input_format: a wrong one fails the task with processing_failed and a msg', async () => {
    const { body } = await call('/v1/process/convert', {
      body: { input: await importedTask(), input_format: 'gif', output_format: 'webp' },
    });
    const task = await ended('tasks', body.id);
    expect(task.result).toMatchObject({ errorCode: 'processing_failed', msg: expect.stringContaining('png') });
  });
  it('output_format: a pair that no engine converts is a 400 that says what would be valid', async () => {
    const { status, body } = await call('/v1/process/convert', {
      body: { input: await importedTask(), output_format: 'mp17' },
    });
    expect(status).toBe(400);
    expect(body.errors.output_format[0]).toContain('Valid output formats');
  });
  it('result.warnings: says what is missing of a sound whose header promises more than there is', async () => {
    // Ten seconds at 8,000 bytes a second are promised; two are there.
    const header = Buffer.from(
      'RIFF    WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x40\x1f\0\0\x01\0\x08\0data    ',
      'latin1',
    );
    header.writeUInt32LE(80_036, 4);
    header.writeUInt32LE(80_000, 40);
    const file = Buffer.concat([header, Buffer.from(Array.from({ length: 16_000 }, (_, at) => (at * 7) % 256))]);
    const imported = await call('/v1/process/import/base64', {
      body: { file: `data:audio/wav;base64,${file.toString('base64')}`, filename: 'cut.wav' },
    });
    const { body } = await call('/v1/process/convert', { body: { input: imported.body.id, output_format: 'flac' } });

    expect(await ended('tasks', body.id)).toMatchObject({
      status: 'completed',
      result: {
        files: [{ filename: 'cut.flac' }],
        warnings: ['The file ends early: 2.0 of 10.0 seconds could be decoded.'],
      },
    });
  });
  it('options: the task before may still be running', async () => {
    const { id } = await waitingTask();
    const { status, body } = await call('/v1/process/convert', { body: { input: id, output_format: 'jpg' } });
    expect(status).toBe(201);
    expect(body).toMatchObject({ status: 'created', startedAt: null, dependsOn: [id] });
  });
  it.each([
    ['an unknown option', { nonsense: 1 }],
    ['a wrong type', { quality: 'best' }],
    ['a value outside its range', { quality: 0 }],
  ])('options: %s is a 400 that says what would be valid', async (_what, options) => {
    const { status, body } = await call('/v1/process/convert', {
      body: { input: await importedTask(), output_format: 'jpg', options },
    });
    expect(status).toBe(400);
    expect(Object.keys(body.errors)[0]).toMatch(/^options\./);
    expect(Object.values(body.errors).flat()[0]).toMatch(/Valid options|Expected/);
  });
  it.each([
    ['options.password', { options: { password: 'hunter2\0' } }],
    ['filename', { filename: 'a\0b.jpg' }],
  ])('%s: a NUL is a 400, although the file is not known yet, and the value is not repeated', async (field, fields) => {
    const { id } = await waitingTask();
    const { status, body } = await call('/v1/process/convert', {
      body: { input: id, output_format: 'pdf', ...fields },
    });
    expect(status).toBe(400);
    expect(body.errors[field]).toEqual([expect.stringMatching(/^Expected a string without NUL characters/)]);
    expect(JSON.stringify(body)).not.toContain('hunter2');
  });
});

describe('POST /v1/process/compress', () => {
  it('input: is required', async () => {
    expect((await call('/v1/process/compress', { body: {} })).body.errors).toHaveProperty('input');
  });
});

describe('POST /v1/process/merge', () => {
  it('input: two or more task ids', async () => {
    const { status, body } = await call('/v1/process/merge', {
      body: { input: [await importedTask()], output_format: 'pdf' },
    });
    expect(status).toBe(400);
    expect(body.errors).toHaveProperty('input');
  });
  it('output_format: pdf or gif', async () => {
    const input = [await importedTask(), await importedTask()];
    expect((await call('/v1/process/merge', { body: { input, output_format: 'docx' } })).body.errors).toHaveProperty(
      'output_format',
    );
  });
});

describe('POST /v1/process/export/url', () => {
  it('input: is required', async () => {
    expect((await call('/v1/process/export/url', { body: {} })).body.errors).toHaveProperty('input');
  });

  it('input: an array of task ids, or a single one as a string', async () => {
    const id = await importedTask();
    for (const input of [id, [id]]) {
      const { status, body } = await call('/v1/process/export/url', { body: { input } });
      expect(status).toBe(201);
      expect((await ended('tasks', body.id)).result.url).toMatch(/^https?:/);
    }
  });

  it('filename: overrides the exported file name', async () => {
    const { body } = await call('/v1/process/export/url', {
      body: { input: await importedTask(), filename: 'résumé 履歴.png' },
    });
    const { result } = await ended('tasks', body.id);
    const answer = await fetch(result.url);
    expect(answer.headers.get('content-disposition')).toContain(
      "filename*=UTF-8''r%C3%A9sum%C3%A9%20%E5%B1%A5%E6%AD%B4.png",
    );
    expect(answer.headers.get('content-type')).toBe('image/png');
    expect(Number(answer.headers.get('content-length'))).toBe((await answer.arrayBuffer()).byteLength);
  });

  it('a download honours Range and HEAD', async () => {
    const { body } = await call('/v1/process/export/url', { body: { input: await importedTask() } });
    const { result } = await ended('tasks', body.id);
    const part = await fetch(result.url, { headers: { Range: 'bytes=1-3' } });
    expect(part.status).toBe(206);
    expect(await part.text()).toBe('PNG');
    const head = await fetch(result.url, { method: 'HEAD' });
    expect(head.status).toBe(200);
    expect(Number(head.headers.get('content-length'))).toBeGreaterThan(0);
  });

  it('archive_multiple_files: false by default, a link for each file', async () => {
    const { body } = await call('/v1/process/export/url', {
      body: { input: [await importedTask(), await importedTask()] },
    });
    const { result } = await ended('tasks', body.id);
    expect(result.files).toHaveLength(2);
    expect(new Set(result.files.map(({ filename }: { filename: string }) => filename)).size).toBe(2);
  });

  it('archive_multiple_files: true makes one ZIP with unique names', async () => {
    const { body } = await call('/v1/process/export/url', {
      body: { input: [await importedTask(), await importedTask()], archive_multiple_files: true },
    });
    const { result } = await ended('tasks', body.id);
    expect(result.files).toHaveLength(1);
    const zip = Buffer.from(await (await fetch(result.url)).arrayBuffer());
    expect(zip.subarray(0, 2).toString()).toBe('PK');
    expect(zip.toString('latin1')).toContain('dot (2).png');
  });

  it('archive_multiple_files: must be a boolean', async () => {
    const { body } = await call('/v1/process/export/url', {
      body: { input: await importedTask(), archive_multiple_files: 'yes' },
    });
    expect(body.errors).toHaveProperty('archive_multiple_files');
  });

  it('the link dies with the task', async () => {
    const { body } = await call('/v1/process/export/url', { body: { input: await importedTask() } });
    const { result } = await ended('tasks', body.id);
    await call(`/v1/process/tasks/${body.id}`, { method: 'DELETE' });
    expect((await fetch(result.url)).status).toBe(404);
  });
});

describe('Tasks are independent', () => {
  it('any ordering is chosen by the caller through the input ids', async () => {
    const job = await createJob({
      a: importPng,
      b: { operation: 'convert', input: 'a', output_format: 'webp' },
      c: { operation: 'convert', input: 'b', output_format: 'gif' },
      d: { operation: 'convert', input: 'c', output_format: 'png' },
    });
    const done = await ended('jobs', job.id);
    expect(done.status).toBe('completed');
    expect(taskOf(done, 'd').result.files[0].format).toBe('png');
  });
});
