import { presentTask } from '../../../shared/tasks/present.ts';
import { hasEnded, type Task } from '../../../shared/tasks/task.ts';
import { endpoint } from '../http/endpoint.ts';
import { ownedTask } from '../http/find-owned.ts';
import { waitUntil } from '../http/wait-until.ts';
import { routes } from '../routes.ts';

export const handler = endpoint(routes['wait-for-task'], async ({ account, params, remainingMs, hold }) => {
  const { value, headers } = await waitUntil<Task>({
    read: () => ownedTask(account, params.taskId),
    kindOf: ({ user, operation }) => `${user} ${operation}`,
    isDone: hasEnded,
    remainingMs,
    hold,
  });
  return { body: presentTask(value), headers };
});
