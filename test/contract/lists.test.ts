import { beforeAll, describe, expect, it } from 'vitest';
import { type Body, call, createJob, ended, importPng, listed } from './api.ts';

const tag = `tag-${Date.now()}`;
let job: Body;
beforeAll(async () => {
  job = await createJob(
    { one: importPng, two: { operation: 'convert', input: 'one', output_format: 'jpg' }, three: importPng },
    { tag },
  );
  await ended('jobs', job.id);
  await listed('jobs', `tag=${tag}&status=completed`, 1);
  await listed('tasks', `job=${job.id}&status=completed`, 3);
});

describe('Page envelope', () => {
  it('has every field of the table, with its type', async () => {
    const { status, body } = await call('/v1/process/tasks?per_page=2&page=2');
    expect(status).toBe(200);
    expect(Object.keys(body).sort()).toEqual(
      [
        'docs',
        'hasNextPage',
        'hasPrevPage',
        'limit',
        'nextPage',
        'page',
        'pagingCounter',
        'prevPage',
        'totalDocs',
        'totalPages',
      ].sort(),
    );
    expect(body).toMatchObject({
      limit: 2,
      page: 2,
      pagingCounter: 3,
      hasPrevPage: true,
      prevPage: 1,
      totalDocs: expect.any(Number),
    });
    expect(body.totalPages).toBe(Math.ceil(body.totalDocs / 2));
  });

  it('prevPage is null on the first page and nextPage on the last', async () => {
    const { body } = await call(`/v1/process/tasks?job=${job.id}`);
    expect(body).toMatchObject({
      totalDocs: 3,
      totalPages: 1,
      page: 1,
      prevPage: null,
      nextPage: null,
      hasPrevPage: false,
      hasNextPage: false,
      pagingCounter: 1,
    });
  });

  it('a page past the end is an empty page', async () => {
    const { status, body } = await call(`/v1/process/tasks?job=${job.id}&page=99`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ docs: [], totalDocs: 3, page: 99 });
  });

  it('pages hold every document once, newest first', async () => {
    const pages = await Promise.all(
      [1, 2, 3].map((page) => call(`/v1/process/tasks?job=${job.id}&per_page=1&page=${page}`)),
    );
    const ids = pages.flatMap(({ body }) => body.docs.map(({ id }: Body) => id));
    expect(ids).toEqual(job.tasks.map(({ id }: Body) => id).reverse());
  });
});

describe('List tasks', () => {
  it('status: only tasks with it', async () => {
    const { body } = await call('/v1/process/tasks?status=completed');
    expect(body.docs.length).toBeGreaterThan(0);
    expect(body.docs.every(({ status }: Body) => status === 'completed')).toBe(true);
  });

  it.each(['created', 'processing', 'completed', 'canceled', 'failed', 'deleted'])(
    'status: %s is accepted',
    async (status) => {
      expect((await call(`/v1/process/tasks?status=${status}`)).status).toBe(200);
    },
  );

  it('status: any other is a 400', async () => {
    expect((await call('/v1/process/tasks?status=sleeping')).body.errors).toHaveProperty('status');
  });

  it('operation: only tasks with it', async () => {
    const { body } = await call(`/v1/process/tasks?operation=${encodeURIComponent('import/base64')}`);
    expect(body.docs.length).toBeGreaterThan(0);
    expect(body.docs.every(({ operation }: Body) => operation === 'import/base64')).toBe(true);
  });

  it('job: only tasks of this job id', async () => {
    const { body } = await call(`/v1/process/tasks?job=${job.id}`);
    expect(body.docs.map(({ job: id }: Body) => id)).toEqual([job.id, job.id, job.id]);
  });

  it('filters combine', async () => {
    const { body } = await call(`/v1/process/tasks?job=${job.id}&operation=convert&status=completed`);
    expect(body).toMatchObject({
      totalDocs: 1,
      docs: [{ name: 'two', payload: { output_format: 'jpg' }, result: { url: expect.any(String) } }],
    });
  });

  it('per_page: default 50', async () => expect((await call('/v1/process/tasks')).body.limit).toBe(50));
  it('per_page: maximum 200', async () => {
    expect((await call('/v1/process/tasks?per_page=200')).body.limit).toBe(200);
    expect((await call('/v1/process/tasks?per_page=201')).body.errors).toHaveProperty('per_page');
  });
  it.each(['0', '-1', 'x', '1.5', '1e3', ' '])('per_page: %j is a 400', async (value) => {
    expect((await call(`/v1/process/tasks?per_page=${encodeURIComponent(value)}`)).status).toBe(400);
  });
  it.each(['0', '-1', 'x'])('page: %j is a 400', async (value) => {
    expect((await call(`/v1/process/tasks?page=${value}`)).body.errors).toHaveProperty('page');
  });

  it('shows another user nothing of it', async () => {
    expect((await call(`/v1/process/tasks?job=${job.id}`, { as: 'other' })).body.totalDocs).toBe(0);
  });

  it('totals are right while tasks are being created', async () => {
    // A user and an operation that no other file of this suite creates anything with.
    const [query, request] = ['operation=import/upload', { as: 'other' }] as const;
    const before = (await call(`/v1/process/tasks?${query}`, request)).body.totalDocs;
    const uploads = Array.from({ length: 10 }, () =>
      call('/v1/process/import/upload', { method: 'POST', as: 'other' }),
    );
    expect((await Promise.all(uploads)).map(({ status }) => status)).toEqual(uploads.map(() => 201));
    await listed('tasks', query, before + 10, request);
  });
});

