import { records } from '../../../shared/aws/stores/records.ts';
import { required } from '../../../shared/settings.ts';
import { presentTask } from '../../../shared/tasks/present.ts';
import { findEarlier, replayedHeader } from '../creation/idempotency-keys.ts';
import { prepareTasks } from '../creation/prepare-tasks.ts';
import { readTaskRequest, warningsFor } from '../creation/read-requests.ts';
import { writeTasks } from '../creation/write-tasks.ts';
import { endpoint } from '../http/endpoint.ts';
import { waitedHeader } from '../http/preference.ts';
import { operationRoutes } from '../routes/operations.ts';
import { taskAtItsEnd } from './task-at-its-end.ts';

const route = routeOfOperation(required('LATHE_OPERATION'));
const { operation } = route;

/** Creates one task. Each operation has its own function with this handler; LATHE_OPERATION names the operation. */
export const handler = endpoint(route, async (request) => {
  const taskRequest = { ...readTaskRequest(operation, request.body), unknownFields: request.unknownFields };
  const warnings = warningsFor([taskRequest]);
  const prepared = await prepareTasks([taskRequest], request.account);
  const [task] = prepared.plan.tasks;
  if (!task) throw new Error('The plan of a task contains no task.');

  const earlier = await findEarlier(request, operation, task.id, records.task);
  if (earlier) return { body: { ...presentTask(earlier), ...warnings }, headers: replayedHeader };

  // Logged before the write, so that records of an interrupted request can be traced to it.
  request.logger.info('creating', { taskId: task.id });
  const written = await writeTasks(prepared);
  const created = written?.tasks[0] ?? (await records.task(task.id));
  if (!created) return {};
  if (request.hold.milliseconds === 0) return { body: { ...presentTask(created), ...warnings } };
  const { body, headers } = await taskAtItsEnd(task.id, request);
  return { body: { ...body, ...warnings }, headers: { ...headers, ...waitedHeader(request) } };
});

function routeOfOperation(operation: string) {
  for (const row of Object.values(operationRoutes)) if (row.operation === operation) return row;
  throw new Error(`No endpoint creates tasks of the operation ${operation}.`);
}
