import type { Job } from '../jobs/job.ts';
import { afterFailedRecovery, maxRecoveries, nextCheck } from '../tasks/due.ts';
import { hasEnded, isTask, type Task, type TaskFailure } from '../tasks/task.ts';
import { type Decision, queueTimeoutMs, type TaskEvent } from '../tasks/transitions.ts';
import { changeTask } from './change.ts';
import { deleteTasks } from './delete.ts';
import type { Group, GroupRecord, LifecycleDependencies } from './dependencies.ts';
import { completeJob } from './end-job.ts';
import { workersLost } from './ends.ts';
import { nextCheckOf, planRecovery, type RecoveryStep, type Snapshot } from './plan-recovery.ts';
import { publishAll, publishPending } from './publish.ts';
import { link, readMissing, releaseIfReady } from './release.ts';
import { apply, settle, settleAsPossible, settleEnd } from './settle.ts';

/** The files that clients post to the forms of their tasks. */
export interface PostedFiles {
  exists(task: Task): Promise<boolean>;
  /** Imports the posted file of a task, as the notification of its arrival does. */
  importAgain(task: Task): Promise<void>;
}

const noFiles: PostedFiles = { exists: async () => false, importAgain: async () => undefined };

/** The result of recovering a group. */
export interface Recovery {
  /** Tasks that were in their queue for so long that they were queued again. */
  late: Task[];
  /** Steps that failed. They are attempted again later, unless the group is given up. */
  errors: unknown[];
  isGivenUp: boolean;
}

const notRecovered: TaskFailure = {
  errorCode: 'processing_failed',
  msg: 'The task could not be resumed after several attempts because of an internal error. Create it again.',
};

const uploadTimedOut: TaskFailure = {
  errorCode: 'upload_timeout',
  msg: 'No file was uploaded to the form address in time. Create a new import/upload task and post the file sooner.',
};

/** Checks a group that is due, and repeats what was lost: messages, links, events, the consequences of ends. */
export async function recover(
  deps: LifecycleDependencies,
  record: GroupRecord,
  posted: PostedFiles = noFiles,
): Promise<Recovery> {
  // Tasks that end during this check are left to the next.
  const now = deps.now();
  const late: Task[] = [];
  const errors: unknown[] = [];
  const stuck: Task[] = [];
  const attempt = async (step: () => Promise<unknown>, task?: Task) => {
    try {
      await step();
    } catch (error) {
      errors.push(error);
      if (task) stuck.push(task);
    }
  };
  let group: Group = { tasks: [] };
  await attempt(async () => {
    group = await readGroup(deps, record);
  });
  const { job, tasks } = group;
  if (job?.status === 'deleted') await attempt(() => deleteTasks(deps, job, tasks));
  else {
    if (job?.pendingEvents?.length) await attempt(() => publishPending(deps, job, tasks));
    const snapshot = await snapshotOf(deps, record, group);
    if (job && !job.pendingEvents?.length) await attempt(() => publishEnds(deps, tasks, snapshot));
    // Ended tasks come first, so that the cause fails a job and not a dependent that waits for it.
    for (const task of tasks.toSorted((left, right) => Number(hasEnded(right)) - Number(hasEnded(left))))
      await attempt(async () => {
        for (const step of planRecovery(task, snapshot, deps.now())) {
          await recoverTask(deps, task, step, posted);
          if (step.type === 'release' && step.isLate) late.push(task);
        }
      }, task);
    // The function that emptied the open set, or ended the last task of a failed job, may have died before it ended the job.
    if (job?.open.length === 0 || job?.status === 'failed') await attempt(() => completeJob(deps, job));
    if (errors.length === 0) await attempt(() => deps.records.reschedule(record, nextCheckOf(tasks, deps.now()), now));
  }
  return { late, errors, isGivenUp: errors.length > 0 && (await countFailure(deps, record, stuck, group)) };
}

