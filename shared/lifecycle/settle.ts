import { mapAtOnce } from '../concurrency.ts';
import { defined } from '../defined.ts';
import { groupOfId } from '../ids.ts';
import { hasEnded, type Task } from '../tasks/task.ts';
import type { Decision, TaskEvent } from '../tasks/transitions.ts';
import { changeJob, changeTask } from './change.ts';
import type { NoChange } from './change-record.ts';
import { type Group, type LifecycleDependencies, tasksAtOnce } from './dependencies.ts';
import { closeInJob, completeJobBy, endFailedJob, endFailedJobOf, haveEnded, isFinal } from './end-job.ts';
import { describeEnd, endedBadly, jobErrorOf } from './ends.ts';
import { publishPending, recentlyEnded } from './publish.ts';
import { type End, readMissing, releaseIfReady } from './release.ts';

/** Runs a step of settling, and returns the second argument if the step fails and may fail. */
type RunStep = <T>(step: () => Promise<T>, otherwise: T) => Promise<T>;
const orThrow: RunStep = (step) => step();
const orContinue: RunStep = (step, otherwise) => step().catch(() => otherwise);

/** Applies an event to a task and settles its end, if any. The known task and group save reads. */
export async function apply(
  deps: LifecycleDependencies,
  id: string,
  event: TaskEvent,
  known?: Task,
  group?: Group,
): Promise<Decision | NoChange> {
  const decision = await changeTask(deps, id, event, known);
  if (decision.outcome === 'changed') await carryOut(deps, event, decision.task, group);
  return decision;
}

/**
 * Applies an event like `apply`, and leaves consequences that fail to the sweep. The record is the commit, so a queue that
 * refuses a message does not refuse the client that deletes or cancels a task.
 */
export async function commit(
  deps: LifecycleDependencies,
  id: string,
  event: TaskEvent,
  onError: (error: unknown) => void,
): Promise<Decision | NoChange> {
  const decision = await changeTask(deps, id, event);
  if (decision.outcome === 'changed') await carryOut(deps, event, decision.task).catch(onError);
  return decision;
}

async function carryOut(deps: LifecycleDependencies, event: TaskEvent, task: Task, group?: Group): Promise<void> {
  if (hasEnded(task)) await settle(deps, task, group);
  else if (event.type === 'progressed' && event.percent !== undefined) await deps.publish([{ task }]);
}

/** Carries out the consequences of a task's end; see `settleEnd`. */
export function settle(deps: LifecycleDependencies, ended: Task, known?: Group): Promise<void> {
  return settleEnd(deps, { task: ended }, known);
}

/** Settles a task again if it has ended: its first settling may have been interrupted. */
export async function settleAgain(deps: LifecycleDependencies, id: string, known?: Group): Promise<void> {
  const task = await deps.records.task(id);
  if (task && hasEnded(task)) await settle(deps, task, known);
}

/** Settles an end and skips the steps that fail. */
export function settleAsPossible(deps: LifecycleDependencies, ended: Task): Promise<void> {
  return settleEnd(deps, { task: ended }, undefined, orContinue);
}

/**
 * Carries out the consequences of a task's end: releases or fails its dependents, closes the job, removes deleted records.
 *
 * The order makes everything that a crash leaves undone visible in the records: a task that is open in its job, a dependent
 * that waits, a tombstone. A job fails after the dependents of the task that failed it, so that no reader sees a failed job
 * with a task that waits for nothing.
 */
export async function settleEnd(
  deps: LifecycleDependencies,
  end: End | undefined,
  group: Group = { tasks: [] },
  run: RunStep = orThrow,
): Promise<void> {
  if (!end) return;
  const known = endedBadly(end.task) ? await run(() => withJobOf(deps, end.task, group), group) : group;
  const pending = [end];
  const bad: Task[] = [];
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { task, after = [] } = next;
    if (task.hasSecrets) await run(() => deps.deleteSecrets(task), undefined);
    if (task.upload && !task.files.some(({ key }) => key === task.upload?.key))
      await run(() => deps.abortParts(task), undefined);
    const completed = await run(() => completeJobBy(deps, task, known.job), undefined);
    // Before the dependents are released, so that their start is not published before the end they waited for.
    const inputs = recentlyEnded(task, after, known.job, deps.now());
    await run(() => publishPending(deps, completed, [...inputs, task]), undefined);
    if (!completed && !endedBadly(task)) await run(() => closeInJob(deps, task), undefined);
    pending.push(...(await run(() => notifyDependents(deps, task, known), [])));
    if (endedBadly(task)) bad.push(task);
    else await finish(deps, task, run);
  }
  for (const cause of firstOfEachJob(bad)) await run(() => failJobOf(deps, cause, known, bad), undefined);
  for (const task of bad) {
    await run(() => closeInJob(deps, task), undefined);
    await finish(deps, task, run);
  }
}

