import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type Body, call, createJob, ended, madeKey, pngBytes, taskOf, unknownId, upload, waitingTask } from './api.ts';

const mebibyte = 1024 ** 2;
const minPartBytes = 5 * mebibyte;

/** Calls an upload endpoint as Uppy does: without a key. */
async function speak(endpoint: string, path: string, { method, body }: { method?: string; body?: unknown } = {}) {
  const response = await fetch(`${endpoint}/s3${path}`, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: (text === '' ? undefined : JSON.parse(text)) as Body };
}

async function waiting(): Promise<{ id: string; endpoint: string; form: Body }> {
  const { id, result } = await waitingTask();
  return { id, endpoint: result.form.endpoint, form: result.form };
}

async function start(endpoint: string, about: Record<string, unknown> = { filename: 'dot.png' }) {
  const { status, body } = await speak(endpoint, '/multipart', { body: about });
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
}

async function sendPart(endpoint: string, uploadId: string, number: number, content: Uint8Array<ArrayBuffer>) {
  const { status, body } = await speak(endpoint, `/multipart/${uploadId}/${number}`);
  expect(status, JSON.stringify(body)).toBe(200);
  const response = await fetch(body.url, { method: 'PUT', body: content });
  expect(response.status, await response.text()).toBe(200);
  return { PartNumber: number, ETag: response.headers.get('etag')?.replaceAll('"', '') };
}

const complete = (endpoint: string, uploadId: string, parts: unknown) =>
  speak(endpoint, `/multipart/${uploadId}/complete`, { body: { parts } });

/** An upload with one part, the pixel. */
async function uploaded() {
  const task = await waiting();
  const { uploadId } = await start(task.endpoint);
  return { ...task, uploadId, part: await sendPart(task.endpoint, uploadId, 1, pngBytes()) };
}

