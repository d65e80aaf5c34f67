import { endpoint } from '../http/endpoint.ts';
import { ownedJob } from '../http/find-owned.ts';
import { presentJobWithTasks } from '../http/response-size.ts';
import { waitUntil } from '../http/wait-until.ts';
import { routes } from '../routes.ts';

export const handler = endpoint(routes['wait-for-job'], async ({ account, params, remainingMs }) => {
  // A job fails with its first task while independent branches go on; it is over when they are, too.
  const job = await waitUntil(
    () => ownedJob(account, params.jobId),
    ({ open }) => open.length === 0,
    remainingMs,
  );
  return { body: await presentJobWithTasks(job) };
});