/** Reads the group of a record that is due, or just the task if it is a tombstone, which is due on its own. */
async function readGroup({ records }: LifecycleDependencies, record: GroupRecord): Promise<Group> {
  if (!isTask(record) || record.job === undefined) return records.group(record.id);
  const task = await records.task(record.id);
  return { tasks: task ? [task] : [] };
}

async function snapshotOf(deps: LifecycleDependencies, record: GroupRecord, { job, tasks }: Group): Promise<Snapshot> {
  const known = new Map(tasks.map((task) => [task.id, task]));
  await readMissing(deps, [...new Set(tasks.flatMap((task) => task.dependsOn))], known);
  return { job, known, lastCheckedAt: record.lookedAt ?? Date.parse(record.createdAt) };
}

/** Publishes the ends since the last check again. No record shows whether all of them were published. */
async function publishEnds(deps: LifecycleDependencies, tasks: Task[], { lastCheckedAt }: Snapshot): Promise<void> {
  const ends = tasks.filter(({ endedAt }) => endedAt !== undefined && Date.parse(endedAt) >= lastCheckedAt);
  await publishAll(deps, undefined, ends);
}

async function recoverTask(
  deps: LifecycleDependencies,
  task: Task,
  step: RecoveryStep,
  posted: PostedFiles,
): Promise<unknown> {
  switch (step.type) {
    case 'settle':
      return settle(deps, task);
    case 'deleteSecrets':
      return deps.deleteSecrets(task);
    case 'checkUpload':
      return recoverUpload(deps, task, posted);
    case 'failExhausted':
      return apply(deps, task.id, { type: 'expired', failure: workersLost });
    case 'link':
      return settleEnd(deps, await link(deps, task, step.inputs));
    case 'release':
      return settleEnd(deps, await releaseIfReady(deps, task));
  }
}

async function recoverUpload(deps: LifecycleDependencies, task: Task, posted: PostedFiles): Promise<void> {
  // The notification may have been lost or be a dead letter, or its importer may have died.
  if (await posted.exists(task)) await posted.importAgain(task);
  else if ((task.formUntil ?? 0) <= deps.now())
    await apply(deps, task.id, { type: 'expired', failure: uploadTimedOut });
}

/**
 * Counts a failed recovery. After the last attempt it fails the tasks that could not be recovered, and settles as much of their
 * ends as possible. Returns whether they were given up.
 */
async function countFailure(
  deps: LifecycleDependencies,
  record: GroupRecord,
  stuck: Task[],
  { job, tasks }: Group,
): Promise<boolean> {
  // The other tasks continue, and the sweep keeps checking them.
  const others = tasks.some((task) => !hasEnded(task) && !stuck.includes(task));
  const again = others ? nextCheck(deps.now(), queueTimeoutMs) : undefined;
  let isLast = false;
  const failed = <T extends Task | Job>(latest: T): T | undefined => {
    isLast = (latest.failedRecoveries ?? 0) + 1 >= maxRecoveries;
    return afterFailedRecovery(latest, deps.now(), again);
  };
  if (isTask(record)) await deps.records.changeTask(record.id, (task) => decisionOf(failed(task)));
  else await deps.records.changeJob(record.id, failed);
  if (!isLast) return false;
  const isDeleted = job?.status === 'deleted';
  const event: TaskEvent = isDeleted ? { type: 'deleted' } : { type: 'expired', failure: notRecovered };
  for (const { id } of isDeleted ? tasks : stuck) {
    const decision = await changeTask(deps, id, event);
    const ended = decision.outcome === 'changed' ? decision.task : await deps.records.task(id);
    if (ended && hasEnded(ended)) await settleAsPossible(deps, ended);
  }
  if (isDeleted) await deps.records.deleteJob(job.id);
  return true;
}

function decisionOf(task: Task | undefined): Decision {
  return task ? { outcome: 'changed', task } : { outcome: 'refused', reason: 'ended' };
}
