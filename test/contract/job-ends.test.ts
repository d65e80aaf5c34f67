import { expect, it } from 'vitest';
import { isBroad } from '../support/breadth.ts';
import { type Body, call, createJob, ended, taskOf } from './api.ts';

const damaged = {
  operation: 'import/base64',
  file: `data:image/png;base64,${Buffer.from('Not a picture.').toString('base64')}`,
  filename: 'broken.png',
};
const dependents = {
  first: { operation: 'convert', input: 'source', input_format: 'png', output_format: 'webp' },
  ...Object.fromEntries(
    ['a', 'b', 'c'].map((name) => [name, { operation: 'convert', input: 'first', output_format: 'jpg' }]),
  ),
  merged: { operation: 'merge', input: ['a', 'b'], output_format: 'pdf' },
  link: { operation: 'export/url', input: ['merged', 'c'] },
};

/** Reads a job over and over, as a list too, until it has ended, and returns what no reader may see. */
async function watch(id: string): Promise<{ reads: number; seen: string[]; last: Body }> {
  const seen: string[] = [];
  let last: Body;
  let reads = 0;
  const read = async (path: string, found: (body: Body) => Body) => {
    while (last === undefined) {
      const { status, body } = await call(path);
      const job = status === 200 ? found(body) : undefined;
      reads += 1;
      if (!job) continue;
      const open = job.tasks.filter((task: Body) => task.endedAt === null);
      if ((job.status === 'failed' || job.endedAt !== null) && open.length > 0)
        seen.push(`${path}: ${job.status} while ${open.map((task: Body) => `${task.name} ${task.status}`).join()}`);
      if (job.endedAt !== null) last = job;
    }
  };
  const own = (body: Body) => (body.id === id ? body : undefined);
  await Promise.all([
    ...[1, 2, 3].map(() => read(`/v1/process/jobs/${id}`, own)),
    read(`/v1/process/jobs/${id}/wait`, own),
    read('/v1/process/jobs?include=tasks&per_page=5', (body) => body.docs.find((job: Body) => job.id === id)),
  ]);
  return { reads, seen, last };
}

it.each(isBroad ? [1, 2, 3] : [1])('a reader never sees a failed job with an open task, run %i', async () => {
  const { id } = await createJob({ source: damaged, ...dependents });
  const { reads, seen, last } = await watch(id);
  expect(reads).toBeGreaterThan(10);
  expect(seen).toEqual([]);
  expect(last).toMatchObject({
    status: 'failed',
    result: { errorCode: 'task_failed', msg: expect.stringContaining('"first"') },
  });
  expect(last.tasks).toHaveLength(7);
});

it.each([
  ['canceled', 'POST', '/cancel', 'task_canceled'],
  ['deleted', 'DELETE', '', 'task_deleted'],
])('nor one whose task was %s', async (_how, method, path, errorCode) => {
  const job = await createJob({ source: { operation: 'import/upload' }, ...dependents });
  const watching = watch(job.id);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect((await call(`/v1/process/tasks/${taskOf(job, 'source').id}${path}`, { method })).status).toBe(200);
  const { seen, last } = await watching;
  expect([seen, last.result.errorCode]).toEqual([[], errorCode]);
});

it('a job that failed ends with the branch that goes on', async () => {
  const job = await createJob({ source: damaged, ...dependents, other: { operation: 'import/upload' } });
  const failed = await ended('jobs', job.id);
  expect([taskOf(failed, 'other').status, failed.endedAt]).toEqual(['processing', null]);
  await call(`/v1/process/tasks/${taskOf(job, 'other').id}/cancel`, { method: 'POST' });
  const { body: over } = await call(`/v1/process/jobs/${job.id}/wait`);
  expect(over).toMatchObject({ status: 'failed', endedAt: expect.any(String), result: { errorCode: 'task_failed' } });
  expect(over.version).toBeGreaterThan(failed.version);
});
