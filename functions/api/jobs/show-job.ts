import { endpoint } from '../http/endpoint.ts';
import { ownedJob } from '../http/find-owned.ts';
import { presentJobWithTasks } from '../http/response-size.ts';
import { routes } from '../routes.ts';

export const handler = endpoint(routes['show-job'], async ({ account, params }) => {
  return { body: await presentJobWithTasks(await ownedJob(account, params.jobId)) };
});
