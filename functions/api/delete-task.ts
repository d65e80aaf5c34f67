import { endpoint } from '../../shared/http/endpoint.ts';
import { lifecycle } from '../wiring.ts';
import { ownTask } from './own.ts';
import { routes } from './routes.ts';

export const handler = endpoint(routes['delete-task'], async ({ account, params, logger }) => {
  await ownTask(account, params.taskId);
  const { taskId } = params;
  await lifecycle.commit(taskId, { type: 'deleted' }, (error) => logger.warn('left to the sweep', { taskId, error }));
  return {};
});
