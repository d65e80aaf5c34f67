import { expect, test } from 'vitest';
import { Client, type JobView, type TaskView } from '../support/client.ts';
import { joinService } from '../support/shared-service.ts';
import { addUserWithTasks } from '../support/user-with-tasks.ts';

const tasks = 1_000;
const paths = ['tasks', 'tasks?status=failed', 'tasks?status=completed&operation=convert', 'jobs?status=failed'];

test('totals that were counted before are those of the records, also after deletions', {
  timeout: 300_000,
}, async () => {
  const service = await joinService();
  const client = new Client({ url: service.url, apiKey: await addUserWithTasks(service, tasks) });
  const list = async <T>(path: string) => {
    const { status, body } = await client.call<{ totalDocs: number; docs: T[] }>('GET', `/v1/process/${path}`);
    expect(status).toBe(200);
    return body;
  };
  const totals = () => Promise.all(paths.map(async (path) => (await list(path)).totalDocs));
  const first = await totals();
  expect(first[0]).toBe(tasks);
  // By the counts that the first lists kept.
  expect(await totals()).toEqual(first);
  const [, failed = 0, , failedJobs = 0] = first;
  expect(failed).toBe(2 * failedJobs);

  // On the last pages, and so created before what is counted by now.
  const oldJobs = (await list<JobView>(`jobs?status=failed&per_page=1&page=${failedJobs}`)).docs;
  const oldTasks = (await list<TaskView>(`tasks?per_page=1&page=${tasks - 100}`)).docs;
  expect(oldTasks).toMatchObject([{ status: 'completed' }]);
  for (const { id } of oldJobs) expect((await client.call('DELETE', `/v1/process/jobs/${id}`)).status).toBe(200);
  for (const { id } of oldTasks) expect((await client.call('DELETE', `/v1/process/tasks/${id}`)).status).toBe(200);
  const [all, stillFailed, , stillFailedJobs] = await totals();
  expect({ all, stillFailed, stillFailedJobs }).toEqual({
    all: tasks - 4,
    stillFailed: failed - 2,
    stillFailedJobs: failedJobs - 1,
  });
});
