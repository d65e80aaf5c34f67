import type { Job, JobErrorCode, JobEventType } from '../jobs/job.ts';
import { decideJob, initialEvents, withPendingEvents } from '../jobs/job.ts';
import type { Task, TaskFailure } from '../tasks/task.ts';
import { hasEnded } from '../tasks/task.ts';
import {
  type Decision,
  decide,
  maxAttempts,
  maxRecoveries,
  queueTimeoutMs,
  type TaskEvent,
} from '../tasks/transitions.ts';

/** What the lifecycle needs of the records: single-record atomic changes, and no transaction. */
export interface LifecycleRecords {
  task(id: string): Promise<Task | undefined>;
  tasks(ids: string[]): Promise<Task[]>;
  createTasks(tasks: Task[]): Promise<void>;
  /** A known record saves the read before the write where it is still current. */
  changeTask(id: string, decision: (task: Task) => Decision, known?: Task): Promise<Decision | { outcome: 'missing' }>;
  /** Adds to X's dependents and returns X as it is after that, so that one of the two sides always sees the other. */
  addDependent(id: string, dependent: string): Promise<Task | undefined>;
  removeWait(id: string, input: string): Promise<Task | undefined>;
  setDue(id: string, dueAt: number | undefined): Promise<void>;
  deleteTask(id: string): Promise<void>;
  job(id: string): Promise<Job | undefined>;
  createJob(job: Job): Promise<void>;
  changeJob(id: string, decision: (job: Job) => Job | undefined, known?: Job): Promise<Job | undefined>;
  /** Removes a task from the job's open set and returns the job as it is after that. */
  closeTask(id: string, task: string): Promise<Job | undefined>;
  /** Removes events from a job's outbox, and with the last of them the time at which the sweep would look at it. */
  markPublished(id: string, events: JobEventType[]): Promise<void>;
  deleteJob(id: string): Promise<void>;
}

/** A record as it is after a change that is published. */
export type Change = { task: Task } | { job: Job; events: JobEventType[] };

export interface LifecycleParts {
  records: LifecycleRecords;
  /** Hands a task to the workers of an engine. At least once; a worker takes a task only once. */
  enqueue(engine: string, taskId: string): Promise<void>;
  deleteFiles(task: Task): Promise<void>;
  /** Deletes the secrets of a task that has no more use for them. */
  deleteSecrets(task: Task): Promise<void>;
  /** Returns the engine for a task whose inputs have all completed, or why there is none. */
  route(task: Task, inputs: Task[]): { engine: string } | { failure: TaskFailure };
  /** Publishes changes, in this order and at least once: by the versions, subscribers drop what they know. */
  publish(changes: Change[]): Promise<void>;
  now(): number;
}

/** The files that clients post to the forms of their tasks. */
export interface PostedFiles {
  exists(task: Task): Promise<boolean>;
  /** Has the posted file of a task imported, as the notification of its arrival does. */
  importAgain(task: Task): Promise<void>;
}

const noFiles: PostedFiles = { exists: async () => false, importAgain: async () => undefined };

/** A job and its tasks, or a single task, ready to be written. */
export interface Plan {
  job?: Job;
  tasks: Task[];
}

export type Lifecycle = ReturnType<typeof createLifecycle>;

/**
 * Moves tasks and jobs through their states. Every change is one conditional write on one record; what follows from it is derived from the
 * record alone, so any step may be repeated by a redelivered message or by the sweep without doing harm.
 */
