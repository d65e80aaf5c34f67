import { endpoint } from '../../shared/http/endpoint.ts';
import { ownJob } from './own.ts';
import { presentJobWithTasks } from './response-size.ts';
import { routes } from './routes.ts';

export const handler = endpoint(routes['show-job'], async ({ account, params }) => {
  return { body: await presentJobWithTasks(await ownJob(account, params.jobId)) };
});
