import { endpoint } from '../http/endpoint.ts';
import { ownedJob } from '../http/find-owned.ts';
import { presentJobWithTasks } from '../http/response-size.ts';
import { waitUntil } from '../http/wait-until.ts';
import { routes } from '../routes.ts';

export const handler = endpoint(routes['wait-for-job'], async ({ account, params, remainingMs, hold }) => {
  return await waitUntil({
    read: () => ownedJob(account, params.jobId),
    present: (job) => presentJobWithTasks(job),
    kindOf: ({ user, tasks }) => `${user} ${tasks.length} tasks`,
    // A job ends after its tasks: it fails with the first that does, while independent branches go on.
    isDone: ({ endedAt }) => endedAt !== undefined,
    remainingMs,
    hold,
  });
});
