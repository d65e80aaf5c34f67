import { records } from '../../../shared/aws/records.ts';
import { required } from '../../../shared/settings.ts';
import { presentTask } from '../../../shared/tasks/present.ts';
import { createOnce } from '../creation/create-once.ts';
import { prepareTasks } from '../creation/prepare-tasks.ts';
import { ignoredFields, readTaskRequest } from '../creation/read-requests.ts';
import { endpoint } from '../http/endpoint.ts';
import { routes } from '../routes.ts';

const route = routeOfOperation(required('LATHE_OPERATION'));
const { operation } = route;

/** Creates one task. Every operation has a function of its own on this module; LATHE_OPERATION names it. */
export const handler = endpoint(route, (request) =>
  createOnce(
    request,
    operation,
    async () => {
      const asked = readTaskRequest(operation, request.body, request.unknownFields);
      const { plan, write } = await prepareTasks([asked], request.account);
      const [task] = plan.tasks;
      if (!task) throw new Error('A plan for one task holds none.');
      return {
        id: task.id,
        warnings: ignoredFields([asked]),
        async write() {
          const written = await write();
          return written?.tasks[0] && presentTask(written.tasks[0]);
        },
      };
    },
    async (id) => {
      const task = await records.task(id);
      return task && presentTask(task);
    },
  ),
);

function routeOfOperation(operation: string) {
  for (const row of Object.values(routes)) if ('operation' in row && row.operation === operation) return row;
  throw new Error(`No endpoint creates tasks of the operation ${operation}.`);
}
