import { endpoint } from '../../shared/http/endpoint.ts';
import { records } from '../../shared/records/records.ts';
import { presentJob } from '../../shared/tasks/present.ts';
import { tasksOf } from './own.ts';
import { listPage } from './page.ts';
import { routes } from './routes.ts';

export const handler = endpoint(routes['list-jobs'], async ({ account, query }) => {
  const { status, tag, include } = query;
  const body = await listPage(query, {
    owner: `jobs#${account.user}`,
    equal: { status },
    contains: { tag },
    read: records.jobs,
    present: (jobs) =>
      Promise.all(jobs.map(async (job) => presentJob(job, include.includes('tasks') ? await tasksOf(job) : undefined))),
  });
  return { body };
});
