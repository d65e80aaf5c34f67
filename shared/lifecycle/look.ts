import { groupOfId } from '../ids.ts';
import type { Job } from '../jobs/job.ts';
import { afterFailedLook, lookPauseMs, maxRecoveries, nextLook } from '../tasks/due.ts';
import { hasEnded, isLastOfJob, isTask, type Task, type TaskFailure } from '../tasks/task.ts';
import { type Decision, heartbeatWindowMs, isExhausted, queueTimeoutMs, type TaskEvent } from '../tasks/transitions.ts';
import type { NoChange } from './change-record.ts';
import { endedBadly, workersLost } from './ends.ts';
import type { Group, LifecycleParts } from './parts.ts';

/** The files that clients post to the forms of their tasks. */
export interface PostedFiles {
  exists(task: Task): Promise<boolean>;
  /** Has the posted file of a task imported, as the notification of its arrival does. */
  importAgain(task: Task): Promise<void>;
}

const noFiles: PostedFiles = { exists: async () => false, importAgain: async () => undefined };

/** What a look of the sweep at a group found. */
export interface Look {
  /** Tasks that have been in their queue for so long that their messages were sent again. */
  late: Task[];
  /** What could not be done; it is attempted again later. */
  errors: unknown[];
  /** Whether it is attempted no more. */
  isGivenUp: boolean;
}

/** The steps of the lifecycle that a look repeats. */
interface Steps {
  apply(id: string, event: TaskEvent): Promise<unknown>;
  change(id: string, event: TaskEvent): Promise<Decision | NoChange>;
  link(task: Task, inputs: string[]): Promise<void>;
  wake(task: Task): Promise<void>;
  settle(ended: Task): Promise<void>;
  /** Settles an end but for what fails. */
  settleAsPossible(ended: Task): Promise<void>;
  publishPending(job: Job, tasks: Task[]): Promise<void>;
  publishEnds(tasks: Task[]): Promise<unknown>;
  completeJob(job: Job): Promise<void>;
  deleteTasks(job: Job, tasks: Task[]): Promise<void>;
}

