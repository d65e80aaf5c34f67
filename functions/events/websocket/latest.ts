import { newestIds } from '../../../shared/aws/owned-records.ts';
import { records } from '../../../shared/aws/records.ts';
import { indexPartitions } from '../../../shared/aws/table-schema.ts';
import type { Job } from '../../../shared/jobs/job.ts';
import { readNumberSettings } from '../../../shared/settings.ts';
import { isDeletedOrExpired, type Task } from '../../../shared/tasks/task.ts';

/** What fits one WebSocket message. */
const maxDocs = 25;

/** Returns the newest jobs of a user. */
export async function latestJobs(user: string): Promise<Job[]> {
  const jobs = await Promise.all((await newest(`${indexPartitions.ownedJob}${user}`)).map(records.job));
  return jobs.filter((job) => job !== undefined).filter((job) => !isDeletedOrExpired(job, Date.now()));
}

/** Returns the newest tasks of a user. */
export async function latestTasks(user: string): Promise<Task[]> {
  const ids = await newest(`${indexPartitions.ownedTask}${user}`);
  const found = new Map((await records.tasks(ids)).map((task) => [task.id, task]));
  return ids.flatMap((id) => found.get(id) ?? []).filter((task) => !isDeletedOrExpired(task, Date.now()));
}

function newest(owner: string): Promise<string[]> {
  const now = Date.now();
  const { recordSeconds } = readNumberSettings(process.env);
  return newestIds({ owner, now, oldest: now - recordSeconds * 1000 }, maxDocs);
}
