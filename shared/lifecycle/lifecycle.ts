import { mapAtOnce } from '../concurrency.ts';
import { groupOfId } from '../ids.ts';
import type { Job } from '../jobs/job.ts';
import { decideJob, initialEvents, withPendingEvents } from '../jobs/job.ts';
import { isShareTaken } from '../tasks/long-runs.ts';
import { smallReservationMs } from '../tasks/meter.ts';
import type { Task } from '../tasks/task.ts';
import { hasEnded, isLastOfJob, revisionOf } from '../tasks/task.ts';
import { type Decision, decide, isExhausted, type TaskEvent, taskOf } from '../tasks/transitions.ts';
import type { NoChange } from './change-record.ts';
import { describeEnd, endedBadly, failureBy, jobErrorOf, outOfMinutes, workersLost } from './ends.ts';
import { createLook } from './look.ts';
import type { Change, Group, Later, LifecycleParts, Plan, WorkerAccount } from './parts.ts';

/** A task that a worker may work on, with its inputs in the order in which they were named. */
export interface Start {
  outcome: 'changed';
  task: Task;
  inputs: Task[];
  /** What was read with them, for whoever ends the task. */
  group: Group;
}

/** A task that has to wait, because its account has as many long runs as one account may have. */
export interface Postponed {
  outcome: 'postponed';
  task: Task;
}

/** What a worker knows of a task that it is to start. */
export interface Delivery {
  /** Tasks near it, its inputs and dependents, which are then read together with it. */
  near?: string[] | undefined;
  account?: WorkerAccount | undefined;
  /** How many long runs an account may have at once; defaults to no limit. */
  share?: number;
}

export type Lifecycle = ReturnType<typeof createLifecycle>;

/**
 * Moves tasks and jobs through their states. Every change is one conditional write on one record; what follows from it is
 * derived from the records of the group alone, so any step may be repeated by a redelivered message or by the sweep without
 * doing harm, and no step needs a note that it was done.
 */