/** Returns the first task of each job, which caused the others to end. */
function firstOfEachJob(tasks: Task[]): Task[] {
  const first = new Map(tasks.toReversed().map((task) => [task.job, task]));
  return tasks.filter((task) => first.get(task.job) === task);
}

/** Removes a deleted task, and takes any other off the schedule of the sweep. */
async function finish(deps: LifecycleDependencies, task: Task, run: RunStep): Promise<void> {
  if (task.status === 'deleted') {
    await run(() => deps.deleteFiles(task), undefined);
    await deps.records.deleteTask(task);
  } else if (task.dueAt !== undefined) {
    await changeTask(deps, task.id, { type: 'settled', status: task.status }, task);
  }
}

async function withJobOf({ records }: LifecycleDependencies, { job: id }: Task, known: Group): Promise<Group> {
  if (id === undefined || known.job?.id === id) return known;
  return { ...known, ...defined({ job: await records.job(id) }) };
}

/** Notifies the dependents of a task that it has ended. Returns the ends of the dependents that this ended. */
async function notifyDependents(deps: LifecycleDependencies, ended: Task, { job, tasks }: Group): Promise<End[]> {
  const { dependents } = ended;
  const found = new Map(tasks.filter(({ id }) => dependents.includes(id)).map((task) => [task.id, task]));
  await readMissing(deps, dependents, found);
  // A failure ends every dependent; a completion only concerns those still waiting.
  const isConcerned = (task: Task) => (endedBadly(ended) ? !hasEnded(task) : task.status === 'created');
  const next = await mapAtOnce([...found.values()].filter(isConcerned), tasksAtOnce, (task) =>
    releaseIfReady(deps, task, [ended]),
  );
  // The task may be the last that its job waits for, if another input has failed the tasks that depend on it.
  const isGone = (id: string) => {
    const task = found.get(id);
    return groupOfId(id) === groupOfId(ended.id) && (!task || endedBadly(task));
  };
  if (!endedBadly(ended) && dependents.some(isGone)) await endFailedJobOf(deps, ended);
  // The function that failed these dependents may have died before it settled them.
  const isUnsettled = (task: Task) => task.failedBy === ended.id && task.job === job?.id;
  const earlier = job && !isFinal(job) ? [...found.values()].filter(isUnsettled).map((task) => ({ task })) : [];
  return [...next.filter((end) => end !== undefined), ...earlier];
}

/** Fails the job of a task that ended badly, and ends the job if no other task is open. */
async function failJobOf(deps: LifecycleDependencies, task: Task, known: Group, ended: Task[]): Promise<void> {
  if (task.job === undefined) return;
  const job = known.job?.id === task.job ? known.job : await deps.records.job(task.job);
  if (!job || isFinal(job)) return;
  const cause = await causeOf(deps, task);
  // The function that ended the cause may still be failing its other dependents, or have died: those come first.
  if (cause !== task) return settle(deps, cause);
  const failure = { errorCode: jobErrorOf(task), msg: describeEnd(task) };
  const isOver = await haveEnded(deps, job, [...known.tasks, ...ended]);
  const changed = await changeJob(deps, job.id, { type: 'failed', failure, isOver }, job);
  await publishPending(deps, changed);
  // A function that ended the other tasks meanwhile may have read the job before it failed.
  if (!isOver) await endFailedJob(deps, changed);
}

/** Returns the task of the same job whose end caused a task to fail, directly or through others. */
async function causeOf({ records }: LifecycleDependencies, task: Task): Promise<Task> {
  for (let cause = task; ; ) {
    const { failedBy } = cause;
    const isOfJob = failedBy !== undefined && groupOfId(failedBy) === groupOfId(task.id);
    const input = isOfJob ? await records.task(failedBy) : undefined;
    if (!input || !endedBadly(input)) return cause;
    cause = input;
  }
}
