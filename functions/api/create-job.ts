import { endpoint } from '../../shared/http/endpoint.ts';
import { createTasks } from '../../shared/operations/create.ts';
import { readJobTasks } from '../../shared/operations/requests.ts';
import { records } from '../../shared/records/records.ts';
import { presentJob } from '../../shared/tasks/present.ts';
import { createParts } from './create-task.ts';
import { routes } from './routes.ts';

export const handler = endpoint(routes['create-job'], async ({ account, body }) => {
  const { job, tasks } = await createTasks(createParts, readJobTasks(body.tasks), {
    ...account,
    job: body.tag === undefined ? {} : { tag: body.tag },
  });
  if (!job) throw new Error('A plan for a job holds none.');
  const [latest, latestTasks] = await Promise.all([records.job(job.id), records.tasks(job.tasks)]);
  const byId = new Map(latestTasks.map((task) => [task.id, task]));
  return {
    body: presentJob(
      latest ?? job,
      tasks.map((task) => byId.get(task.id) ?? task),
    ),
  };
});
