import { decideJob, type Job } from '../jobs/job.ts';
import { hasEnded, isLastOfJob, type Task } from '../tasks/task.ts';
import { changeJob } from './change.ts';
import type { LifecycleDependencies } from './dependencies.ts';
import { endedBadly } from './ends.ts';
import { publishPending } from './publish.ts';

/** Returns whether a job can only change by being deleted. */
export function isFinal({ status, endedAt }: Job): boolean {
  return status === 'completed' || status === 'deleted' || endedAt !== undefined;
}

/** Ends a failed job once the last of its tasks has ended. */
export async function endFailedJob(deps: LifecycleDependencies, job: Job | undefined): Promise<void> {
  if (job?.status !== 'failed' || isFinal(job) || !(await haveEnded(deps, job))) return;
  await changeJob(deps, job.id, { type: 'ended' }, job);
}

/** Reads the job of a task and ends it if it has failed and all of its tasks have ended. */
export async function endFailedJobOf(deps: LifecycleDependencies, { job }: Task): Promise<void> {
  if (job !== undefined) await endFailedJob(deps, await deps.records.job(job));
}

/** Returns whether all tasks of a job have ended. Tasks that are known to have ended are not read. */
export async function haveEnded({ records }: LifecycleDependencies, job: Job, known: Task[] = []): Promise<boolean> {
  const ended = new Set(known.filter(hasEnded).map(({ id }) => id));
  const others = job.tasks.filter((id) => !ended.has(id));
  return others.length === 0 || (await records.tasks(others)).every(hasEnded);
}

/** Completes the job of a task in one write if that task is the only open one. */
export async function completeJobBy(
  { records, now }: LifecycleDependencies,
  task: Task,
  known?: Job,
): Promise<Job | undefined> {
  if (!task.job || task.status !== 'completed' || !isLastOfJob(task)) return undefined;
  const isOnly = ({ open }: Job) => open.length === 1 && open[0] === task.id;
  const completed = (job: Job) =>
    isOnly(job) ? decideJob({ ...job, open: [] }, { type: 'allTasksEnded' }, now()) : undefined;
  return records.changeJob(task.job, completed, known);
}

/** Removes one of the last tasks of a job from its open set, and completes the job if the set is empty. */
export async function closeInJob(deps: LifecycleDependencies, task: Task): Promise<void> {
  if (!isLastOfJob(task)) return;
  const job = await deps.records.closeTask(task);
  if (job?.status === 'failed' && !endedBadly(task)) await endFailedJob(deps, job);
  else if (job?.open.length === 0) await completeJob(deps, job);
}

/** Completes a job without open tasks, or ends it if it has failed. */
export async function completeJob(deps: LifecycleDependencies, known: Job): Promise<void> {
  if (known.status === 'failed') return endFailedJob(deps, known);
  await publishPending(deps, await changeJob(deps, known.id, { type: 'allTasksEnded' }, known));
}