describe('List jobs', () => {
  it('status: only jobs with it', async () => {
    const { body } = await call('/v1/process/jobs?status=completed');
    expect(body.docs.every(({ status }: Body) => status === 'completed')).toBe(true);
  });
  it.each(['created', 'processing', 'completed', 'failed'])('status: %s is accepted', async (status) => {
    expect((await call(`/v1/process/jobs?status=${status}`)).status).toBe(200);
  });
  it('status: canceled is no status of jobs', async () => {
    expect((await call('/v1/process/jobs?status=canceled')).status).toBe(400);
  });
  it('tag: only jobs containing this tag', async () => {
    const { body } = await call(`/v1/process/jobs?tag=${tag}`);
    expect(body).toMatchObject({ totalDocs: 1, docs: [{ id: job.id, tag }] });
  });
  it('include: tasks are present when they are asked for, and only then', async () => {
    expect((await call(`/v1/process/jobs?tag=${tag}&include=tasks`)).body.docs[0].tasks).toHaveLength(3);
    expect((await call(`/v1/process/jobs?tag=${tag}`)).body.docs[0].tasks).toBeUndefined();
  });
  it('include: details of their job are present with tasks when they are asked for, and only then', async () => {
    const { docs } = (await call(`/v1/process/tasks?job=${job.id}&include=job`)).body;
    expect(docs).toHaveLength(3);
    for (const task of docs) expect(task.jobDetails).toMatchObject({ id: job.id, tag });
    for (const task of (await call(`/v1/process/tasks?job=${job.id}`)).body.docs)
      expect(task).not.toHaveProperty('jobDetails');
  });

  it('include: another value is a 400', async () => {
    expect((await call('/v1/process/jobs?include=users')).status).toBe(400);
  });
  it('per_page: default 50, maximum 200', async () => {
    expect((await call('/v1/process/jobs')).body.limit).toBe(50);
    expect((await call('/v1/process/jobs?per_page=201')).status).toBe(400);
  });
  it('page: the second page goes on where the first ended', async () => {
    // Jobs of this test alone: one that another file creates between the two requests would move to the second page.
    const own = `pages-${Date.now()}`;
    for (let count = 0; count < 2; count++) await createJob({ one: importPng }, { tag: own });
    await listed('jobs', `tag=${own}`, 2);
    const first = (await call(`/v1/process/jobs?tag=${own}&per_page=1`)).body;
    const second = (await call(`/v1/process/jobs?tag=${own}&per_page=1&page=2`)).body;
    expect(second.docs[0].id < first.docs[0].id).toBe(true);
  });
});
