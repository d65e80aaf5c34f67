import { endpoint } from '../../shared/http/endpoint.ts';
import { presentTask } from '../../shared/tasks/present.ts';
import { ownTask } from './own.ts';
import { routes } from './routes.ts';

export const handler = endpoint(routes['show-task'], async ({ account, params }) => ({
  body: presentTask(await ownTask(account, params.taskId)),
}));
