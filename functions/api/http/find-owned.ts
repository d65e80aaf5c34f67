import type { Caller } from '../../../shared/accounts/caller.ts';
import { records } from '../../../shared/aws/stores/records.ts';
import type { Job } from '../../../shared/jobs/job.ts';
import { presentJob } from '../../../shared/jobs/present.ts';
import { presentTask } from '../../../shared/tasks/present.ts';
import { isDeletedOrExpired, type JsonObject, type Task } from '../../../shared/tasks/task.ts';
import { notFound } from './errors.ts';

/** Returns a task of the caller. Throws the same 404 for unknown and expired tasks and those of other accounts. */
export async function ownedTask(account: Caller, id: string): Promise<Task> {
  const task = await records.task(id);
  if (!task || task.user !== account.user || isDeletedOrExpired(task, Date.now()))
    throw notFound(`There is no task ${id}.`);
  return task;
}

/** Returns a job of the caller. Throws the same 404 for unknown and expired jobs and those of other accounts. */
export async function ownedJob(account: Caller, id: string): Promise<Job> {
  const job = await records.job(id);
  if (!job || job.user !== account.user || isDeletedOrExpired(job, Date.now()))
    throw notFound(`There is no job ${id}.`);
  return job;
}

/** Presents tasks, with the details of their jobs if `include` names them. The payload is always included. */
export async function presentWith(tasks: Task[], include: string[]): Promise<JsonObject[]> {
  if (!include.includes('job')) return tasks.map(presentTask);
  const ids = [...new Set(tasks.flatMap((task) => task.job ?? []))];
  const jobs = new Map((await records.jobs(ids)).map((job) => [job.id, job]));
  return tasks.map((task) => {
    const job = task.job ? jobs.get(task.job) : undefined;
    return { ...presentTask(task), ...(job ? { jobDetails: presentJob(job) } : {}) };
  });
}
