import { presentTask } from '../../../shared/tasks/present.ts';
import { hasEnded } from '../../../shared/tasks/task.ts';
import { endpoint } from '../http/endpoint.ts';
import { ownedTask } from '../http/find-owned.ts';
import { waitUntil } from '../http/wait-until.ts';
import { routes } from '../routes.ts';

export const handler = endpoint(routes['wait-for-task'], async ({ account, params, remainingMs }) => ({
  body: presentTask(await waitUntil(() => ownedTask(account, params.taskId), hasEnded, remainingMs)),
}));
