import { endpoint } from '../../shared/http/endpoint.ts';
import { lifecycle } from '../wiring.ts';
import { ownJob } from './own.ts';
import { routes } from './routes.ts';

export const handler = endpoint(routes['delete-job'], async ({ account, params }) => {
  await ownJob(account, params.jobId);
  await lifecycle.deleteJob(params.jobId);
  return {};
});
