import { taskIdsOf } from '../ids.ts';
import type { Job } from '../jobs/job.ts';
import { hasEnded, type Task } from '../tasks/task.ts';
import { areStatusesKnown, type GroupSummary, type ListFilter, liveOperations, sizeOf } from './group-summary.ts';
import { isCountable } from './slots.ts';

/** Numbers of jobs by status, and of tasks by status and operation, separated by a space. */
export interface Tally {
  jobs: Record<string, number>;
  tasks: Record<string, number>;
}

/** A group that was not settled when it was counted: its statuses may have changed since, or were not read. */
export interface Unsettled {
  id: string;
  /** Number of tasks of the job, including deleted ones; 0 for a task without a job. */
  size: number;
  isFailed: boolean;
}

/** The counts of the groups of a slot, excluding deleted ones. A deletion is the only change that makes them outdated. */
export interface Counts {
  jobs: number;
  /** Tasks by operation, in any status. */
  tasks: Record<string, number>;
  /** The statuses of settled groups. */
  settled: Tally;
  /** The other groups; undefined if they are too many to be stored. */
  unsettled: Unsettled[] | undefined;
  /** When the first and the last group expire, in milliseconds. */
  firstExpiry: number;
  lastExpiry: number;
}

/** The stored counts of a slot. */
export interface CountedSlot extends Counts {
  /** When the counting began, in milliseconds. */
  countedAt: number;
}

/** The counted slots of an owner in one hour. */
export interface CountedHour {
  hour: number;
  /** Counts every write, so that one list does not overwrite the counts of another; 0 if nothing is stored. */
  version: number;
  slots: Map<number, CountedSlot>;
  /** When a deletion in a slot was last announced, in milliseconds, by slot. */
  changedAt: Map<number, number>;
}

/** Maximum number of unsettled groups that are stored for a slot, because every list reads them all. */
const maxUnsettled = 50;

/** Returns the stored counts of a slot if no deletion has made them outdated. */
export function validCounts({ slots, changedAt }: CountedHour, slot: number): CountedSlot | undefined {
  const counts = slots.get(slot);
  return counts && isCountable(slot, changedAt.get(slot), counts.countedAt) ? counts : undefined;
}

/** Sets the counts of a slot, in place. */
export function setCounts({ slots }: CountedHour, slot: number, counts: Counts, countedAt: number): void {
  const isShort = counts.unsettled !== undefined && counts.unsettled.length <= maxUnsettled;
  slots.set(slot, { ...counts, countedAt, unsettled: isShort ? counts.unsettled : undefined });
}

/** Returns empty counts. */
export function noCounts(): Counts {
  return { jobs: 0, tasks: {}, settled: noTally(), unsettled: [], firstExpiry: Number.MAX_SAFE_INTEGER, lastExpiry: 0 };
}

/** Returns an empty tally. */
export function noTally(): Tally {
  return { jobs: {}, tasks: {} };
}

/** Adds a group to counts, in place. */
export function addGroup(counts: Counts, group: GroupSummary): void {
  const live = liveOperations(group);
  const isJob = group.kind === 'job';
  if (isJob) counts.jobs += 1;
  for (const [operation, number] of Object.entries(live)) add(counts.tasks, operation, number);
  const expiry = Date.parse(group.expiresAt);
  counts.firstExpiry = Math.min(counts.firstExpiry, expiry);
  counts.lastExpiry = Math.max(counts.lastExpiry, expiry);
  if (group.endStatus !== undefined && areStatusesKnown(group))
    addToTally(counts.settled, isJob, group.endStatus, live);
  else
    counts.unsettled?.push({
      id: group.id,
      size: isJob ? sizeOf(group) : 0,
      isFailed: isJob && group.endStatus === 'failed',
    });
}

/** Adds a group to a tally, in place. All of its tasks have the same status. */
function addToTally(tally: Tally, isJob: boolean, status: string, operations: Record<string, number>): void {
  if (isJob) add(tally.jobs, status, 1);
  for (const [operation, number] of Object.entries(operations)) add(tally.tasks, `${status} ${operation}`, number);
}

/** Adds a tally to another, in place. */
export function addTally(sum: Tally, other: Tally): void {
  for (const [status, number] of Object.entries(other.jobs)) add(sum.jobs, status, number);
  for (const [name, number] of Object.entries(other.tasks)) add(sum.tasks, name, number);
}

function add(numbers: Record<string, number>, name: string, number: number): void {
  numbers[name] = (numbers[name] ?? 0) + number;
}

/** Returns how many tasks match a filter. The unsettled groups have a tally of their own. */
export function countTasks(counts: Counts, unsettled: Tally, { status, operation }: ListFilter): number {
  const byOperation = (numbers: Record<string, number>, prefix: string) =>
    operation !== undefined
      ? (numbers[prefix + operation] ?? 0)
      : Object.entries(numbers).reduce((sum, [name, number]) => (name.startsWith(prefix) ? sum + number : sum), 0);
  if (status === undefined) return byOperation(counts.tasks, '');
  return byOperation(counts.settled.tasks, `${status} `) + byOperation(unsettled.tasks, `${status} `);
}

/** Returns how many jobs match a filter. The unsettled groups have a tally of their own. */
export function countJobs(counts: Counts, unsettled: Tally, { status }: ListFilter): number {
  if (status === undefined) return counts.jobs;
  return (counts.settled.jobs[status] ?? 0) + (unsettled.jobs[status] ?? 0);
}

/** The records of unsettled groups, by id. Tasks are undefined if only the jobs matter. */
export interface UnsettledRecords {
  jobs: Map<string, Job>;
  tasks: Map<string, Task> | undefined;
}

/** Returns the current statuses of a group, and the group as it is to be stored; undefined once it is settled. */
export function statusesOf(group: Unsettled, records: UnsettledRecords): { tally: Tally; rest: Unsettled | undefined } {
  return group.size === 0 ? statusOfTask(group, records) : statusesOfJob(group, records);
}

function statusOfTask(group: Unsettled, { tasks }: UnsettledRecords) {
  const tally = noTally();
  const task = tasks?.get(group.id);
  // A group that was deleted meanwhile no longer counts, and its deletion makes the counts of the slot outdated.
  if (!task || task.status === 'deleted') return { tally, rest: group };
  addToTally(tally, false, task.status, { [task.operation]: 1 });
  return { tally, rest: hasEnded(task) ? undefined : group };
}

function statusesOfJob(group: Unsettled, { jobs, tasks }: UnsettledRecords) {
  const tally = noTally();
  const job = jobs.get(group.id);
  const status = group.isFailed ? 'failed' : job?.status;
  if (status === undefined || status === 'deleted') return { tally, rest: group };
  if (status === 'completed' && job) {
    addToTally(tally, true, status, liveOperations({ operations: job.operations, gone: job.gone ?? [] }));
    return { tally, rest: undefined };
  }
  add(tally.jobs, status, 1);
  const isFailed = status === 'failed';
  if (!tasks) return { tally, rest: { ...group, isFailed } };
  const own = taskIdsOf(group.id, group.size).flatMap((id) => tasks.get(id) ?? []);
  for (const task of own) if (task.status !== 'deleted') add(tally.tasks, `${task.status} ${task.operation}`, 1);
  return { tally, rest: isFailed && own.every(hasEnded) ? undefined : { ...group, isFailed } };
}
