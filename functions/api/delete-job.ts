import { endpoint } from '../../shared/http/endpoint.ts';
import { lifecycle } from '../wiring.ts';
import { ownJob } from './own.ts';
import { routes } from './routes.ts';

export const handler = endpoint(routes['delete-job'], async ({ account, params, logger }) => {
  const { jobId } = params;
  await ownJob(account, jobId);
  await lifecycle.deleteJob(jobId, (error) => logger.warn('left to the sweep', { jobId, error }));
  return {};
});
