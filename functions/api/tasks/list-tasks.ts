import { records } from '../../../shared/aws/records.ts';
import { indexPartitions } from '../../../shared/aws/table-schema.ts';
import { endpoint } from '../http/endpoint.ts';
import { presentWith } from '../http/find-owned.ts';
import { listPage } from '../http/page.ts';
import { fitTasks } from '../http/response-size.ts';
import { routes } from '../routes.ts';

export const handler = endpoint(routes['list-tasks'], async ({ account, query }) => {
  const { status, operation, job, include } = query;
  const body = await listPage(query, {
    owner: `${indexPartitions.ownedTask}${account.user}`,
    equal: { status, operation, job },
    read: records.tasks,
    present: async (tasks) => fitTasks(await presentWith(tasks, include)),
  });
  return { body };
});