export function createLifecycle(parts: LifecycleParts) {
  const { records } = parts;

  /**
   * Applies an event to a task, as the caller last knew it where it is given, and carries out what follows from it. What the
   * caller knows of the group saves reads.
   */
  async function apply(id: string, event: TaskEvent, known?: Task, group?: Group): Promise<Decision | NoChange> {
    const decision = await change(id, event, known);
    if (decision.outcome === 'changed') await carryOut(event, decision.task, group);
    return decision;
  }

  /**
   * Applies an event as `apply` does, and leaves to the sweep what follows from it and fails: the record is the commit,
   * so a client that deletes or cancels a task is not refused because a queue is.
   */
  async function commit(id: string, event: TaskEvent, onError: (error: unknown) => void): Promise<Decision | NoChange> {
    const decision = await change(id, event);
    if (decision.outcome === 'changed') await carryOut(event, decision.task).catch(onError);
    return decision;
  }

  function change(id: string, event: TaskEvent, known?: Task): Promise<Decision | NoChange> {
    return records.changeTask(id, (task) => decide(task, event, parts.now()), known);
  }

  async function carryOut(event: TaskEvent, task: Task, group?: Group): Promise<void> {
    if (hasEnded(task)) await settle(task, group);
    else if (event.type === 'progressed' && event.percent !== undefined) await parts.publish([{ task }]);
  }

  /**
   * Starts a task for a worker. A task that has ended has what follows from that repeated, since the message was redelivered.
   */
  async function start(
    id: string,
    { near = [], account, share = Number.POSITIVE_INFINITY }: Delivery = {},
  ): Promise<Start | Postponed | Decision | NoChange> {
    const group = await records.groupPart(id, [id, ...near], account);
    const known = group.tasks.find((task) => task.id === id);
    if (!known) {
      // Deleted before its input had ended, which may be what its job waits for.
      await endJob(group.job);
      return { outcome: 'missing' };
    }
    const inputs = await inputsOf(known, group.tasks);
    if (!hasEnded(known) && !areCompleted(known, inputs)) {
      // The message came too early, or too late to find them all.
      await wakeAndSettle(known);
      return { outcome: 'refused', reason: 'waiting' };
    }
    const isFree = taskOf(decide(known, { type: 'started' }, parts.now())) !== undefined;
    // Not left to the dead letters alone: each time that a task is given back it has a new message, which was never received.
    if (isFree && isExhausted(known)) return apply(id, { type: 'expired', failure: workersLost });
    if (isFree && isShareTaken(group.longRuns ?? {}, id, share, parts.now()))
      return { outcome: 'postponed', task: known };
    const decision = await claim(id, known);
    if (decision.outcome === 'refused' && decision.reason === 'ended') await settleAgain(id);
    if (decision.outcome === 'overdrawn') await apply(id, { type: 'expired', failure: outOfMinutes(parts.now()) });
    if (decision.outcome !== 'changed') return decision;
    const { task } = decision;
    // A task whose job was deleted meanwhile is deleted with it: its output is of no use to anybody.
    const job = await startJob(task, group.job);
    if (task.job !== undefined && (!job || job.status === 'deleted')) {
      await deleteOfJob(task, { ...group, ...(job ? { job } : {}) });
      return { outcome: 'missing' };
    }
    await publishPending(job, [...lately(task, inputs, job), task]);
    return { outcome: 'changed', task, inputs, group: { ...group, ...(job ? { job } : {}) } };
  }

  /**
   * Gives a task back to the queue of its engine, to be delivered later; the worker then has its own message deleted, so that
   * neither receives nor attempts run out. A run that has claimed the task releases it first: if the worker dies in between,
   * its message is delivered again. Returns false if the run has lost the task.
   */
  async function giveBack(engine: string, task: Task, later: Later, attempt?: number): Promise<boolean> {
    if (attempt !== undefined) {
      const { outcome } = await change(task.id, { type: 'returned', attempt }, task);
      if (outcome !== 'changed') return false;
    }
    await parts.enqueue(engine, task, later);
    return true;
  }

  /** Claims a task for a run. Where the account has little engine time left, little is set aside for it. */
  async function claim(id: string, known: Task): Promise<Decision | NoChange> {
    const decision = await change(id, { type: 'started' }, known);
    if (decision.outcome !== 'overdrawn') return decision;
    return change(id, { type: 'started', reserveMs: smallReservationMs }, known);
  }

  /**
   * Writes a plan, tasks first and the job last as the commit, and only then releases its first tasks. The job is published
   * last: a task that is not queued waits for the sweep for a quarter of an hour, while the outbox is published by whoever
   * starts or ends a task of the job, or by the sweep within minutes. A job that could not be published is therefore
   * reported to `onError` as created all the same; a task without a job has no outbox, and is refused. Returns the plan as it
   * was written, or undefined where it may have changed since by what exists already.
   */
  async function create(plan: Plan, onError: (error: unknown) => void = rethrow): Promise<Plan | undefined> {
    const job = plan.job && withPendingEvents(plan.job, initialEvents(plan.job), parts.now());
    // Publishing the job needs this, unless it has a webhook. A read that fails is repeated then, and its error reported.
    const read = job && job.webhook === undefined && parts.hasSubscribers(job.user).catch(() => undefined);
    await Promise.all([records.createTasks(plan.tasks), read]);
    if (job) await records.createJob(job);
    const planned = new Map(plan.tasks.map((task) => [task.id, task]));
    const waiting = plan.tasks.filter((task) => task.status === 'created');
    let isAsPlanned = true;
    await mapAtOnce(waiting, inFlight, async (task) => {
      const outside = task.dependsOn.filter((input) => !planned.has(input));
      const inputs = task.dependsOn.flatMap((input) => planned.get(input) ?? []);
      if (outside.length === 0 && !inputs.every((input) => input.status === 'completed')) return;
      const end = outside.length > 0 ? undefined : await release(task, inputs);
      if (outside.length > 0) await link(task, outside);
      if (end) await settleEnd(end);
      if (end || outside.length > 0) isAsPlanned = false;
    });
    if (job) await publishCreated(job, plan.tasks).catch(onError);
    else await publishAll(undefined, plan.tasks);
    return isAsPlanned ? { ...plan, ...(job ? { job } : {}) } : undefined;
  }

  async function publishCreated(job: Job, tasks: Task[]): Promise<void> {
    if (await publishAll(job, tasks)) await records.markPublished(job, job.pendingEvents ?? []);
  }

  /** Publishes tasks together with the pending events of their job, and removes those from its outbox if anybody listens. */
  async function publishPending(job: Job | undefined, tasks: Task[] = []): Promise<void> {
    const pendingEvents = job?.pendingEvents ?? [];
    // Whoever created the job may have died before it published those of its tasks that came with their files.
    const made = job && pendingEvents.includes('created') && (await parts.hasSubscribers(job.user)) ? job.tasks : [];
    const others = made.filter((id) => !tasks.some((task) => task.id === id));
    const unpublished = others.length > 0 ? await records.tasks(others) : [];
    const isPublished = await publishAll(job, [...unpublished, ...tasks]);
    if (job && isPublished && pendingEvents.length > 0) await records.markPublished(job, pendingEvents);
  }

  /** Publishes the start of a job before its tasks and the end after them; of tasks, those that are past their creation. */
  async function publishAll(job: Job | undefined, tasks: Task[]): Promise<boolean> {
    const pendingEvents = job?.pendingEvents ?? [];
    const beginning = pendingEvents.filter((event) => event !== 'ended');
    const end = pendingEvents.filter((event) => event === 'ended');
    const changes: Change[] = [
      ...(job && beginning.length > 0 ? [{ job, events: beginning }] : []),
      ...inputsFirst(tasks.filter((task) => task.status !== 'created')).flatMap(statesOf),
      ...(job && end.length > 0 ? [{ job, events: end }] : []),
    ];
    return changes.length > 0 && parts.publish(changes);
  }

  /** Registers a task as a dependent of inputs outside its group; where one of them has ended already, does what its end would have. */
  async function link(task: Task, outside: string[]): Promise<void> {
    const inputs = await mapAtOnce(outside, inFlight, (id) => records.addDependent(id, task.id));
    const gone = outside.find((_, index) => !inputs[index]);
    const failed =
      gone === undefined
        ? inputs.some((input) => input && hasEnded(input)) && (await wake(task))
        : await failByInput(task, gone, undefined);
    if (failed) await settleEnd(failed);
  }

  /**
   * Releases a task whose inputs have all completed, and fails one of which an input ended otherwise. Returns the end where
   * that ended it.
   */
  async function wake(task: Task, ended: Task[] = []): Promise<End | undefined> {
    const inputs = new Map(ended.map((input) => [input.id, input]));
    // From the last: where inputs end in their order it is the one that has not, and the others need not be read.
    const order = [...new Set([...inputs.keys(), ...task.dependsOn.toReversed()])];
    for (let from = 0; from < order.length; from += inputsPerRead) {
      const next = order.slice(from, from + inputsPerRead);
      const unknown = next.filter((id) => !inputs.has(id));
      if (unknown.length > 0) for (const input of await records.tasks(unknown)) inputs.set(input.id, input);
      const bad = next.find((id) => failureBy(inputs.get(id), id));
      if (bad !== undefined) return failByInput(task, bad, inputs.get(bad));
      if (next.some((id) => inputs.get(id)?.status !== 'completed')) return undefined;
    }
    const completed = task.dependsOn.flatMap((id) => inputs.get(id) ?? []);
    // Whoever completed the others may have died before that, and once the job completes nobody returns to them.
    const others = completed.filter((input) => input.hasSecrets && !ended.includes(input));
    await mapAtOnce(others, inFlight, parts.deleteSecrets);
    return release(task, completed);
  }

  /**
   * Returns those inputs of a task whose ends may not be published yet, because whoever completed them is about to or died:
   * they go with the start of the task, which must not come before them. Who knows them drops them. What ended before the
   * sweep's last look at the job was published by that.
   */
  function lately(task: Task, inputs: Task[], job: Job | undefined): Task[] {
    const since = Math.min(parts.now() - publishingMs, job?.lookedAt ?? 0);
    const isLate = (input: Task) =>
      input.job === task.job && input.endedAt !== undefined && Date.parse(input.endedAt) >= since;
    return inputs.filter(isLate);
  }

  /** Fails a task because of an input, which may have no record any more, and returns it where that ended it. */
  async function failByInput(task: Task, id: string, input: Task | undefined): Promise<End | undefined> {
    const failure = failureBy(input, id);
    const end = failure && (await fail(task, { type: 'inputEnded', failure, input: id }));
    // It had failed by another input, and the one that ended just now may be the last that its job waits for.
    if (failure && !end && task.job !== undefined) await endJob(await records.job(task.job));
    return end;
  }

  async function fail(task: Task, event: TaskEvent): Promise<End | undefined> {
    const decision = await change(task.id, event);
    return decision.outcome === 'changed' ? { task: decision.task } : undefined;
  }

  /**
   * Hands a task whose inputs have all completed to its engine. Returns the end where that ended it: there is no engine for it,
   * or it takes none.
   */
  async function release(task: Task, inputs: Task[]): Promise<End | undefined> {
    const routed = parts.route(task, inputs);
    if ('failure' in routed) return fail(task, { type: 'expired', failure: routed.failure });
    // After a task done in place comes a worker, lest a chain of them is published in another order than it was done in.
    const files = inputs.some((input) => input.isPerformed) ? undefined : await parts.perform?.(task, inputs);
    if (files) {
      const decision = await change(task.id, { type: 'performed', files }, task);
      if (decision.outcome === 'changed') return { task: decision.task, after: inputs };
      const latest = await records.task(task.id);
      // Canceled or deleted meanwhile: nobody else knows of the files.
      if (!latest || endedBadly(latest)) {
        await parts.deleteFiles(task);
        if (task.job !== undefined) await endJob(await records.job(task.job));
      }
      return undefined;
    }
    await parts.enqueue(routed.engine, task);
    return undefined;
  }

  /** Returns the inputs of a task in the order in which they were named, from what is known and else from the records. */
  async function inputsOf(task: Task, known: Task[] = []): Promise<Task[]> {
    const found = new Map(known.map((input) => [input.id, input]));
    const missing = task.dependsOn.filter((id) => !found.has(id));
    if (missing.length > 0) for (const input of await records.tasks(missing)) found.set(input.id, input);
    return task.dependsOn.flatMap((id) => found.get(id) ?? []);
  }

  /**
   * Carries out what follows from a task's end: releases or fails dependents, closes the job, deletes what is deleted. The
   * order is such that whatever a crash left undone shows in the records: a task that is open in its job, a dependent that
   * waits, a tombstone. A job fails after the dependents of the task that failed it, so that nobody reads a failed job with a
   * task that waits for nothing.
   */
  function settle(ended: Task, known?: Group, run?: Run): Promise<void> {
    return settleEnd({ task: ended }, known, run);
  }

  async function settleEnd(end: End, group: Group = { tasks: [] }, run: Run = orThrow): Promise<void> {
    const known = endedBadly(end.task) ? await run(() => withJobOf(end.task, group), group) : group;
    const pending = [end];
    const bad: Task[] = [];
    const finish = async (current: Task) => {
      if (current.status === 'deleted') {
        await run(() => parts.deleteFiles(current), undefined);
        await records.deleteTask(current);
      } else if (current.dueAt !== undefined) {
        const { status } = current;
        const settled = (latest: Task) => decide(latest, { type: 'settled', status }, parts.now());
        await records.changeTask(current.id, settled, current);
      }
    };
    for (let next = pending.pop(); next; next = pending.pop()) {
      const { task: current, after = [] } = next;
      if (current.hasSecrets) await run(() => parts.deleteSecrets(current), undefined);
      const completed = await run(() => completeJobBy(current, known.job), undefined);
      // Before the dependents are released, so that their start is not published before the end they waited for.
      await run(() => publishPending(completed, [...lately(current, after, known.job), current]), undefined);
      if (!completed && !endedBadly(current)) await run(() => closeInJob(current), undefined);
      pending.push(...(await run(() => notifyDependents(current, known), [])));
      if (endedBadly(current)) bad.push(current);
      else await finish(current);
    }
    // The first of a job is the cause of the others.
    const causes = new Map(bad.toReversed().map((task) => [task.job, task]));
    for (const cause of bad.filter((task) => causes.get(task.job) === task))
      await run(() => failJobOf(cause, known, bad), undefined);
    for (const current of bad) {
      await run(() => closeInJob(current), undefined);
      await finish(current);
    }
  }

  async function withJobOf({ job: id }: Task, known: Group): Promise<Group> {
    if (id === undefined || known.job?.id === id) return known;
    const job = await records.job(id);
    return { ...known, ...(job ? { job } : {}) };
  }

  /** Notifies the dependents of a task that it has ended; returns the ends of those that this ended, too. */
  async function notifyDependents(ended: Task, { job, tasks }: Group): Promise<End[]> {
    const { dependents } = ended;
    const found = new Map(tasks.filter(({ id }) => dependents.includes(id)).map((task) => [task.id, task]));
    const missing = dependents.filter((id) => !found.has(id));
    if (missing.length > 0) for (const task of await records.tasks(missing)) found.set(task.id, task);
    // A bad end ends its dependents in whatever state they are; a completion is news to those only that wait for it.
    const isConcerned = (task: Task) => (endedBadly(ended) ? !hasEnded(task) : task.status === 'created');
    const next = await mapAtOnce([...found.values()].filter(isConcerned), inFlight, (task) => wake(task, [ended]));
    // It may be the last that its job waits for, if what depends on it has failed by another input.
    const isGone = (id: string) => {
      const task = found.get(id);
      return groupOfId(id) === groupOfId(ended.id) && (!task || endedBadly(task));
    };
    if (ended.job !== undefined && !endedBadly(ended) && dependents.some(isGone))
      await endJob(await records.job(ended.job));
    // A function that failed dependents may have died before it failed theirs.
    const isUnsettled = (task: Task) => task.failedBy === ended.id && task.job === job?.id;
    const earlier = job && !isFinal(job) ? [...found.values()].filter(isUnsettled).map((task) => ({ task })) : [];
    return [...next.filter((end) => end !== undefined), ...earlier];
  }

  /** Fails the job of a task that ended badly, and ends it if no other task is open. */
  async function failJobOf(task: Task, known: Group, ended: Task[]): Promise<void> {
    if (task.job === undefined) return;
    const job = known.job?.id === task.job ? known.job : await records.job(task.job);
    if (!job || isFinal(job)) return;
    const cause = await causeOf(task);
    // The function that ended the cause may still be failing its other dependents, or have died: those come first.
    if (cause !== task) return settle(cause);
    const failure = { errorCode: jobErrorOf(task), msg: describeEnd(task) };
    const isOver = await haveEnded(job, [...known.tasks, ...ended]);
    const failed = (latest: Job) => decideJob(latest, { type: 'failed', failure, isOver }, parts.now());
    const changed = await records.changeJob(job.id, failed, job);
    await publishPending(changed);
    // A function that ended the other tasks meanwhile may have read the job before it failed.
    if (!isOver) await endJob(changed);
  }

  /** Returns the task of the same job by whose end a task failed, however many are between them. */
  async function causeOf(task: Task): Promise<Task> {
    for (let cause = task; ; ) {
      const { failedBy } = cause;
      const isOfJob = failedBy !== undefined && groupOfId(failedBy) === groupOfId(task.id);
      const input = isOfJob ? await records.task(failedBy) : undefined;
      if (!input || !endedBadly(input)) return cause;
      cause = input;
    }
  }

  /** Ends a job that has failed, once the last of its tasks has ended. */
  async function endJob(job: Job | undefined): Promise<void> {
    if (job?.status !== 'failed' || isFinal(job) || !(await haveEnded(job))) return;
    await records.changeJob(job.id, (latest) => decideJob(latest, { type: 'ended' }, parts.now()), job);
  }

  /** Returns whether all tasks of a job have ended; those that are known to have are not read. */
  async function haveEnded(job: Job, known: Task[] = []): Promise<boolean> {
    const ended = new Set(known.filter(hasEnded).map(({ id }) => id));
    const others = job.tasks.filter((id) => !ended.has(id));
    return others.length === 0 || (await records.tasks(others)).every(hasEnded);
  }

  /** Completes the job of its last task where that is the only one that is open, in one write. */
  async function completeJobBy(task: Task, known?: Job): Promise<Job | undefined> {
    if (!task.job || task.status !== 'completed' || !isLastOfJob(task)) return undefined;
    const isOnly = ({ open }: Job) => open.length === 1 && open[0] === task.id;
    const completed = (job: Job) =>
      isOnly(job) ? decideJob({ ...job, open: [] }, { type: 'allTasksEnded' }, parts.now()) : undefined;
    return records.changeJob(task.job, completed, known);
  }

  /** Removes one of the last tasks of a job from its open set, and completes the job after the last. */
  async function closeInJob(task: Task): Promise<void> {
    if (!isLastOfJob(task)) return;
    const job = await records.closeTask(task);
    if (job?.status === 'failed' && !endedBadly(task)) await endJob(job);
    else if (job?.open.length === 0) await completeJob(job);
  }

  async function completeJob(known: Job): Promise<void> {
    if (known.status === 'failed') return endJob(known);
    const ended = (latest: Job) => decideJob(latest, { type: 'allTasksEnded' }, parts.now());
    await publishPending(await records.changeJob(known.id, ended, known));
  }

  /** Starts the job of a task; returns it as it is now, with its pending events. */
  async function startJob({ job: id }: Task, known?: Job): Promise<Job | undefined> {
    if (id === undefined || (known && known.status !== 'created')) return known;
    let latest: Job | undefined;
    const start = (job: Job) => {
      latest = job;
      return decideJob(job, { type: 'started' }, parts.now());
    };
    return (await records.changeJob(id, start, known)) ?? latest;
  }

  /** Deletes a job with its tasks and their files. The tombstone comes first, so an interrupted deletion is finished by the sweep. */
  async function deleteJob(id: string, onError: (error: unknown) => void = rethrow): Promise<void> {
    const deleted = await records.changeJob(id, (latest) => decideJob(latest, { type: 'deleted' }, parts.now()));
    try {
      const { job, tasks } = await records.group(id);
      if (job?.status === 'deleted') await deleteTasks(job, tasks);
    } catch (error) {
      // Once the tombstone is written the sweep returns to the job.
      if (!deleted) throw error;
      onError(error);
    }
  }

  async function deleteTasks(job: Job, tasks: Task[]): Promise<void> {
    const errors: unknown[] = [];
    // One task that cannot be deleted does not block the others.
    await mapAtOnce(tasks, inFlight, (task) =>
      deleteOfJob(task, { job, tasks }).catch((error) => void errors.push(error)),
    );
    if (errors.length > 0) throw errors[0];
    await records.deleteJob(job.id);
  }

  async function deleteOfJob(task: Task, group: Group): Promise<void> {
    const decision = await apply(task.id, { type: 'deleted' }, task, group);
    if (decision.outcome === 'refused') await settleAgain(task.id, group);
  }

  async function settleAgain(id: string, known?: Group): Promise<void> {
    const task = await records.task(id);
    if (task && hasEnded(task)) await settle(task, known);
  }

  async function wakeAndSettle(task: Task): Promise<void> {
    const end = await wake(task);
    if (end) await settleEnd(end);
  }

  const look = createLook(parts, {
    apply,
    change,
    link,
    wake: wakeAndSettle,
    settle,
    settleAsPossible: (ended) => settle(ended, undefined, orGoOn),
    publishPending,
    publishEnds: (tasks) => publishAll(undefined, tasks),
    completeJob,
    deleteTasks,
  });

  return { apply, commit, create, start, giveBack, settle, settleAgain, deleteJob, look };
}

