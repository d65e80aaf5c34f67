import { presentJob } from '../../../shared/jobs/present.ts';
import { listJobs } from '../../../shared/lists/list.ts';
import { endpoint } from '../http/endpoint.ts';
import { listPage } from '../http/page.ts';
import { presentJobsWithTasks } from '../http/response-size.ts';
import { routes } from '../routes.ts';

export const handler = endpoint(routes['list-jobs'], async ({ account, query }) => {
  const { status, tag, include } = query;
  const body = await listPage(
    account.user,
    query,
    (owned, window) => listJobs(owned, { status, tag }, window),
    async (jobs) => (include.includes('tasks') ? presentJobsWithTasks(jobs) : jobs.map((job) => presentJob(job))),
  );
  return { body };
});
