import { records } from '../../../shared/aws/records.ts';
import type { Job } from '../../../shared/jobs/job.ts';
import { hasEnded } from '../../../shared/tasks/task.ts';
import { endpoint } from '../http/endpoint.ts';
import { ownedJob } from '../http/find-owned.ts';
import { presentJobWithTasks } from '../http/response-size.ts';
import { waitUntil } from '../http/wait-until.ts';
import { routes } from '../routes.ts';

export const handler = endpoint(routes['wait-for-job'], async ({ account, params, remainingMs, hold }) => {
  return await waitUntil({
    read: () => ownedJob(account, params.jobId),
    present: (job) => presentJobWithTasks(job),
    kindOf: ({ user, tasks }) => `${user} ${tasks.length} tasks`,
    isDone: isOver,
    remainingMs,
    hold,
  });
});

/** Returns whether all tasks of a job have ended: a job fails with its first task, while independent branches go on. */
async function isOver({ status, open, tasks }: Job): Promise<boolean> {
  if (open.length > 0) return false;
  return status === 'completed' || (await records.tasks(tasks)).every(hasEnded);
}
