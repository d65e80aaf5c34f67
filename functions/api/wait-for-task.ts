import { endpoint } from '../../shared/http/endpoint.ts';
import { presentTask } from '../../shared/tasks/present.ts';
import { hasEnded } from '../../shared/tasks/task.ts';
import { ownTask } from './own.ts';
import { routes } from './routes.ts';
import { waitUntil } from './wait-until.ts';

export const handler = endpoint(routes['wait-for-task'], async ({ account, params, remainingMs }) => ({
  body: presentTask(await waitUntil(() => ownTask(account, params.taskId), hasEnded, remainingMs)),
}));
