import { endpoint } from '../../shared/http/endpoint.ts';
import { ownTask, presentWith } from './own.ts';
import { routes } from './routes.ts';

export const handler = endpoint(routes['show-task'], async ({ account, params, query }) => {
  const [body] = await presentWith([await ownTask(account, params.taskId)], query.include);
  return { body };
});
