import type { Account } from '../../shared/accounts/keys.ts';
import type { ApiAnswer } from '../../shared/http/endpoint.ts';
import { prepareTasks } from '../../shared/operations/create.ts';
import { readTaskRequest } from '../../shared/operations/requests.ts';
import type { OperationName } from '../../shared/operations/schemas.ts';
import { records } from '../../shared/records/records.ts';
import { presentTask } from '../../shared/tasks/present.ts';
import { catalogue } from '../engines/catalogues.ts';
import { settings } from '../settings.ts';
import { lifecycle } from '../wiring.ts';
import { createOnce } from './create-once.ts';

/** What creating tasks needs, for the endpoints of single operations and of jobs alike. */
export const createParts = { lifecycle, tasks: records.tasks, catalogue, settings };

/** Creates the one task that an operation's own endpoint is asked for. */
export function createTask(
  operation: OperationName,
  request: { account: Account; headers: Record<string, string | undefined>; body: unknown },
): Promise<ApiAnswer> {
  return createOnce(
    request,
    operation,
    async () => {
      const { plan, write } = await prepareTasks(
        createParts,
        [readTaskRequest(operation, request.body)],
        request.account,
      );
      const [task] = plan.tasks;
      if (!task) throw new Error('A plan for one task holds none.');
      return { id: task.id, write };
    },
    async (id) => {
      const task = await records.task(id);
      return task && presentTask(task);
    },
  );
}
