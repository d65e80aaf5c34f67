import { lifecycle } from '../../wiring/lifecycle.ts';
import { endpoint } from '../http/endpoint.ts';
import { ownedTask } from '../http/find-owned.ts';
import { routes } from '../routes.ts';

export const handler = endpoint(routes['delete-task'], async ({ account, params, logger }) => {
  await ownedTask(account, params.taskId);
  const { taskId } = params;
  await lifecycle.commit(taskId, { type: 'deleted' }, (error) => logger.warn('left to the sweep', { taskId, error }));
  return {};
});
