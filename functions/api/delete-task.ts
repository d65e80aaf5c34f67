import { endpoint } from '../../shared/http/endpoint.ts';
import { lifecycle } from '../wiring.ts';
import { ownTask } from './own.ts';
import { routes } from './routes.ts';

export const handler = endpoint(routes['delete-task'], async ({ account, params }) => {
  await ownTask(account, params.taskId);
  await lifecycle.apply(params.taskId, { type: 'deleted' });
  return {};
});
