import type { APIGatewayProxyEventV2, Context } from 'aws-lambda';
import { records } from '../../../shared/aws/stores/records.ts';
import { defined } from '../../../shared/defined.ts';
import { presentTask } from '../../../shared/tasks/present.ts';
import { findEarlier, replayedHeader } from '../creation/idempotency-keys.ts';
import { prepareTasks } from '../creation/prepare-tasks.ts';
import { readTaskRequest, warningsFor } from '../creation/read-requests.ts';
import type { makeUploadForm } from '../creation/upload-form.ts';
import { writeTasks } from '../creation/write-tasks.ts';
import { endpoint } from '../http/endpoint.ts';
import { waitedHeader } from '../http/preference.ts';
import type { ApiRequest, ApiResponse } from '../http/route.ts';
import type { operationRoutes } from '../routes/operations.ts';
import { taskAtItsEnd } from './task-at-its-end.ts';

type OperationRoute = (typeof operationRoutes)[keyof typeof operationRoutes];

/** Creates one task. */
async function create(
  { operation }: OperationRoute,
  request: ApiRequest<OperationRoute>,
  makeForm: typeof makeUploadForm | undefined,
): Promise<ApiResponse> {
  const taskRequest = { ...readTaskRequest(operation, request.body), unknownFields: request.unknownFields };
  const warnings = warningsFor([taskRequest]);
  const prepared = await prepareTasks([taskRequest], request.account);
  const [task] = prepared.plan.tasks;
  if (!task) throw new Error('The plan of a task contains no task.');

  const earlier = await findEarlier(request, operation, task.id, records.task);
  if (earlier) return { body: { ...presentTask(earlier), ...warnings }, headers: replayedHeader };

  // Logged before the write, so that records of an interrupted request can be traced to it.
  request.logger.info('creating', { taskId: task.id });
  const written = await writeTasks(prepared, defined({ makeForm }));
  const created = written?.tasks[0] ?? (await records.task(task.id));
  if (!created) return {};
  if (request.hold.milliseconds === 0) return { body: { ...presentTask(created), ...warnings } };
  const { body, headers } = await taskAtItsEnd(task.id, request);
  return { body: { ...body, ...warnings }, headers: { ...headers, ...waitedHeader(request) } };
}

/** Returns the handler of a function that creates tasks by these routes. If uploads are among them, it needs their forms. */
export function taskEndpoints(routes: OperationRoute[], makeForm?: typeof makeUploadForm) {
  const endpoints = new Map(
    routes.map((route) => [
      `${route.method} ${route.path}`,
      endpoint(route, (request: ApiRequest<OperationRoute>) => create(route, request, makeForm)),
    ]),
  );
  return async (event: APIGatewayProxyEventV2, context: Context) => {
    const own = endpoints.get(event.routeKey);
    if (!own) throw new Error(`No operation has the route ${event.routeKey}.`);
    return own(event, context);
  };
}
