import type { Job } from '../jobs/job.ts';
import { hasEnded, revisionOf, type Task } from '../tasks/task.ts';
import type { Change, LifecycleDependencies } from './dependencies.ts';

/** How long it may take from the end of a task until the end is published, unless the process dies. */
const publishingMs = 10_000;

/** Publishes tasks together with the pending events of their job, and removes those from its outbox if there are subscribers. */
export async function publishPending(
  deps: LifecycleDependencies,
  job: Job | undefined,
  tasks: Task[] = [],
): Promise<void> {
  const pendingEvents = job?.pendingEvents ?? [];
  // The creator of the job may have died before it published the tasks that were created with their files.
  const created = job && pendingEvents.includes('created') && (await deps.hasSubscribers(job.user)) ? job.tasks : [];
  const others = created.filter((id) => !tasks.some((task) => task.id === id));
  const unpublished = others.length > 0 ? await deps.records.tasks(others) : [];
  const isPublished = await publishAll(deps, job, [...unpublished, ...tasks]);
  if (job && isPublished && pendingEvents.length > 0) await deps.records.markPublished(job, pendingEvents);
}

/** Publishes tasks and the pending events of their job. Returns false if there are no subscribers. */
export async function publishAll(deps: LifecycleDependencies, job: Job | undefined, tasks: Task[]): Promise<boolean> {
  const changes = changesOf(job, tasks);
  return changes.length > 0 && deps.publish(changes);
}

/** Returns changes in publishing order: the job's start, its tasks unless they are still waiting, the job's end. */
function changesOf(job: Job | undefined, tasks: Task[]): Change[] {
  const pendingEvents = job?.pendingEvents ?? [];
  const beginning = pendingEvents.filter((event) => event !== 'ended');
  const end = pendingEvents.filter((event) => event === 'ended');
  return [
    ...(job && beginning.length > 0 ? [{ job, events: beginning }] : []),
    ...inputsFirst(tasks.filter((task) => task.status !== 'created')).flatMap(statesOf),
    ...(job && end.length > 0 ? [{ job, events: end }] : []),
  ];
}

/**
 * Orders tasks so that each follows its inputs, and ended tasks precede the others. A request may name a task before its
 * inputs, but their ends are published before its start.
 */
function inputsFirst(tasks: Task[]): Task[] {
  const left = new Map(tasks.map((task) => [task.id, task]));
  const ordered: Task[] = [];
  const visit = (task: Task) => {
    if (!left.delete(task.id)) return;
    for (const input of task.dependsOn.flatMap((id) => left.get(id) ?? [])) visit(input);
    ordered.push(task);
  };
  tasks.forEach(visit);
  return ordered.sort((one, other) => Number(hasEnded(other)) - Number(hasEnded(one)));
}

/** Returns the states of a task to publish. A task that was performed in one step also gets the start that it never had. */
function statesOf(task: Task): { task: Task }[] {
  if (!task.isPerformed || task.status !== 'completed') return [{ task }];
  const { endedAt: _endedAt, progress: _progress, ...rest } = task;
  return [{ task: { ...rest, status: 'processing', files: [], revision: revisionOf(task) - 1 } }, { task }];
}

/**
 * Returns the inputs of a task whose ends may not be published yet: the function that completed them may be about to publish
 * them, or may have died. They are published again with the start of the task, which must not come before them; subscribers
 * ignore versions they have seen. The sweep's last check of the job published everything that had ended before it.
 */
export function recentlyEnded(task: Task, inputs: Task[], job: Job | undefined, now: number): Task[] {
  const since = Math.min(now - publishingMs, job?.lookedAt ?? 0);
  return inputs.filter(
    (input) => input.job === task.job && input.endedAt !== undefined && Date.parse(input.endedAt) >= since,
  );
}
