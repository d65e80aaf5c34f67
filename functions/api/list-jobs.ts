import { endpoint } from '../../shared/http/endpoint.ts';
import { records } from '../../shared/records/records.ts';
import { presentJob } from '../../shared/tasks/present.ts';
import { listPage } from './page.ts';
import { presentJobsWithTasks } from './response-size.ts';
import { routes } from './routes.ts';

export const handler = endpoint(routes['list-jobs'], async ({ account, query }) => {
  const { status, tag, include } = query;
  const body = await listPage(query, {
    owner: `jobs#${account.user}`,
    equal: { status },
    contains: { tag },
    read: records.jobs,
    present: async (jobs) =>
      include.includes('tasks') ? presentJobsWithTasks(jobs) : jobs.map((job) => presentJob(job)),
  });
  return { body };
});
