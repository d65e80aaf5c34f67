import type { Caller } from '../../../shared/accounts/caller.ts';
import { records } from '../../../shared/aws/stores/records.ts';
import type { Job } from '../../../shared/jobs/job.ts';
import { presentJob } from '../../../shared/jobs/present.ts';
import { presentTask } from '../../../shared/tasks/present.ts';
import { isDeletedOrExpired, type JsonObject, type Task } from '../../../shared/tasks/task.ts';
import { notFound } from './errors.ts';

/** Returns a task of the caller. Throws the same 404 for unknown and expired tasks and those of other accounts. */
export async function ownedTask(account: Caller, id: string): Promise<Task> {
  return ownedBy(account, await records.task(id), `There is no task ${id}.`);
}

/** Returns a job of the caller. Throws the same 404 for unknown and expired jobs and those of other accounts. */
export async function ownedJob(account: Caller, id: string): Promise<Job> {
  return ownedBy(account, await records.job(id), `There is no job ${id}.`);
}

function ownedBy<T extends Task | Job>({ user }: Caller, record: T | undefined, msg: string): T {
  if (!record || record.user !== user || isDeletedOrExpired(record, Date.now())) throw notFound(msg);
  return record;
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
