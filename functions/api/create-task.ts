import type { Account } from '../../shared/accounts/keys.ts';
import type { ApiAnswer } from '../../shared/http/endpoint.ts';
import { createTasks } from '../../shared/operations/create.ts';
import { readTaskRequest } from '../../shared/operations/requests.ts';
import type { OperationName } from '../../shared/operations/schemas.ts';
import { records } from '../../shared/records/records.ts';
import { presentTask } from '../../shared/tasks/present.ts';
import { catalogue } from '../engines/catalogues.ts';
import { lifecycle, settings } from '../wiring.ts';

/** What creating tasks needs, for the endpoints of single operations and of jobs alike. */
export const createParts = { lifecycle, tasks: records.tasks, catalogue, settings };

/** Creates the one task that an operation's own endpoint is asked for. */
export async function createTask(
  operation: OperationName,
  request: { account: Account; body: unknown },
): Promise<ApiAnswer> {
  const { tasks } = await createTasks(createParts, [readTaskRequest(operation, request.body)], request.account);
  const [task] = tasks;
  if (!task) throw new Error('A plan for one task holds none.');
  return { body: presentTask((await records.task(task.id)) ?? task) };
}