export function createLifecycle(parts: LifecycleParts) {
  const { records } = parts;

  /** Applies an event to a task, as the caller last knew it where it is given, and carries out what follows from it. */
  async function apply(id: string, event: TaskEvent, known?: Task): Promise<Decision | { outcome: 'missing' }> {
    const decision = await change(id, event, known);
    if (decision.outcome !== 'changed') return decision;
    if (event.type === 'started') return (await publishStart(decision.task)) ? decision : { outcome: 'missing' };
    await follow(event, decision.task);
    return decision;
  }

  /**
   * Publishes that a task started, and returns true. A task whose job was deleted meanwhile is deleted with it instead: its
   * output is of no use, and the ends of its inputs may not have been published.
   */
  async function publishStart(task: Task): Promise<boolean> {
    const job = await startJob(task);
    if (job?.status === 'deleted') {
      await deleteOfJob(task.id);
      return false;
    }
    await publishPending(job, [task]);
    return true;
  }

  /**
   * Applies an event as `apply` does, and leaves to the sweep what follows from it and fails: the record is the commit,
   * so a client that deletes or cancels a task is not refused because a queue is.
   */
  async function commit(
    id: string,
    event: TaskEvent,
    onError: (error: unknown) => void,
  ): Promise<Decision | { outcome: 'missing' }> {
    const decision = await change(id, event);
    if (decision.outcome === 'changed') await follow(event, decision.task).catch(onError);
    return decision;
  }

  function change(id: string, event: TaskEvent, known?: Task): Promise<Decision | { outcome: 'missing' }> {
    return records.changeTask(id, (task) => decide(task, event, parts.now()), known);
  }

  async function follow(event: TaskEvent, task: Task): Promise<void> {
    if (hasEnded(task)) await settle(task);
    else if (event.type === 'progressed' && event.percent !== undefined) await parts.publish([{ task }]);
  }

  /**
   * Writes a plan, tasks first and the job last as the commit, and only then releases its first tasks. The job is published
   * last: a task that is not queued waits for the sweep for a quarter of an hour, while the outbox is published by whoever
   * starts or ends a task of the job, or by the sweep within two minutes. A job that could not be published is therefore
   * reported to `onError` as created all the same; a task without a job has no outbox, and is refused.
   */
  async function create(plan: Plan, onError: (error: unknown) => void = rethrow): Promise<void> {
    await records.createTasks(plan.tasks);
    const job = plan.job && withPendingEvents(plan.job, initialEvents(plan.job), parts.now());
    if (job) await records.createJob(job);
    const ids = new Set(plan.tasks.map((task) => task.id));
    await forEach(plan.tasks, async (task) => {
      const outside = task.waitsFor.filter((input) => !ids.has(input));
      if (outside.length > 0) await link(task, outside);
      else if (isRunnable(task)) await release(task);
    });
    if (job) await publishCreated(job, plan.tasks).catch(onError);
    else await publishAll(undefined, plan.tasks);
  }

  async function publishCreated(job: Job, tasks: Task[]): Promise<void> {
    await publishAll(job, tasks);
    await records.markPublished(job.id, job.pendingEvents ?? []);
  }

  /** Publishes tasks together with the pending events of their job, and removes those from its outbox. */
  async function publishPending(job: Job | undefined, tasks: Task[] = []): Promise<void> {
    const pendingEvents = job?.pendingEvents ?? [];
    // Whoever created the job may have died before it published those of its tasks that came with their files.
    const made = job && pendingEvents.includes('created') ? job.tasks : [];
    const others = made.filter((id) => !tasks.some((task) => task.id === id));
    const unpublished = others.length > 0 ? await records.tasks(others) : [];
    // A request may name a task before its inputs, whose ends are to be published before its start.
    const inOrder = [...unpublished, ...tasks].sort((left, right) => Number(hasEnded(right)) - Number(hasEnded(left)));
    await publishAll(job, inOrder);
    if (job && pendingEvents.length > 0) await records.markPublished(job.id, pendingEvents);
  }

  /** Publishes the start of a job before its tasks and the end after them; of tasks, those that are past their creation. */
  async function publishAll(job: Job | undefined, tasks: Task[]): Promise<void> {
    const pendingEvents = job?.pendingEvents ?? [];
    const beginning = pendingEvents.filter((event) => event !== 'ended');
    const end = pendingEvents.filter((event) => event === 'ended');
    const changes: Change[] = [
      ...(job && beginning.length > 0 ? [{ job, events: beginning }] : []),
      ...tasks.filter((task) => task.status !== 'created').map((task) => ({ task })),
      ...(job && end.length > 0 ? [{ job, events: end }] : []),
    ];
    if (changes.length > 0) await parts.publish(changes);
  }

  /** Registers the task as a dependent of each input; an input that has ended already is handled at once. */
  async function link(task: Task, inputs: string[]): Promise<void> {
    for (const id of inputs) {
      const input = await records.addDependent(id, task.id);
      if (!input) {
        await apply(task.id, { type: 'inputEnded', failure: missingInput(id) });
        return;
      }
      if (!hasEnded(input)) continue;
      await failJobOf(input);
      const failed = await notifyDependent(task.id, input);
      if (failed) return settle(failed);
    }
  }

  /** Notifies a task that one of its inputs has ended; returns the task when that ended it too. */
  async function notifyDependent(id: string, input: Task): Promise<Task | undefined> {
    if (input.status === 'completed') {
      const task = await records.removeWait(id, input.id);
      if (task && isRunnable(task)) await release(task);
      return undefined;
    }
    const decision = await records.changeTask(id, (task) =>
      decide(task, { type: 'inputEnded', failure: failureOfInput(input) }, parts.now()),
    );
    return decision.outcome === 'changed' ? decision.task : undefined;
  }

  /** Hands a task whose inputs have all completed to its engine. */
  async function release(task: Task): Promise<void> {
    const inputs = await inputsOf(task);
    const gone = task.dependsOn.find((id) => !inputs.some((input) => input.id === id));
    if (gone !== undefined) return releaseWithout(task, gone);
    const routed = parts.route(task, inputs);
    if ('failure' in routed) await apply(task.id, { type: 'inputEnded', failure: routed.failure });
    else await parts.enqueue(routed.engine, task.id);
  }

  /**
   * Handles a runnable task one of whose inputs has no record: it has expired, or it is not written yet because the
   * job is not. A client can see an upload's form, and use it, before that; the sweep returns to the task then.
   */
  async function releaseWithout(task: Task, input: string): Promise<void> {
    if (task.job && !(await records.job(task.job))) return;
    if (await records.task(input)) return release(task);
    await apply(task.id, { type: 'inputEnded', failure: missingInput(input) });
  }

  /** Returns the inputs of a task in the order in which they were named. */
  async function inputsOf(task: Task): Promise<Task[]> {
    if (task.dependsOn.length === 0) return [];
    const found = new Map((await records.tasks(task.dependsOn)).map((input) => [input.id, input]));
    return task.dependsOn.flatMap((id) => found.get(id) ?? []);
  }

  /** Carries out what follows from a task's end: releases or fails dependents, closes the job, deletes what is deleted. */
  async function settle(ended: Task, run: Run = orThrow): Promise<void> {
    const pending = [ended];
    for (let task = pending.pop(); task; task = pending.pop()) {
      const current = task;
      const completed = await run(() => completeJobBy(current), undefined);
      // Before the dependents are released, so that their start is not published before the end they waited for.
      await run(() => publishPending(completed, [current]), undefined);
      if (!completed) {
        // The job fails before the dependents do, so that it names the cause and not a consequence.
        if (!(await run(() => failJobOf(current), true))) continue;
        // No dependent is released in a job that is not written yet, since its other tasks have not been published.
        if (!(await run(() => closeInJob(current), true))) continue;
        await forEach(current.dependents, async (id) => {
          const failed = await run(() => notifyDependent(id, current), undefined);
          if (failed) pending.push(failed);
        });
      }
      if (current.hasSecrets) await run(() => parts.deleteSecrets(current), undefined);
      if (current.status === 'deleted') {
        await run(() => parts.deleteFiles(current), undefined);
        await records.deleteTask(current.id);
      } else {
        const { status } = current;
        const settled = (latest: Task) => decide(latest, { type: 'settled', status }, parts.now());
        await records.changeTask(current.id, settled, current);
      }
    }
  }

  /**
   * Fails the job of a task that ended badly. Returns false where the job is not written yet: a client can see a task,
   * and cancel it, before that. What follows from the end then stays due, and the sweep resumes it.
   */
  async function failJobOf(task: Task): Promise<boolean> {
    if (!task.job || task.status === 'completed') return true;
    const known = await records.job(task.job);
    if (!known) return false;
    const failure = { errorCode: jobErrorOf(task), msg: describeEnd(task) };
    const failed = (job: Job) => decideJob(job, { type: 'failed', failure }, parts.now());
    await publishPending(await records.changeJob(task.job, failed, known));
    return true;
  }

  /** Completes the job of a task that nothing waits for, where it is the last that was open, in one write. */
  async function completeJobBy(task: Task): Promise<Job | undefined> {
    if (!task.job || task.status !== 'completed' || task.dependents.length > 0) return undefined;
    const isLast = ({ open }: Job) => open.length === 1 && open[0] === task.id;
    return records.changeJob(task.job, (job) =>
      isLast(job) ? decideJob({ ...job, open: [] }, { type: 'allTasksEnded' }, parts.now()) : undefined,
    );
  }

  /** Removes a task from the open ones of its job, and completes the job after the last. Returns false as above. */
  async function closeInJob(task: Task): Promise<boolean> {
    if (!task.job) return true;
    const job = await records.closeTask(task.job, task.id);
    if (job?.open.length === 0) {
      const ended = (latest: Job) => decideJob(latest, { type: 'allTasksEnded' }, parts.now());
      await publishPending(await records.changeJob(task.job, ended, job));
    }
    return job !== undefined;
  }

  /** Starts the job of a task; returns it as it is now, with its pending events. */
  async function startJob({ job: id }: Task): Promise<Job | undefined> {
    let latest: Job | undefined;
    const start = (job: Job) => {
      latest = job;
      return decideJob(job, { type: 'started' }, parts.now());
    };
    return id === undefined ? undefined : ((await records.changeJob(id, start)) ?? latest);
  }

  /** Deletes a job with its tasks and their files. The tombstone comes first, so an interrupted deletion is finished by the sweep. */
  async function deleteJob(id: string, onError: (error: unknown) => void = rethrow): Promise<void> {
    const job =
      (await records.changeJob(id, (latest) => decideJob(latest, { type: 'deleted' }, parts.now()))) ??
      (await records.job(id));
    if (job?.status !== 'deleted') return;
    const errors: unknown[] = [];
    // One task that cannot be deleted does not block the others; the sweep returns to the job.
    await forEach(job.tasks, (task) => deleteOfJob(task).catch((error) => void errors.push(error)));
    if (errors.length === 0) await records.deleteJob(id);
    else onError(errors[0]);
  }

  async function deleteOfJob(task: string): Promise<void> {
    const decision = await apply(task, { type: 'deleted' });
    if (decision.outcome === 'refused') await settleAgain(task);
  }

  /** Recovers a job that is overdue: finishes its deletion, or publishes again what may not have been. */
  async function recoverJob(job: Job): Promise<void> {
    if (job.status === 'deleted') return deleteJob(job.id);
    await publishPending(job, await records.tasks(job.tasks));
    // Whoever published the last event may have died before the job was no longer due.
    if (!job.pendingEvents?.length) await records.markPublished(job.id, []);
  }

  async function settleAgain(id: string): Promise<void> {
    const task = await records.task(id);
    if (task && hasEnded(task)) await settle(task);
  }

  /** Returns whether a task has been in its queue for so long, since the last of its inputs ended, that the sweep sends it again. */
  async function isLate(task: Task): Promise<boolean> {
    if (!isRunnable(task)) return false;
    const inputs = await inputsOf(task);
    const times = [task.createdAt, ...inputs.flatMap(({ endedAt }) => endedAt ?? [])];
    return parts.now() - Math.max(...times.map((time) => Date.parse(time))) >= queueTimeoutMs;
  }

  /** Recovers a task that is overdue by repeating whatever was lost: the link, the message, the consequences. */
  async function recover(task: Task, posted: PostedFiles = noFiles): Promise<void> {
    if (task.job && !(await records.job(task.job))) {
      // The job record is the commit: without it the client never received a 201.
      await parts.deleteFiles(task);
      if (task.hasSecrets) await parts.deleteSecrets(task);
      return records.deleteTask(task.id);
    }
    if (hasEnded(task)) return settle(task);
    if (task.status === 'processing' && task.form) {
      // The notification of a file may have been lost, or be a dead letter. It is due again until the file is deleted by its age.
      if (await posted.exists(task)) {
        await records.setDue(task.id, parts.now() + queueTimeoutMs);
        return posted.importAgain(task);
      }
      await apply(task.id, { type: 'expired', failure: uploadTimedOut });
      return;
    }
    if (task.attempt >= maxAttempts) {
      await apply(task.id, { type: 'expired', failure: workersLost });
      return;
    }
    await records.setDue(task.id, parts.now() + queueTimeoutMs);
    if (task.waitsFor.length > 0) await link(task, task.waitsFor);
    else await release(task);
    if (task.failedRecoveries !== undefined) await change(task.id, { type: 'recovered' });
  }

  /**
   * Counts a failed recovery of a task. After the last attempt the task is failed, and as much as possible of what
   * follows from its end is done. Returns whether the task was given up.
   */
  async function recoveryFailed({ id }: Task): Promise<boolean> {
    const decision = await change(id, { type: 'recoveryFailed', failure: notRecovered });
    if (decision.outcome !== 'changed' || (decision.task.failedRecoveries ?? 0) < maxRecoveries) return false;
    await settle(decision.task, orGoOn);
    return true;
  }

  /** Counts a failed recovery of a job, and gives up its pending events after the last attempt. */
  async function jobRecoveryFailed({ id }: Job): Promise<boolean> {
    const job = await records.changeJob(id, (latest) => decideJob(latest, { type: 'recoveryFailed' }, parts.now()));
    if (!job || (job.failedRecoveries ?? 0) < maxRecoveries) return false;
    if (job.status === 'deleted') await records.deleteJob(id);
    return true;
  }

  return {
    apply,
    commit,
    create,
    settle,
    settleAgain,
    inputsOf,
    deleteJob,
    isLate,
    recover,
    recoverJob,
    recoveryFailed,
    jobRecoveryFailed,
  };
}

