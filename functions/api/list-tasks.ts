import { endpoint } from '../../shared/http/endpoint.ts';
import { records } from '../../shared/records/records.ts';
import { presentWith } from './own.ts';
import { listPage } from './page.ts';
import { fitTasks } from './response-size.ts';
import { routes } from './routes.ts';

export const handler = endpoint(routes['list-tasks'], async ({ account, query }) => {
  const { status, operation, job, include } = query;
  const body = await listPage(query, {
    owner: `tasks#${account.user}`,
    equal: { status, operation, job },
    read: records.tasks,
    present: async (tasks) => fitTasks(await presentWith(tasks, include)),
  });
  return { body };
});