/** Makes the look of the sweep at a group that is due. */
export function createLook(parts: LifecycleParts, steps: Steps) {
  const { records } = parts;

  /** Looks at a group that is due and repeats whatever was lost of it: messages, links, the consequences of ends. */
  async function look(head: Task | Job, posted: PostedFiles = noFiles): Promise<Look> {
    // What ends while this look goes on is left to the next.
    const now = parts.now();
    const late: Task[] = [];
    const errors: unknown[] = [];
    const stuck: Task[] = [];
    const step = async (work: () => Promise<unknown>, task?: Task) => {
      try {
        await work();
      } catch (error) {
        errors.push(error);
        if (task) stuck.push(task);
      }
    };
    let group: Group = { tasks: [] };
    await step(async () => {
      group = await groupToLookAt(head);
    });
    const { job, tasks } = group;
    if (job?.status === 'deleted') await step(() => steps.deleteTasks(job, tasks));
    else {
      if (job?.pendingEvents?.length) await step(() => steps.publishPending(job, tasks));
      const view = await viewOf(head, group);
      // Nothing shows whether the end of a task was published that ended neither its job nor the waiting of a dependent.
      const ends = tasks.filter(({ endedAt }) => endedAt !== undefined && Date.parse(endedAt) >= view.lastLook);
      if (job && !job.pendingEvents?.length) await step(() => steps.publishEnds(ends));
      // What has ended comes first, so that a job is failed by the cause and not by a dependent that waits for it.
      for (const task of tasks.toSorted((left, right) => Number(hasEnded(right)) - Number(hasEnded(left))))
        await step(async () => {
          if (await recoverTask(task, view, posted)) late.push(task);
        }, task);
      // A function that emptied the open set, or ended the last task of a failed job, may have died before it ended the job.
      if (job?.open.length === 0 || job?.status === 'failed') await step(() => steps.completeJob(job));
      if (errors.length === 0) await step(() => records.reschedule(head, nextLookAt(tasks), now));
    }
    return { late, errors, isGivenUp: errors.length > 0 && (await lookFailed(head, stuck, group)) };
  }

  /** Reads a group to look at; of a tombstone, which is due by itself, no more than that. */
  async function groupToLookAt(head: Task | Job): Promise<Group> {
    if (!isTask(head) || head.job === undefined) return records.group(head.id);
    const task = await records.task(head.id);
    return { tasks: task ? [task] : [] };
  }

  async function viewOf(head: Task | Job, { job, tasks }: Group): Promise<View> {
    const known = new Map(tasks.map((task) => [task.id, task]));
    const outside = [...new Set(tasks.flatMap((task) => task.dependsOn))].filter((id) => !known.has(id));
    if (outside.length > 0) for (const task of await records.tasks(outside)) known.set(task.id, task);
    return { job, known, lastLook: head.lookedAt ?? Date.parse(head.createdAt) };
  }

  /** Recovers a task of a group that is due. Returns whether it has been in its queue for so long that it was sent again. */
  async function recoverTask(task: Task, view: View, posted: PostedFiles): Promise<boolean> {
    const { job } = view;
    // Without its job, a task was never answered with a 201 and expires unseen; of a job that is deleted, tombstones may be left.
    if (task.job !== undefined && !job && task.status !== 'deleted') return false;
    if (hasEnded(task)) {
      if (isUnsettled(task, view)) await steps.settle(task);
      // That its secrets are deleted is recorded nowhere.
      else if (task.hasSecrets) await parts.deleteSecrets(task);
      return false;
    }
    if (task.form) {
      await recoverUpload(task, posted);
      return false;
    }
    if (task.status === 'processing') {
      const lostAt = (task.heartbeatAt ?? 0) + 2 * heartbeatWindowMs;
      if (!isTimeTo(lostAt, view.lastLook, true)) return false;
      if (isExhausted(task)) await steps.apply(task.id, { type: 'expired', failure: workersLost });
      else await steps.wake(task);
      return false;
    }
    return recoverWaiting(task, view);
  }

  /** Wakes a task that waits for its inputs or in its queue, where that was lost or took too long. */
  async function recoverWaiting(task: Task, { known, lastLook }: View): Promise<boolean> {
    const inputs = task.dependsOn.map((id) => known.get(id));
    const group = groupOfId(task.id);
    const unlinked = inputs.flatMap((input) =>
      input && !hasEnded(input) && groupOfId(input.id) !== group && !input.dependents.includes(task.id)
        ? [input.id]
        : [],
    );
    if (unlinked.length > 0) await steps.link(task, unlinked);
    if (inputs.some((input) => !input || endedBadly(input))) await steps.wake(task);
    if (!inputs.every((input) => input?.status === 'completed')) return false;
    const times = [task.createdAt, ...inputs.flatMap((input) => input?.endedAt ?? [])];
    const readyAt = Math.max(...times.map((time) => Date.parse(time)));
    if (!isTimeTo(readyAt, lastLook, false)) return false;
    await steps.wake(task);
    return true;
  }

  async function recoverUpload(task: Task, posted: PostedFiles): Promise<void> {
    // Its notification may have been lost, or be a dead letter, or its importer has died.
    if (await posted.exists(task)) await posted.importAgain(task);
    else if ((task.formUntil ?? 0) <= parts.now())
      await steps.apply(task.id, { type: 'expired', failure: uploadTimedOut });
  }

  /** Returns whether something that is missing since a time is to be repeated: every quarter of an hour, or also at once. */
  function isTimeTo(since: number, lastLook: number, atOnce: boolean): boolean {
    const periods = (time: number) => Math.floor((time - since) / queueTimeoutMs);
    return parts.now() >= since && periods(parts.now()) > Math.max(periods(lastLook), atOnce ? -1 : 0);
  }

  /** Returns when the sweep looks again at a group with these tasks, or undefined where nothing is left to look after. */
  function nextLookAt(tasks: Task[]): number | undefined {
    const now = parts.now();
    const open = tasks.filter((task) => !hasEnded(task));
    if (open.length === 0) return undefined;
    // A form is good for an hour, and most wait for seconds: the rare one that waits longer need not be looked at each time.
    const pauses = open.map(({ form, formUntil = 0 }) =>
      form ? Math.min(queueTimeoutMs, formUntil > now ? formUntil - now : queueTimeoutMs) : lookPauseMs,
    );
    return nextLook(now, Math.min(...pauses));
  }

  /**
   * Counts a look that failed. After the last attempt the tasks that could not be recovered are failed, and as much as possible
   * of what follows from that is done. Returns whether they were given up.
   */
  async function lookFailed(head: Task | Job, stuck: Task[], { job, tasks }: Group): Promise<boolean> {
    // The others go on, and are looked after.
    const others = tasks.some((task) => !hasEnded(task) && !stuck.includes(task));
    const again = others ? nextLook(parts.now(), queueTimeoutMs) : undefined;
    let isLast = false;
    const failed = <T extends Task | Job>(latest: T): T | undefined => {
      isLast = (latest.failedRecoveries ?? 0) + 1 >= maxRecoveries;
      return afterFailedLook(latest, parts.now(), again);
    };
    if (isTask(head)) await records.changeTask(head.id, (task) => decisionOf(failed(task)));
    else await records.changeJob(head.id, failed);
    if (!isLast) return false;
    const isDeleted = job?.status === 'deleted';
    for (const { id } of isDeleted ? tasks : stuck) {
      const event: TaskEvent = isDeleted ? { type: 'deleted' } : { type: 'expired', failure: notRecovered };
      const decision = await steps.change(id, event);
      const ended = decision.outcome === 'changed' ? decision.task : await records.task(id);
      if (ended && hasEnded(ended)) await steps.settleAsPossible(ended);
    }
    if (isDeleted) await records.deleteJob(job.id);
    return true;
  }

  return look;
}

/** What a look knows of a group beside each task. */
interface View {
  job: Job | undefined;
  /** The tasks of the group and their inputs outside it, by id. */
  known: Map<string, Task>;
  lastLook: number;
}

/** Returns whether something that follows from a task's end shows in the records as not done. */
function isUnsettled(task: Task, { job, known }: View): boolean {
  if (task.dueAt !== undefined) return true;
  if (!job) return false;
  if (isLastOfJob(task) && job.open.includes(task.openIn ?? task.id)) return true;
  if (!endedBadly(task)) return false;
  const isJobOpen = job.status === 'created' || job.status === 'processing';
  return isJobOpen || task.dependents.some((id) => isOpen(known.get(id)));
}

const notRecovered: TaskFailure = {
  errorCode: 'processing_failed',
  msg: 'The task could not be resumed after several attempts because of an internal error. Create it again.',
};

const uploadTimedOut: TaskFailure = {
  errorCode: 'upload_timeout',
  msg: 'No file was uploaded to the form address in time. Create a new import/upload task and post the file sooner.',
};

function decisionOf(task: Task | undefined): Decision {
  return task ? { outcome: 'changed', task } : { outcome: 'refused', reason: 'ended' };
}

function isOpen(task: Task | undefined): boolean {
  return task !== undefined && !hasEnded(task);
}
