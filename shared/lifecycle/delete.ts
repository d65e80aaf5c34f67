import { mapAtOnce } from '../concurrency.ts';
import type { Job } from '../jobs/job.ts';
import type { Task } from '../tasks/task.ts';
import { changeJob } from './change.ts';
import { type Group, type LifecycleDependencies, tasksAtOnce } from './dependencies.ts';
import { apply, settleAgain } from './settle.ts';

/** Deletes a job with its tasks and their files. The tombstone comes first, so the sweep finishes an interrupted deletion. */
export async function deleteJob(
  deps: LifecycleDependencies,
  id: string,
  onError?: (error: unknown) => void,
): Promise<void> {
  const deleted = await changeJob(deps, id, { type: 'deleted' });
  try {
    const { job, tasks } = await deps.records.group(id);
    if (job?.status === 'deleted') await deleteTasks(deps, job, tasks);
  } catch (error) {
    // Once the tombstone is written the sweep returns to the job.
    if (!deleted || !onError) throw error;
    onError(error);
  }
}

/** Deletes the tasks of a deleted job, and then its record. One task that cannot be deleted does not block the others. */
export async function deleteTasks(deps: LifecycleDependencies, job: Job, tasks: Task[]): Promise<void> {
  const errors: unknown[] = [];
  await mapAtOnce(tasks, tasksAtOnce, (task) =>
    deleteOfJob(deps, task, { job, tasks }).catch((error) => void errors.push(error)),
  );
  if (errors.length > 0) throw errors[0];
  await deps.records.deleteJob(job.id);
}

/** Deletes a task whose job is deleted. */
export async function deleteOfJob(deps: LifecycleDependencies, task: Task, group: Group): Promise<void> {
  const decision = await apply(deps, task.id, { type: 'deleted' }, task, group);
  if (decision.outcome === 'refused') await settleAgain(deps, task.id, group);
}
