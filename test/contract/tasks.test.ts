import { beforeAll, describe, expect, it } from 'vitest';
import {
  type Body,
  call,
  createJob,
  ended,
  importedTask,
  importPng,
  pngBytes,
  taskOf,
  unknownId,
  upload,
  waitingTask,
} from './api.ts';

const iso = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);
const objectId = expect.stringMatching(/^[0-9a-f]{24}$/);

/** A wait that takes its 25 seconds while the other tests run. */
async function waitInVain() {
  const { id } = await waitingTask();
  const began = Date.now();
  const response = await call(`/v1/process/tasks/${id}/wait`);
  return { ...response, tookMs: Date.now() - began };
}

let vainWait: ReturnType<typeof waitInVain>;
beforeAll(() => {
  vainWait = waitInVain();
  // The test that awaits it reports why it failed.
  vainWait.catch(() => {});
});

describe('Task fields', () => {
  let job: Body;
  let task: Body;
  beforeAll(async () => {
    const created = await createJob({
      source: importPng,
      picture: { operation: 'convert', input: 'source', output_format: 'webp', options: { quality: 70 } },
    });
    job = await ended('jobs', created.id);
    task = taskOf(job, 'picture');
  });

  it('id is an ObjectID', () => expect(task.id).toEqual(objectId));
  it('name is the key in the job’s tasks', () => expect(task.name).toBe('picture'));
  it('operation is the kind of the task', () => expect(task.operation).toBe('convert'));
  it('status is completed at last', () => expect(task.status).toBe('completed'));
  it('payload holds the parameters it was created with', () =>
    expect(task.payload).toMatchObject({ output_format: 'webp', options: { quality: 70 } }));
  it('dependsOn holds the ids of its inputs', () => expect(task.dependsOn).toEqual([taskOf(job, 'source').id]));
  it('job is the owning job’s id', () => expect(task.job).toBe(job.id));
  it('user is the owning user’s id', () => expect(task.user).toEqual(objectId));
  it('result.url is the location of the output file', () => expect(task.result.url).toMatch(/^https?:\/\//));
  it('createdAt, startedAt, endedAt, updatedAt, expiresAt are ISO 8601 and in order', () => {
    expect(task).toMatchObject({ createdAt: iso, startedAt: iso, endedAt: iso, updatedAt: iso, expiresAt: iso });
    expect(task.createdAt <= task.startedAt && task.startedAt <= task.endedAt && task.endedAt < task.expiresAt).toBe(
      true,
    );
  });
  it('endedAt is null while the task is running', async () => expect((await waitingTask()).endedAt).toBeNull());
  it('ids are ordered by creation time', async () => {
    const [first, second] = [await importedTask(), await importedTask()];
    expect(first < second).toBe(true);
  });
});

describe('Show a task', () => {
  it('responds with 200 and the task', async () => {
    const id = await importedTask();
    const { status, body } = await call(`/v1/process/tasks/${id}`);
    expect(status).toBe(200);
    expect(body.id).toBe(id);
  });

  it('include=payload,job adds the payload and job details', async () => {
    const job = await createJob({ source: importPng });
    const { body } = await call(`/v1/process/tasks/${job.tasks[0].id}?include=payload,job`);
    expect(body.payload.filename).toBe('dot.png');
    expect(body.jobDetails).toMatchObject({ id: job.id, status: expect.any(String) });
  });

  it('refuses an unknown include', async () => {
    const { status, body } = await call(`/v1/process/tasks/${await importedTask()}?include=secrets`);
    expect(status).toBe(400);
    expect(body.errors).toHaveProperty('include');
  });

  it.each(['1', 'zzzzzzzzzzzzzzzzzzzzzzzz', '%00', '../jobs'])('a path of %j is no task', async (id) => {
    expect([400, 404]).toContain((await call(`/v1/process/tasks/${encodeURIComponent(id)}`)).status);
  });
});

describe('States and transitions', () => {
  it('Task | created or processing | cancel | → canceled, and the response is the updated task', async () => {
    const { id } = await waitingTask();
    const { status, body } = await call(`/v1/process/tasks/${id}/cancel`, { method: 'POST' });
    expect(status).toBe(200);
    expect(body).toMatchObject({ id, status: 'canceled', endedAt: iso });
  });

  it('Task | created | cancel | → canceled for a task that waits for its input', async () => {
    const job = await createJob({
      source: { operation: 'import/upload' },
      picture: { operation: 'convert', input: 'source', output_format: 'jpg' },
    });
    const { body } = await call(`/v1/process/tasks/${taskOf(job, 'picture').id}/cancel`, { method: 'POST' });
    expect(body.status).toBe('canceled');
  });

  it('Task | processing (import/upload) | file upload finishes | → completed', async () => {
    const task = await waitingTask();
    expect(task.status).toBe('processing');
    expect(task.result.form).toMatchObject({ url: expect.any(String), parameters: expect.any(Object) });
    expect(await upload(task.result.form, pngBytes(), 'größe 文.png')).toBeLessThan(300);
    const done = await ended('tasks', task.id);
    expect(done).toMatchObject({ status: 'completed', result: { url: expect.any(String) } });
    expect(done.result.files[0].filename).toBe('größe 文.png');
    expect(done.result.form).toBeUndefined();
  });

  it('Task | any | dependency task canceled | → failed, with a message that says which and why', async () => {
    const job = await createJob({
      source: { operation: 'import/upload' },
      picture: { operation: 'convert', input: 'source', output_format: 'jpg' },
      link: { operation: 'export/url', input: 'picture' },
    });
    await call(`/v1/process/tasks/${taskOf(job, 'source').id}/cancel`, { method: 'POST' });
    const failed = await ended('jobs', job.id);
    expect(taskOf(failed, 'picture')).toMatchObject({
      status: 'failed',
      result: { errorCode: 'processing_failed', msg: expect.stringContaining('source') },
    });
    expect(taskOf(failed, 'link')).toMatchObject({
      status: 'failed',
      result: { msg: expect.stringContaining('picture') },
    });
  });

  it('Task | any | DELETE | → record removed with its files, 200 and an empty body', async () => {
    const id = await importedTask();
    const { result } = (await call(`/v1/process/tasks/${id}`)).body;
    const { status, text } = await call(`/v1/process/tasks/${id}`, { method: 'DELETE' });
    expect(status).toBe(200);
    expect(text).toBe('');
    expect((await call(`/v1/process/tasks/${id}`)).status).toBe(404);
    expect((await fetch(result.url, { redirect: 'manual' })).status).toBe(404);
    expect((await call(`/v1/process/tasks/${id}`, { method: 'DELETE' })).status).toBe(404);
  });

  it('Job | created or processing | one of its tasks is canceled | → failed with task_canceled', async () => {
    const job = await createJob({ source: { operation: 'import/upload' } });
    await call(`/v1/process/tasks/${job.tasks[0].id}/cancel`, { method: 'POST' });
    expect(await ended('jobs', job.id)).toMatchObject({
      status: 'failed',
      result: { errorCode: 'task_canceled', msg: expect.stringContaining('source') },
    });
  });

  it('Job | created or processing | one of its tasks is deleted | → failed with task_deleted', async () => {
    const job = await createJob({ source: { operation: 'import/upload' } });
    await call(`/v1/process/tasks/${job.tasks[0].id}`, { method: 'DELETE' });
    expect(await ended('jobs', job.id)).toMatchObject({
      status: 'failed',
      result: { errorCode: 'task_deleted', msg: expect.any(String) },
    });
  });

  it('Job | created or processing | one of its tasks fails | → failed with task_failed', async () => {
    const job = await createJob({
      source: {
        operation: 'import/base64',
        file: `data:image/png;base64,${Buffer.from('no picture').toString('base64')}`,
        filename: 'broken.png',
      },
      picture: { operation: 'convert', input: 'source', output_format: 'jpg' },
    });
    const failed = await ended('jobs', job.id);
    expect(failed).toMatchObject({
      status: 'failed',
      result: { errorCode: 'task_failed', msg: expect.stringContaining('picture') },
    });
    expect(taskOf(failed, 'picture').result).toMatchObject({ errorCode: 'processing_failed', msg: expect.any(String) });
  });

  it('independent branches of a failed job go on', async () => {
    const job = await createJob({
      source: importPng,
      never: { operation: 'import/upload' },
      picture: { operation: 'convert', input: 'source', output_format: 'jpg' },
    });
    await call(`/v1/process/tasks/${taskOf(job, 'never').id}/cancel`, { method: 'POST' });
    expect((await ended('tasks', taskOf(job, 'picture').id)).status).toBe('completed');
    expect((await call(`/v1/process/jobs/${job.id}`)).body.status).toBe('failed');
  });

  it('Job | any | DELETE | → record removed with all its tasks and files', async () => {
    const job = await ended('jobs', (await createJob({ source: importPng })).id);
    const { status, text } = await call(`/v1/process/jobs/${job.id}`, { method: 'DELETE' });
    expect(status).toBe(200);
    expect(text).toBe('');
    expect((await call(`/v1/process/jobs/${job.id}`)).status).toBe(404);
    expect((await call(`/v1/process/tasks/${job.tasks[0].id}`)).status).toBe(404);
    expect((await fetch(job.tasks[0].result.url, { redirect: 'manual' })).status).toBe(404);
  });

  it('a running job can be deleted', async () => {
    const job = await createJob({
      source: { operation: 'import/upload' },
      picture: { operation: 'convert', input: 'source', output_format: 'jpg' },
    });
    expect((await call(`/v1/process/jobs/${job.id}`, { method: 'DELETE' })).status).toBe(200);
    expect((await call(`/v1/process/tasks/${taskOf(job, 'picture').id}`)).status).toBe(404);
  });
});

describe('Waiting', () => {
  it('GET …/tasks/{id}/wait responds when the task has ended', async () => {
    const job = await createJob({
      source: importPng,
      picture: { operation: 'convert', input: 'source', output_format: 'gif' },
    });
    const { status, body } = await call(`/v1/process/tasks/${taskOf(job, 'picture').id}/wait`);
    expect(status).toBe(200);
    expect(body.status).toBe('completed');
  });

  it('GET …/jobs/{id}/wait responds when the job has ended', async () => {
    const job = await createJob({
      source: importPng,
      picture: { operation: 'convert', input: 'source', output_format: 'gif' },
    });
    expect((await call(`/v1/process/jobs/${job.id}/wait`)).body.status).toBe('completed');
  });

  it('responds after 25 seconds with the current state', async () => {
    const { status, body, tookMs } = await vainWait;
    expect(status).toBe(200);
    expect(body.status).toBe('processing');
    expect(tookMs).toBeGreaterThan(20_000);
  });

  it('a task of nobody is not waited for', async () => {
    expect((await call(`/v1/process/tasks/${unknownId}/wait`)).status).toBe(404);
  });
});

describe('Idempotency-Key', () => {
  const headers = () => ({ 'Idempotency-Key': `key-${Math.random()}` });

  it('the same key and body gives the same job back', async () => {
    const request = { body: { tasks: { source: importPng } }, headers: headers() };
    const first = await call('/v1/process/jobs', request);
    const second = await call('/v1/process/jobs', request);
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.body.id).toBe(first.body.id);
  });

  it('the same key with another body is 409', async () => {
    const key = headers();
    await call('/v1/process/import/base64', { body: { file: importPng.file, filename: 'a.png' }, headers: key });
    const { status, body } = await call('/v1/process/import/base64', {
      body: { file: importPng.file, filename: 'b.png' },
      headers: key,
    });
    expect(status).toBe(409);
    expect(body.errorCode).toBe('already_exists');
  });

  it('many requests at once with one key create one task', async () => {
    const request = { method: 'POST', headers: headers() };
    const answers = await Promise.all(Array.from({ length: 8 }, () => call('/v1/process/import/upload', request)));
    const created = answers.filter(({ status }) => status === 201);
    expect(new Set(created.map(({ body }) => body.id)).size).toBe(1);
    expect(answers.every(({ status }) => status === 201 || status === 409)).toBe(true);
  });

  it('a refused request leaves the key free', async () => {
    const key = headers();
    expect((await call('/v1/process/import/base64', { body: { filename: 'a.png' }, headers: key })).status).toBe(400);
    expect(
      (await call('/v1/process/import/base64', { body: { file: importPng.file, filename: 'a.png' }, headers: key }))
        .status,
    ).toBe(201);
  });
});