/** Runs a step of settling; the second argument is the result to continue with where the step may fail. */
type Run = <T>(work: () => Promise<T>, otherwise: T) => Promise<T>;
const orThrow: Run = (work) => work();
const rethrow = (error: unknown): never => {
  throw error;
};
const orGoOn: Run = (work, otherwise) => work().catch(() => otherwise);

const notRecovered: TaskFailure = {
  errorCode: 'processing_failed',
  msg: 'The task could not be resumed after several attempts because of an internal error. Create it again.',
};

const uploadTimedOut: TaskFailure = {
  errorCode: 'upload_timeout',
  msg: 'No file was uploaded to the form address in time. Create a new import/upload task and post the file sooner.',
};

/** The failure of a task that no worker survived. */
export const workersLost: TaskFailure = {
  errorCode: 'processing_failed',
  msg: 'The file could not be processed: every attempt ended without a result. It may be damaged or too large for the engine.',
};

function isRunnable(task: Task): boolean {
  return task.status === 'created' && task.waitsFor.length === 0;
}

function missingInput(id: string): TaskFailure {
  return { errorCode: 'processing_failed', msg: `The input task ${id} no longer exists.` };
}

function failureOfInput(input: Task): TaskFailure {
  return {
    errorCode: input.status === 'deleted' ? 'user_deleted_task' : 'processing_failed',
    msg: `The input ${describeEnd(input)}`,
  };
}

function describeEnd(task: Task): string {
  const which = `task "${task.name}" (${task.id})`;
  if (task.status === 'canceled') return `${which} was canceled.`;
  if (task.status === 'deleted') return `${which} was deleted.`;
  return `${which} failed: ${task.failure?.msg ?? task.failure?.errorCode ?? 'no reason was recorded.'}`;
}

function jobErrorOf(task: Task): JobErrorCode {
  if (task.status === 'canceled') return 'task_canceled';
  return task.status === 'deleted' ? 'task_deleted' : 'task_failed';
}

const inFlight = 16;

async function forEach<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const queue = items.values();
  const lane = async () => {
    for (const item of queue) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(inFlight, items.length) }, lane));
}
