import { endpoint } from '../../shared/http/endpoint.ts';
import { presentJob } from '../../shared/tasks/present.ts';
import { ownJob, tasksOf } from './own.ts';
import { routes } from './routes.ts';

export const handler = endpoint(routes['show-job'], async ({ account, params }) => {
  const job = await ownJob(account, params.jobId);
  return { body: presentJob(job, await tasksOf(job)) };
});