describe('an upload in parts', () => {
  it('completes its task with the file that the parts make', async () => {
    const { id, endpoint } = await waiting();
    const content = randomBytes(minPartBytes + 10);
    const { uploadId, key, partSize } = await start(endpoint, {
      filename: 'größe.bin',
      type: 'x/y',
      metadata: { a: 1 },
    });
    expect(key).toContain(id);
    expect(partSize).toBeUndefined();

    const second = await sendPart(endpoint, uploadId, 2, content.subarray(minPartBytes));
    const first = await sendPart(endpoint, uploadId, 1, content.subarray(0, minPartBytes));
    const listed = await speak(endpoint, `/multipart/${uploadId}?key=${encodeURIComponent(key)}`);
    expect(listed.body).toEqual([
      { ...first, Size: minPartBytes },
      { ...second, Size: 10 },
    ]);
    const { status, body } = await complete(endpoint, uploadId, [first, second]);

    expect(status, JSON.stringify(body)).toBe(200);
    expect(body).toEqual({ location: expect.stringContaining(`/v1/process/tasks/${id}`), key });
    const task = await ended('tasks', id);
    expect(task).toMatchObject({
      status: 'completed',
      result: { files: [{ filename: 'größe.bin', size: content.length }] },
    });
    const file = await fetch(task.result.url);
    expect(Buffer.from(await file.arrayBuffer()).equals(content)).toBe(true);
  });

  it('feeds the tasks of its job, whose formats are detected from the content', async () => {
    const job = await createJob({
      upload: { operation: 'import/upload' },
      convert: { operation: 'convert', input: 'upload', output_format: 'webp' },
    });
    const { endpoint } = taskOf(job, 'upload').result.form;
    const { uploadId } = await start(endpoint, { filename: 'named-wrongly.txt' });
    const part = await sendPart(endpoint, uploadId, 1, pngBytes());
    await complete(endpoint, uploadId, [part]);

    expect((await ended('jobs', job.id)).status).toBe('completed');
  });

  it('of a declared size has parts of one size, whose URLs take no other', async () => {
    const { endpoint } = await waiting();
    const size = 16 * mebibyte + 3;
    const { uploadId, partSize } = await start(endpoint, { filename: 'a.bin', size });
    expect(partSize).toBe(16 * mebibyte);

    const { body } = await speak(endpoint, `/multipart/${uploadId}/2`);
    const wrong = await fetch(body.url, { method: 'PUT', body: randomBytes(4) });
    const right = await fetch(body.url, { method: 'PUT', body: randomBytes(3) });
    const third = await speak(endpoint, `/multipart/${uploadId}/3`);
    const early = await complete(endpoint, uploadId, [{ PartNumber: 2, ETag: right.headers.get('etag') }]);

    expect([wrong.status, right.status, third.status, early.status]).toEqual([403, 200, 400, 400]);
    expect(early.body.errors.parts[0]).toContain(`${size} bytes`);
  });

  it('is resumed by the same filename, size and time, and started over by others', async () => {
    const { endpoint } = await waiting();
    const about = { filename: 'a.bin', size: 20 * mebibyte, modified: 5 };
    const first = await start(endpoint, about);
    await sendPart(endpoint, first.uploadId, 2, randomBytes(4 * mebibyte));

    const resumed = await start(endpoint, about);
    const listed = await speak(endpoint, `/multipart/${resumed.uploadId}`);
    const other = await start(endpoint, { ...about, modified: 6 });
    const replaced = await speak(endpoint, `/multipart/${first.uploadId}`);

    expect(resumed).toEqual(first);
    expect(listed.body).toMatchObject([{ PartNumber: 2, Size: 4 * mebibyte }]);
    expect(other.uploadId).not.toBe(first.uploadId);
    expect(replaced.status).toBe(404);
  });

  it('responds to a repeated completion like to the first, before and after the import', async () => {
    const { id, endpoint, uploadId, part } = await uploaded();

    const responses = [await complete(endpoint, uploadId, [part]), await complete(endpoint, uploadId, [part])];
    const task = await ended('tasks', id);
    responses.push(await complete(endpoint, uploadId, [part]));

    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(responses[2]).toEqual(responses[0]);
    const { body } = await call(`/v1/process/tasks/${id}`);
    expect(body).toEqual(task);
  });

  it('does not end a task that its form has completed', async () => {
    const { id, endpoint, form, uploadId, part } = await uploaded();
    await upload(form, pngBytes(), 'by-form.png');
    const task = await ended('tasks', id);

    const { status } = await complete(endpoint, uploadId, [part]);

    expect(status).toBe(409);
    expect((await call(`/v1/process/tasks/${id}`)).body).toEqual(task);
    expect(task.result.files).toMatchObject([{ filename: 'by-form.png' }]);
  });

  it('is aborted, and another can follow', async () => {
    const { id, endpoint, uploadId } = await uploaded();

    const aborted = await speak(endpoint, `/multipart/${uploadId}`, { method: 'DELETE' });
    const after = await speak(endpoint, `/multipart/${uploadId}`);
    const next = await start(endpoint);
    const part = await sendPart(endpoint, next.uploadId, 1, pngBytes());
    await complete(endpoint, next.uploadId, [part]);

    expect([aborted.status, after.status]).toEqual([200, 404]);
    expect((await ended('tasks', id)).status).toBe('completed');
  });

  it('ends with its job if that is deleted', async () => {
    const job = await createJob({ upload: { operation: 'import/upload' } });
    const { endpoint } = taskOf(job, 'upload').result.form;
    const { uploadId } = await start(endpoint);
    await sendPart(endpoint, uploadId, 1, pngBytes());
    const { url } = (await speak(endpoint, `/multipart/${uploadId}/2`)).body;

    expect((await call(`/v1/process/jobs/${job.id}`, { method: 'DELETE' })).status).toBe(200);

    const late = await fetch(url, { method: 'PUT', body: pngBytes() });
    expect(late.status).toBe(404);
    expect(await late.text()).toContain('NoSuchUpload');
  });

  it('gives the form to a client that sends a small file, with its name', async () => {
    const { id, endpoint } = await waiting();
    const { status, body } = await speak(endpoint, '/params?filename=pixel.png&type=image%2Fpng&metadata%5Bname%5D=a');
    expect(status).toBe(200);

    const { url, fields: parameters } = body;
    expect(await upload({ url, parameters }, pngBytes(), 'blob')).toBe(204);

    expect((await ended('tasks', id)).result.files).toMatchObject([{ filename: 'pixel.png' }]);
  });
});

