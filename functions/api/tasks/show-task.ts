import { endpoint } from '../http/endpoint.ts';
import { ownedTask, presentWith } from '../http/find-owned.ts';
import { routes } from '../routes.ts';

export const handler = endpoint(routes['show-task'], async ({ account, params, query }) => {
  const [body] = await presentWith([await ownedTask(account, params.taskId)], query.include);
  return { body };
});
