import { endpoint } from '../../shared/http/endpoint.ts';
import { prepareTasks } from '../../shared/operations/create.ts';
import { readJobTasks } from '../../shared/operations/requests.ts';
import { records } from '../../shared/records/records.ts';
import { presentJob } from '../../shared/tasks/present.ts';
import { createOnce } from './create-once.ts';
import { createParts } from './create-task.ts';
import { tasksOf } from './own.ts';
import { routes } from './routes.ts';

export const handler = endpoint(routes['create-job'], (request) =>
  createOnce(
    request,
    'job',
    async () => {
      const { tag, tasks } = request.body;
      const job = tag === undefined ? {} : { tag };
      const { plan, write } = await prepareTasks(createParts, readJobTasks(tasks), { ...request.account, job });
      if (!plan.job) throw new Error('A plan for a job holds none.');
      return { id: plan.job.id, write };
    },
    async (id) => {
      const job = await records.job(id);
      return job && presentJob(job, await tasksOf(job));
    },
  ),
);
