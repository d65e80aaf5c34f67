import { listTasks, listTasksOfJob } from '../../../shared/lists/list.ts';
import { endpoint } from '../http/endpoint.ts';
import { presentWith } from '../http/find-owned.ts';
import { listPage } from '../http/page.ts';
import { fitTasks } from '../http/response-size.ts';
import { routes } from '../routes.ts';

export const handler = endpoint(routes['list-tasks'], async ({ account, query }) => {
  const { status, operation, job, include } = query;
  const filter = { status, operation };
  const body = await listPage(
    account.user,
    query,
    (owned, window) =>
      job === undefined
        ? listTasks(owned, filter, window)
        : listTasksOfJob(owned, { ...filter, user: account.user, job }, window),
    async (tasks) => fitTasks(await presentWith(tasks, include)),
  );
  return { body };
});
