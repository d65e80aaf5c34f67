import { describe, expect, it } from 'vitest';
import { call, createJob, ended, importedTask, importPng, taskOf } from './api.ts';

const iso = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T/);

describe('Job fields', () => {
  it('id, status, createdAt, updatedAt, startedAt, tasks and result are there', async () => {
    const job = await createJob({ source: importPng });
    expect(job).toMatchObject({
      id: expect.stringMatching(/^[0-9a-f]{24}$/),
      status: expect.any(String),
      createdAt: iso,
      updatedAt: iso,
      tasks: [{ name: 'source' }],
      result: {},
    });
    expect((await ended('jobs', job.id)).startedAt).toEqual(iso);
  });

  it('tag: an arbitrary string with no effect', async () => {
    expect((await createJob({ source: importPng }, { tag: 'jobs/2026 ünïcode' })).tag).toBe('jobs/2026 ünïcode');
  });
});

describe('Create a job', () => {
  it('tag: must be a string', async () => {
    expect((await call('/v1/process/jobs', { body: { tag: 1, tasks: { a: importPng } } })).body.errors).toHaveProperty(
      'tag',
    );
  });

  it('tasks: is required', async () => {
    expect((await call('/v1/process/jobs', { body: {} })).body.errors).toHaveProperty('tasks');
  });

  it('tasks.<name>.input: a string names one task', async () => {
    const job = await createJob({ a: importPng, b: { operation: 'convert', input: 'a', output_format: 'jpg' } });
    expect(taskOf(job, 'b').dependsOn).toEqual([taskOf(job, 'a').id]);
  });

  it('tasks.<name>.input: an array names several, in order', async () => {
    const job = await createJob({ a: importPng, b: importPng, c: { operation: 'export/url', input: ['b', 'a'] } });
    const done = await ended('jobs', job.id);
    expect(taskOf(done, 'c').dependsOn).toEqual([taskOf(job, 'b').id, taskOf(job, 'a').id]);
    expect(taskOf(done, 'c').result.files).toHaveLength(2);
  });

  it('tasks.<name>.input: the id of an earlier task outside the job', async () => {
    const job = await createJob({ b: { operation: 'convert', input: await importedTask(), output_format: 'jpg' } });
    expect((await ended('jobs', job.id)).status).toBe('completed');
  });

  it('tasks.<name>.input: an export may be the input of another task', async () => {
    const job = await createJob({
      a: importPng,
      b: { operation: 'export/url', input: 'a' },
      c: { operation: 'convert', input: 'b', output_format: 'jpg' },
    });
    expect((await ended('jobs', job.id)).status).toBe('completed');
  });

  it('names may contain letters, digits, dash and underscore', async () => {
    expect((await createJob({ 'Az-09_': importPng })).tasks[0].name).toBe('Az-09_');
  });

  it('may hold a conversion and a thumbnail, with an export each', async () => {
    const job = await createJob({
      a: importPng,
      full: { operation: 'convert', input: 'a', output_format: 'jpg' },
      thumb: { operation: 'convert', input: 'a', output_format: 'webp', options: { image_custom_width: 1 } },
      fullLink: { operation: 'export/url', input: 'full' },
      thumbLink: { operation: 'export/url', input: 'thumb' },
    });
    const done = await ended('jobs', job.id);
    expect(done.status).toBe('completed');
    expect(taskOf(done, 'fullLink').result.url).not.toBe(taskOf(done, 'thumbLink').result.url);
  });

  it('of 200 tasks works and responds in one request', async () => {
    const tasks = Object.fromEntries(
      Array.from({ length: 200 }, (_, index) => [`t${index}`, { operation: 'import/upload' }]),
    );
    const job = await createJob(tasks);
    expect(job.tasks).toHaveLength(200);
    expect(job.tasks.map(({ name }: { name: string }) => name)).toEqual(Object.keys(tasks));
    await call(`/v1/process/jobs/${job.id}`, { method: 'DELETE' });
  });
});
