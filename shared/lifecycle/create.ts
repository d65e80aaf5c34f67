import { mapAtOnce } from '../concurrency.ts';
import { defined } from '../defined.ts';
import { initialEvents, type Job, withPendingEvents } from '../jobs/job.ts';
import type { Task } from '../tasks/task.ts';
import { type LifecycleDependencies, type Plan, tasksAtOnce } from './dependencies.ts';
import { publishAll } from './publish.ts';
import { link, release } from './release.ts';
import { settleEnd } from './settle.ts';

/**
 * Writes a plan: the tasks first, then the job as the commit. Only then releases the first tasks, and publishes the job last.
 * A task that is not queued waits a quarter of an hour for the sweep. The outbox of a job that is not published waits for the
 * next start or end of one of its tasks, or minutes for the sweep. If publishing fails, the job is created nevertheless and
 * `onError` receives the error; a task without a job has no outbox, so its creation fails.
 *
 * Returns the plan as it was written, or undefined if existing tasks may have changed it since.
 */
export async function create(
  deps: LifecycleDependencies,
  plan: Plan,
  onError: (error: unknown) => void = rethrow,
): Promise<Plan | undefined> {
  const job = plan.job && withPendingEvents(plan.job, initialEvents(plan.job), deps.now());
  // Publishing needs this, unless the job has a webhook. A failed lookup is repeated then, and its error is reported.
  const lookup = job && job.webhook === undefined && deps.hasSubscribers(job.user).catch(() => undefined);
  await Promise.all([deps.records.createTasks(plan.tasks), lookup]);
  if (job) await deps.records.createJob(job);
  const isAsPlanned = await releaseFirst(deps, plan.tasks);
  if (job) await publishCreated(deps, job, plan.tasks).catch(onError);
  else await publishAll(deps, undefined, plan.tasks);
  return isAsPlanned ? { ...plan, ...defined({ job }) } : undefined;
}

/** Releases the tasks of a plan that wait for no other, and links those with inputs outside. Returns whether all are as planned. */
async function releaseFirst(deps: LifecycleDependencies, tasks: Task[]): Promise<boolean> {
  const planned = new Map(tasks.map((task) => [task.id, task]));
  const waiting = tasks.filter((task) => task.status === 'created');
  let isAsPlanned = true;
  await mapAtOnce(waiting, tasksAtOnce, async (task) => {
    const outside = task.dependsOn.filter((input) => !planned.has(input));
    const inputs = task.dependsOn.flatMap((input) => planned.get(input) ?? []);
    const isLinked = outside.length > 0;
    if (!isLinked && !inputs.every((input) => input.status === 'completed')) return;
    const end = isLinked ? await link(deps, task, outside) : await release(deps, task, inputs);
    await settleEnd(deps, end);
    if (end || isLinked) isAsPlanned = false;
  });
  return isAsPlanned;
}

async function publishCreated(deps: LifecycleDependencies, job: Job, tasks: Task[]): Promise<void> {
  if (await publishAll(deps, job, tasks)) await deps.records.markPublished(job, job.pendingEvents ?? []);
}

function rethrow(error: unknown): never {
  throw error;
}
