import { lifecycle } from '../../wiring/lifecycle.ts';
import { endpoint } from '../http/endpoint.ts';
import { ownedJob } from '../http/find-owned.ts';
import { routes } from '../routes.ts';

export const handler = endpoint(routes['delete-job'], async ({ account, params, logger }) => {
  const { jobId } = params;
  await ownedJob(account, jobId);
  await lifecycle.deleteJob(jobId, (error) => logger.warn('left to the sweep', { jobId, error }));
  return {};
});
