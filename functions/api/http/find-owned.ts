import type { Account } from '../../../shared/aws/api-keys.ts';
import { records } from '../../../shared/aws/records.ts';
import type { Job } from '../../../shared/jobs/job.ts';
import { presentJob } from '../../../shared/jobs/present.ts';
import { presentTask } from '../../../shared/tasks/present.ts';
import { isGone, type JsonObject, type Task } from '../../../shared/tasks/task.ts';
import { notFound } from './errors.ts';

/** Returns a task of the caller; another's, an expired and an unknown one are alike not found. */
export async function ownTask(account: Account, id: string): Promise<Task> {
  const task = await records.task(id);
  if (!task || task.user !== account.user || isGone(task, Date.now())) throw notFound(`There is no task ${id}.`);
  return task;
}

/** Returns a job of the caller; another's, an expired and an unknown one are alike not found. */
export async function ownJob(account: Account, id: string): Promise<Job> {
  const job = await records.job(id);
  if (!job || job.user !== account.user || isGone(job, Date.now())) throw notFound(`There is no job ${id}.`);
  return job;
}

/** Shows tasks, with the details of their jobs where those are asked for. The payload is always shown. */
export async function presentWith(tasks: Task[], include: string[]): Promise<JsonObject[]> {
  if (!include.includes('job')) return tasks.map(presentTask);
  const ids = [...new Set(tasks.flatMap((task) => task.job ?? []))];
  const jobs = new Map((await records.jobs(ids)).map((job) => [job.id, job]));
  return tasks.map((task) => {
    const job = task.job ? jobs.get(task.job) : undefined;
    return { ...presentTask(task), ...(job ? { jobDetails: presentJob(job) } : {}) };
  });
}
