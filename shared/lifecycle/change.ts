import { decideJob, type Job, type JobEvent } from '../jobs/job.ts';
import type { Task } from '../tasks/task.ts';
import { type Decision, decide, type TaskEvent } from '../tasks/transitions.ts';
import type { NoChange } from './change-record.ts';
import type { LifecycleDependencies } from './dependencies.ts';

/** Applies an event to the record of a task, without the consequences. */
export function changeTask(
  { records, now }: LifecycleDependencies,
  id: string,
  event: TaskEvent,
  known?: Task,
): Promise<Decision | NoChange> {
  return records.changeTask(id, (task) => decide(task, event, now()), known);
}

/** Applies an event to the record of a job. Returns the job if that changed it. */
export function changeJob(
  { records, now }: LifecycleDependencies,
  id: string,
  event: JobEvent,
  known?: Job,
): Promise<Job | undefined> {
  return records.changeJob(id, (job) => decideJob(job, event, now()), known);
}
