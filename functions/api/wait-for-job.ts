import { endpoint } from '../../shared/http/endpoint.ts';
import { ownJob } from './own.ts';
import { presentJobWithTasks } from './response-size.ts';
import { routes } from './routes.ts';
import { waitUntil } from './wait-until.ts';

export const handler = endpoint(routes['wait-for-job'], async ({ account, params, remainingMs }) => {
  // A job fails with its first task while independent branches go on; it is over when they are, too.
  const job = await waitUntil(
    () => ownJob(account, params.jobId),
    ({ open }) => open.length === 0,
    remainingMs,
  );
  return { body: await presentJobWithTasks(job) };
});
