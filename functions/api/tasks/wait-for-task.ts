import { presentTask } from '../../../shared/tasks/present.ts';
import { hasEnded, type JsonObject, type Task } from '../../../shared/tasks/task.ts';
import { endpoint } from '../http/endpoint.ts';
import { ownedTask } from '../http/find-owned.ts';
import { waitUntil } from '../http/wait-until.ts';
import { routes } from '../routes.ts';

export const handler = endpoint(routes['wait-for-task'], async ({ account, params, remainingMs, hold }) => {
  return await waitUntil<Task, JsonObject>({
    read: () => ownedTask(account, params.taskId),
    present: presentTask,
    kindOf: ({ user, operation }) => `${user} ${operation}`,
    isDone: hasEnded,
    remainingMs,
    hold,
  });
});
