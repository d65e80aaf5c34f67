import { mapAtOnce } from '../concurrency.ts';
import { groupOfId } from '../ids.ts';
import { hasEnded, type Task } from '../tasks/task.ts';
import type { TaskEvent } from '../tasks/transitions.ts';
import { changeTask } from './change.ts';
import { type LifecycleDependencies, tasksAtOnce } from './dependencies.ts';
import { endFailedJobOf } from './end-job.ts';
import { endedBadly, failureBy } from './ends.ts';

/** Inputs of a waiting task that are read at a time. */
const inputsPerRead = 10;

/** The end of a task that is to be settled, with inputs that are published before it. */
export interface End {
  task: Task;
  after?: Task[];
}

/**
 * Registers a task as a dependent of inputs outside its group. If one of them has ended already, does what its end would have
 * done. Returns the task's end if that ended it.
 */
export async function link(deps: LifecycleDependencies, task: Task, outside: string[]): Promise<End | undefined> {
  const inputs = await mapAtOnce(outside, tasksAtOnce, (id) => deps.records.addDependent(id, task.id));
  const missing = outside.find((_, index) => !inputs[index]);
  if (missing !== undefined) return failByInput(deps, task, missing, undefined);
  return inputs.some((input) => input && hasEnded(input)) ? releaseIfReady(deps, task) : undefined;
}

/** Releases a task whose inputs have completed, or fails it if one ended otherwise. Returns its end, if it ended. */
export async function releaseIfReady(
  deps: LifecycleDependencies,
  task: Task,
  ended: Task[] = [],
): Promise<End | undefined> {
  const inputs = new Map(ended.map((input) => [input.id, input]));
  // From the last: if inputs end in their order, the last one is still open and the others need not be read.
  const order = [...new Set([...inputs.keys(), ...task.dependsOn.toReversed()])];
  for (let from = 0; from < order.length; from += inputsPerRead) {
    const next = order.slice(from, from + inputsPerRead);
    await readMissing(deps, next, inputs);
    const bad = next.find((id) => failureBy(inputs.get(id), id));
    if (bad !== undefined) return failByInput(deps, task, bad, inputs.get(bad));
    if (next.some((id) => inputs.get(id)?.status !== 'completed')) return undefined;
  }
  const completed = task.dependsOn.flatMap((id) => inputs.get(id) ?? []);
  // The function that completed the other inputs may have died before it deleted their secrets, and nothing returns to them
  // once the job has completed. Inputs outside of it are settled on their own, and this function may lack the permission.
  const others = completed.filter(
    (input) => input.hasSecrets && !ended.includes(input) && groupOfId(input.id) === groupOfId(task.id),
  );
  await mapAtOnce(others, tasksAtOnce, deps.deleteSecrets);
  return release(deps, task, completed);
}

/** Returns the inputs of a task in request order, from the known tasks and otherwise from the records. */
export async function inputsOf(deps: LifecycleDependencies, task: Task, known: Task[]): Promise<Task[]> {
  const found = new Map(known.map((input) => [input.id, input]));
  await readMissing(deps, task.dependsOn, found);
  return task.dependsOn.flatMap((id) => found.get(id) ?? []);
}

/** Reads the tasks that a map does not hold into it. */
export async function readMissing(
  { records }: LifecycleDependencies,
  ids: string[],
  known: Map<string, Task>,
): Promise<void> {
  const missing = ids.filter((id) => !known.has(id));
  if (missing.length > 0) for (const task of await records.tasks(missing)) known.set(task.id, task);
}

/** Queues a task whose inputs have completed. Returns its end if no engine can do it, or if it needs none. */
export async function release(deps: LifecycleDependencies, task: Task, inputs: Task[]): Promise<End | undefined> {
  const routed = deps.route(task, inputs);
  if ('failure' in routed) return fail(deps, task, { type: 'expired', failure: routed.failure });
  // A task that follows one performed here goes to a worker, so that a chain of them is published in the order it was done in.
  const files = inputs.some((input) => input.isPerformed) ? undefined : await deps.perform?.(task, inputs);
  if (!files) {
    await deps.enqueue(routed.engine, task);
    return undefined;
  }
  const decision = await changeTask(deps, task.id, { type: 'performed', files }, task);
  if (decision.outcome === 'changed') return { task: decision.task, after: inputs };
  const latest = await deps.records.task(task.id);
  if (!latest || endedBadly(latest)) {
    // Canceled or deleted meanwhile, and no record names the files.
    await deps.deleteFiles(task);
    await endFailedJobOf(deps, task);
  }
  return undefined;
}

/** Fails a task because of an input, which may not exist any more. Returns the task's end if that ended it. */
async function failByInput(
  deps: LifecycleDependencies,
  task: Task,
  id: string,
  input: Task | undefined,
): Promise<End | undefined> {
  const failure = failureBy(input, id);
  const end = failure && (await fail(deps, task, { type: 'inputEnded', failure, input: id }));
  // Another input had failed it, and the one that ended now may be the last task that its job waits for.
  if (failure && !end) await endFailedJobOf(deps, task);
  return end;
}

async function fail(deps: LifecycleDependencies, task: Task, event: TaskEvent): Promise<End | undefined> {
  const decision = await changeTask(deps, task.id, event);
  return decision.outcome === 'changed' ? { task: decision.task } : undefined;
}