describe('an upload in parts is refused', () => {
  it.each([
    ['no filename', {}, 'filename'],
    ['an empty filename', { filename: '' }, 'filename'],
    ['a negative size', { filename: 'a', size: -1 }, 'size'],
    ['a size that is no number', { filename: 'a', size: '5' }, 'size'],
    ['a size over the limit', { filename: 'a', size: 10 ** 12 + 1 }, 'size'],
  ])('at its start: %s', async (_name, body, field) => {
    const { endpoint } = await waiting();
    const refused = await speak(endpoint, '/multipart', { body });
    expect(refused.status).toBe(400);
    expect(Object.keys(refused.body.errors)).toEqual([field]);
  });

  it.each(['0', '10001', 'x', '1.5', '-1'])('for the part number %s', async (number) => {
    const { endpoint } = await waiting();
    const { uploadId } = await start(endpoint);
    expect((await speak(endpoint, `/multipart/${uploadId}/${number}`)).status).toBe(400);
  });

  it.each([
    ['no parts', []],
    ['a part without a tag', [{ PartNumber: 1 }]],
    ['a part that was not sent', [{ PartNumber: 2, ETag: 'x' }]],
    ['a part with another tag', [{ PartNumber: 1, ETag: 'x' }]],
    [
      'more parts than S3 takes',
      Array.from({ length: 10_001 }, (_none, index) => ({ PartNumber: 1 + (index % 10_000), ETag: 'x' })),
    ],
  ])('at its end: %s', async (_name, parts) => {
    const { endpoint, uploadId } = await uploaded();
    const refused = await complete(endpoint, uploadId, parts);
    expect(refused.status, JSON.stringify(refused.body)).toBe(400);
    expect(Object.keys(refused.body.errors)[0]).toContain('parts');
  });

  it('at its end: parts in another order, and parts below the minimum', async () => {
    const { endpoint, uploadId, part } = await uploaded();
    const second = await sendPart(endpoint, uploadId, 2, randomBytes(10));

    const order = await complete(endpoint, uploadId, [second, part]);
    const twice = await complete(endpoint, uploadId, [part, part]);
    const small = await complete(endpoint, uploadId, [part, second]);

    for (const { status } of [order, twice, small]) expect(status).toBe(400);
    expect(small.body.errors.parts[0]).toContain(`at least ${minPartBytes} bytes`);
  });

  it('for a part too far ahead of those that are stored', async () => {
    const { endpoint, uploadId } = await uploaded();
    const near = await speak(endpoint, `/multipart/${uploadId}/33`);
    const far = await speak(endpoint, `/multipart/${uploadId}/34`);
    expect([near.status, far.status]).toEqual([200, 409]);
  });

  it('with the token of another task, a wrong one, or for an unknown task', async () => {
    const [mine, other] = [await waiting(), await waiting()];
    const { uploadId } = await start(mine.endpoint);
    const tokenOf = (endpoint: string) => endpoint.split('/').at(-1) ?? '';
    const addresses = [
      mine.endpoint.replace(tokenOf(mine.endpoint), tokenOf(other.endpoint)),
      mine.endpoint.replace(tokenOf(mine.endpoint), 'wrong'),
      mine.endpoint.replace(mine.id, unknownId),
    ];

    for (const address of addresses) {
      const responses = [
        await speak(address, '/params?filename=a'),
        await speak(address, '/multipart', { body: { filename: 'a' } }),
        await speak(address, `/multipart/${uploadId}`),
        await speak(address, `/multipart/${uploadId}/1`),
        await complete(address, uploadId, [{ PartNumber: 1, ETag: 'x' }]),
        await speak(address, `/multipart/${uploadId}`, { method: 'DELETE' }),
      ];
      expect(responses.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404, 404]);
    }
    const foreign = await speak(other.endpoint, `/multipart/${uploadId}`);
    expect(foreign.status).toBe(404);
  });

  it.each(['canceled', 'deleted'])('once its task is %s', async (end) => {
    const { id, endpoint, uploadId, part } = await uploaded();
    if (end === 'canceled') await call(`/v1/process/tasks/${id}/cancel`, { method: 'POST' });
    else await call(`/v1/process/tasks/${id}`, { method: 'DELETE' });

    const responses = [
      await speak(endpoint, '/params?filename=a'),
      await speak(endpoint, '/multipart', { body: { filename: 'a' } }),
      await speak(endpoint, `/multipart/${uploadId}`),
      await speak(endpoint, `/multipart/${uploadId}/1`),
      await complete(endpoint, uploadId, [part]),
      await speak(endpoint, `/multipart/${uploadId}`, { method: 'DELETE' }),
    ];

    const expected = end === 'canceled' ? 409 : 404;
    expect(responses.map(({ status }) => status)).toEqual(responses.map(() => expected));
  });

  it('over the limit of its API key, at its start and at its end', async () => {
    const { key } = await madeKey({ limits: { maxFileBytes: pngBytes().length - 1 } });
    const { body } = await call('/v1/process/import/upload', {
      method: 'POST',
      as: 'nobody',
      headers: { Authorization: `Bearer ${key}` },
    });
    const { endpoint } = body.result.form;
    const declared = await speak(endpoint, '/multipart', { body: { filename: 'a', size: pngBytes().length } });
    const { uploadId } = await start(endpoint);
    const part = await sendPart(endpoint, uploadId, 1, pngBytes());
    const full = await speak(endpoint, `/multipart/${uploadId}/2`);
    const finished = await complete(endpoint, uploadId, [part]);

    expect([declared.status, full.status, finished.status]).toEqual([400, 400, 400]);
    expect(finished.body.errors.parts[0]).toContain(`at most ${pngBytes().length - 1} bytes`);
  });
});
