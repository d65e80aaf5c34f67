import { records } from '../../../shared/aws/records.ts';
import { indexPartitions } from '../../../shared/aws/table-schema.ts';
import { presentJob } from '../../../shared/jobs/present.ts';
import { endpoint } from '../http/endpoint.ts';
import { listPage } from '../http/page.ts';
import { presentJobsWithTasks } from '../http/response-size.ts';
import { routes } from '../routes.ts';

export const handler = endpoint(routes['list-jobs'], async ({ account, query }) => {
  const { status, tag, include } = query;
  const body = await listPage(query, {
    owner: `${indexPartitions.ownedJob}${account.user}`,
    equal: { status },
    contains: { tag },
    read: records.jobs,
    present: async (jobs) =>
      include.includes('tasks') ? presentJobsWithTasks(jobs) : jobs.map((job) => presentJob(job)),
  });
  return { body };
});
