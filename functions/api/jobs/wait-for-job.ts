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
    // A job fails with its first failed task but ends with its last, because independent branches continue.
    isDone: ({ endedAt }) => endedAt !== undefined,
    remainingMs,
    hold,
  });
});
