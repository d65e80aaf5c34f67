import { groupOfId } from '../ids.ts';
import type { Job } from '../jobs/job.ts';
import { checkDelayMs, nextCheck } from '../tasks/due.ts';
import { hasEnded, isLastOfJob, type Task } from '../tasks/task.ts';
import { heartbeatWindowMs, isExhausted, queueTimeoutMs } from '../tasks/transitions.ts';
import { endedBadly } from './ends.ts';

/** A group as the sweep read it. */
export interface Snapshot {
  job: Job | undefined;
  /** The tasks of the group and their inputs outside it, by id. */
  known: Map<string, Task>;
  lastCheckedAt: number;
}

/** A step that repeats what was lost of a task. */
export type RecoveryStep =
  | { type: 'settle' | 'deleteSecrets' | 'checkUpload' | 'failExhausted' }
  | { type: 'link'; inputs: string[] }
  /** `isLate` is true if the task was in its queue for too long. */
  | { type: 'release'; isLate: boolean };

/** Returns the steps that recover a task of a group that is due. */
export function planRecovery(task: Task, snapshot: Snapshot, now: number): RecoveryStep[] {
  const { job, lastCheckedAt } = snapshot;
  // A task whose job was not written was never confirmed with a 201, and expires unseen. A deleted job may leave tombstones.
  if (task.job !== undefined && !job && task.status !== 'deleted') return [];
  if (hasEnded(task)) {
    if (isUnsettled(task, snapshot)) return [{ type: 'settle' }];
    // No record says whether its secrets are deleted.
    return task.hasSecrets ? [{ type: 'deleteSecrets' }] : [];
  }
  if (task.form) return [{ type: 'checkUpload' }];
  if (task.status === 'created') return planWaiting(task, snapshot, now);
  const lostAt = Math.max(task.heartbeatAt ?? 0, task.resumesAt ?? 0) + 2 * heartbeatWindowMs;
  if (!isPeriodOver(lostAt, 0, lastCheckedAt, now)) return [];
  return [isExhausted(task) ? { type: 'failExhausted' } : { type: 'release', isLate: false }];
}

/** Plans for a task that waits for its inputs, or in its queue. */
function planWaiting(task: Task, { known, lastCheckedAt }: Snapshot, now: number): RecoveryStep[] {
  const inputs = task.dependsOn.map((id) => known.get(id));
  if (inputs.every((input) => input?.status === 'completed')) {
    const times = [task.createdAt, ...inputs.flatMap((input) => input?.endedAt ?? [])];
    const readyAt = Math.max(...times.map((time) => Date.parse(time)));
    const isLate = isPeriodOver(readyAt, 1, lastCheckedAt, now);
    return isLate ? [{ type: 'release', isLate }] : [];
  }
  const group = groupOfId(task.id);
  const isUnlinked = (input: Task) =>
    !hasEnded(input) && groupOfId(input.id) !== group && !input.dependents.includes(task.id);
  const unlinked = inputs.flatMap((input) => (input && isUnlinked(input) ? [input.id] : []));
  const isFailed = inputs.some((input) => !input || endedBadly(input));
  return [
    ...(unlinked.length > 0 ? [{ type: 'link', inputs: unlinked } as const] : []),
    ...(isFailed ? [{ type: 'release', isLate: false } as const] : []),
  ];
}

/**
 * Returns whether another queue timeout has passed since the last check, counted from a time. A step is repeated once after
 * each of them, starting after the given number.
 */
function isPeriodOver(since: number, first: number, lastCheckedAt: number, now: number): boolean {
  const periodsAt = (time: number) => Math.floor((time - since) / queueTimeoutMs);
  return periodsAt(now) >= first && periodsAt(now) > periodsAt(lastCheckedAt);
}

/** Returns whether the records show that an end was not completely settled. */
function isUnsettled(task: Task, { job, known }: Snapshot): boolean {
  if (task.dueAt !== undefined) return true;
  if (!job) return false;
  if (isLastOfJob(task) && job.open.includes(task.openIn ?? task.id)) return true;
  if (!endedBadly(task)) return false;
  const isJobOpen = job.status === 'created' || job.status === 'processing';
  const isOpen = (dependent: Task | undefined) => dependent !== undefined && !hasEnded(dependent);
  return isJobOpen || task.dependents.some((id) => isOpen(known.get(id)));
}

/** Returns when the sweep checks a group with these tasks again; undefined if all have ended. */
export function nextCheckOf(tasks: Task[], now: number): number | undefined {
  const open = tasks.filter((task) => !hasEnded(task));
  if (open.length === 0) return undefined;
  // A form is valid for an hour and most receive their file within seconds, so a form alone is checked less often.
  const delays = open.map(({ form, formUntil = 0 }) =>
    form ? Math.min(queueTimeoutMs, formUntil > now ? formUntil - now : queueTimeoutMs) : checkDelayMs,
  );
  return nextCheck(now, Math.min(...delays));
}
