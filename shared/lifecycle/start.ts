import { defined } from '../defined.ts';
import { decideJob, type Job } from '../jobs/job.ts';
import { isShareTaken } from '../tasks/long-runs.ts';
import { smallReservationMs } from '../tasks/meter.ts';
import { hasEnded, type Task } from '../tasks/task.ts';
import { type Decision, decide, isExhausted } from '../tasks/transitions.ts';
import { changeTask } from './change.ts';
import type { NoChange } from './change-record.ts';
import { deleteOfJob } from './delete.ts';
import type { Group, Later, LifecycleDependencies, WorkerAccount } from './dependencies.ts';
import { endFailedJob } from './end-job.ts';
import { outOfMinutes, workersLost } from './ends.ts';
import { publishPending, recentlyEnded } from './publish.ts';
import { inputsOf, releaseIfReady } from './release.ts';
import { apply, settleAgain, settleEnd } from './settle.ts';

/** A task that a worker may work on, with its inputs in request order. */
export interface Start {
  outcome: 'changed';
  task: Task;
  inputs: Task[];
  /** The records that were read with the task. They save reads when the task ends. */
  group: Group;
}

/** A task that has to wait because its account already has the maximum number of long runs. */
export interface Postponed {
  outcome: 'postponed';
  task: Task;
}

/** The contents of a worker's message that concern the start of the task. */
export interface Delivery {
  /** The inputs and dependents of the task, which are read together with it. */
  near?: string[] | undefined;
  account?: WorkerAccount | undefined;
  /** Maximum number of concurrent long runs of an account; defaults to no limit. */
  share?: number;
}

/** Starts a task for a worker. If the task has ended, the message was redelivered and the end is settled again. */
export async function start(
  deps: LifecycleDependencies,
  id: string,
  { near = [], account, share = Number.POSITIVE_INFINITY }: Delivery = {},
): Promise<Start | Postponed | Decision | NoChange> {
  const group = await deps.records.groupPart(id, [id, ...near], account);
  const known = group.tasks.find((task) => task.id === id);
  if (!known) {
    // The task was deleted before its input ended, and its job may wait for nothing else.
    await endFailedJob(deps, group.job);
    return { outcome: 'missing' };
  }
  const inputs = await inputsOf(deps, known, group.tasks);
  if (!hasEnded(known) && !areCompleted(known, inputs)) {
    // The message came before the inputs completed, or after one of them was deleted.
    await settleEnd(deps, await releaseIfReady(deps, known));
    return { outcome: 'refused', reason: 'waiting' };
  }
  if (decide(known, { type: 'started' }, deps.now()).outcome === 'changed') {
    // Dead letters do not catch these: each return to the queue sends a new message, which was never received.
    if (isExhausted(known)) return apply(deps, id, { type: 'expired', failure: workersLost });
    if (isShareTaken(group.longRuns ?? {}, id, share, deps.now())) return { outcome: 'postponed', task: known };
  }
  const decision = await claim(deps, id, known);
  return decision.outcome === 'changed' ? begin(deps, decision.task, inputs, group) : decision;
}

/** Claims a task for a run, and settles the task if it has ended or its account has no engine time left. */
async function claim(deps: LifecycleDependencies, id: string, known: Task): Promise<Decision | NoChange> {
  let decision = await changeTask(deps, id, { type: 'started' }, known);
  // An account with little engine time left can still reserve little.
  if (decision.outcome === 'overdrawn')
    decision = await changeTask(deps, id, { type: 'started', reserveMs: smallReservationMs }, known);
  if (decision.outcome === 'refused' && decision.reason === 'ended') await settleAgain(deps, id);
  if (decision.outcome === 'overdrawn') await apply(deps, id, { type: 'expired', failure: outOfMinutes(deps.now()) });
  return decision;
}

/** Starts the job of a claimed task and publishes both. A task whose job was deleted meanwhile is deleted with it. */
async function begin(
  deps: LifecycleDependencies,
  task: Task,
  inputs: Task[],
  read: Group,
): Promise<Start | { outcome: 'missing' }> {
  const job = await startJob(deps, task, read.job);
  const group = { ...read, ...defined({ job }) };
  if (task.job !== undefined && (!job || job.status === 'deleted')) {
    await deleteOfJob(deps, task, group);
    return { outcome: 'missing' };
  }
  await publishPending(deps, job, [...recentlyEnded(task, inputs, job, deps.now()), task]);
  return { outcome: 'changed', task, inputs, group };
}

/** Starts the job of a task. Returns its current state with its pending events. */
async function startJob(
  { records, now }: LifecycleDependencies,
  { job: id }: Task,
  known?: Job,
): Promise<Job | undefined> {
  if (id === undefined || (known && known.status !== 'created')) return known;
  let latest: Job | undefined;
  const started = (job: Job) => {
    latest = job;
    return decideJob(job, { type: 'started' }, now());
  };
  return (await records.changeJob(id, started, known)) ?? latest;
}

/**
 * Returns a task to the queue of its engine, to be delivered later. The worker then deletes its own message, so neither
 * receives nor attempts run out. A run that has claimed the task releases it first: if the worker dies in between, its message
 * is redelivered. Returns false if the run has lost the task.
 */
export async function giveBack(
  deps: LifecycleDependencies,
  engine: string,
  task: Task,
  later: Later,
  attempt?: number,
): Promise<boolean> {
  if (attempt !== undefined) {
    const resumesAt = deps.now() + later.delaySeconds * 1_000;
    const returned = { type: 'returned', attempt, resumesAt, ...defined({ goesOn: later.goesOn }) } as const;
    const { outcome } = await changeTask(deps, task.id, returned, task);
    if (outcome !== 'changed') return false;
  }
  await deps.enqueue(engine, task, later);
  return true;
}

function areCompleted({ dependsOn }: Task, inputs: Task[]): boolean {
  return inputs.length === dependsOn.length && inputs.every(({ status }) => status === 'completed');
}