/** The end of a task, with inputs that are published before it. */
interface End {
  task: Task;
  after?: Task[];
}

/**
 * Returns tasks in an order in which each comes after its inputs and what has ended before the rest: a request may name a task
 * before its inputs, whose ends are to be published before its start.
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

/** Returns a task as it is published: one that was performed in one step, with the start that it never had by itself. */
function statesOf(task: Task): { task: Task }[] {
  if (!task.isPerformed || task.status !== 'completed') return [{ task }];
  const { endedAt: _endedAt, progress: _progress, ...rest } = task;
  return [{ task: { ...rest, status: 'processing', files: [], revision: revisionOf(task) - 1 } }, { task }];
}

/** Returns whether nothing of a job changes any more but that it is deleted. */
function isFinal({ status, endedAt }: Job): boolean {
  return status === 'completed' || status === 'deleted' || endedAt !== undefined;
}

function areCompleted({ dependsOn }: Task, inputs: Task[]): boolean {
  return inputs.length === dependsOn.length && inputs.every(({ status }) => status === 'completed');
}

/** Runs a step of settling; the second argument is the result to continue with where the step may fail. */
type Run = <T>(work: () => Promise<T>, otherwise: T) => Promise<T>;
const orThrow: Run = (work) => work();
const rethrow = (error: unknown): never => {
  throw error;
};
const orGoOn: Run = (work, otherwise) => work().catch(() => otherwise);

/** How long it may take from the end of a task until that is published, unless its process dies. */
const publishingMs = 10_000;
const inFlight = 16;
/** Inputs of a waiting task that are read at a time. */
const inputsPerRead = 10;
