import { taskIdsOf } from '../ids.ts';
import type { Job } from '../jobs/job.ts';
import { hasEnded, type Task } from '../tasks/task.ts';
import { areStatusesKnown, type Head, type ListFilter, liveOperations, sizeOf } from './heads.ts';

/** Numbers of jobs by status, and of tasks by status and operation, separated by a space. */
export interface Tally {
  jobs: Record<string, number>;
  tasks: Record<string, number>;
}

/** A group whose statuses may have changed since it was counted, or were not read. */
export interface Unsettled {
  id: string;
  /** How many tasks the job has, deleted ones included; 0 for a task without a job. */
  size: number;
  isFailed: boolean;
}

/** The groups of a slot, without deleted ones. */
export interface Counts {
  jobs: number;
  /** Tasks by operation, whatever their status, which only a deletion changes. */
  tasks: Record<string, number>;
  /** The statuses of groups that have ended, which only a deletion changes as well. */
  settled: Tally;
  /** The other groups; undefined where they are too many to be remembered. */
  unsettled: Unsettled[] | undefined;
  /** When the first and the last of them expire, in milliseconds. */
  firstExpiry: number;
  lastExpiry: number;
}

/** Returns the counts of no group. */
export function noCounts(): Counts {
  return { jobs: 0, tasks: {}, settled: noTally(), unsettled: [], firstExpiry: Number.MAX_SAFE_INTEGER, lastExpiry: 0 };
}

/** Returns a tally of nothing. */
export function noTally(): Tally {
  return { jobs: {}, tasks: {} };
}

/** Adds the head of a group to counts, in place. */
export function addHead(counts: Counts, head: Head): void {
  const live = liveOperations(head);
  const isJob = head.kind === 'job';
  if (isJob) counts.jobs += 1;
  for (const [operation, number] of Object.entries(live)) add(counts.tasks, operation, number);
  const expiry = Date.parse(head.expiresAt);
  counts.firstExpiry = Math.min(counts.firstExpiry, expiry);
  counts.lastExpiry = Math.max(counts.lastExpiry, expiry);
  if (head.endStatus !== undefined && areStatusesKnown(head)) addGroup(counts.settled, isJob, head.endStatus, live);
  else
    counts.unsettled?.push({
      id: head.id,
      size: isJob ? sizeOf(head) : 0,
      isFailed: isJob && head.endStatus === 'failed',
    });
}

/** Adds a group all of whose tasks have the same status to a tally, in place. */
function addGroup(tally: Tally, isJob: boolean, status: string, operations: Record<string, number>): void {
  if (isJob) add(tally.jobs, status, 1);
  for (const [operation, number] of Object.entries(operations)) add(tally.tasks, `${status} ${operation}`, number);
}

/** Adds a tally to another, in place. */
export function addTally(sum: Tally, part: Tally): void {
  for (const [status, number] of Object.entries(part.jobs)) add(sum.jobs, status, number);
  for (const [name, number] of Object.entries(part.tasks)) add(sum.tasks, name, number);
}

function add(numbers: Record<string, number>, name: string, number: number): void {
  numbers[name] = (numbers[name] ?? 0) + number;
}

/** Returns how many tasks match a filter; those that are not settled are given by a tally of their own. */
export function countTasks(counts: Counts, unsettled: Tally, { status, operation }: ListFilter): number {
  const byOperation = (numbers: Record<string, number>, prefix: string) =>
    operation !== undefined
      ? (numbers[prefix + operation] ?? 0)
      : Object.entries(numbers).reduce((sum, [name, number]) => (name.startsWith(prefix) ? sum + number : sum), 0);
  if (status === undefined) return byOperation(counts.tasks, '');
  return byOperation(counts.settled.tasks, `${status} `) + byOperation(unsettled.tasks, `${status} `);
}

/** Returns how many jobs match a filter; those that are not settled are given by a tally of their own. */
export function countJobs(counts: Counts, unsettled: Tally, { status }: ListFilter): number {
  if (status === undefined) return counts.jobs;
  return (counts.settled.jobs[status] ?? 0) + (unsettled.jobs[status] ?? 0);
}

/** The records of groups that are not settled, by id. Tasks are undefined where only the jobs are of interest. */
export interface UnsettledRecords {
  jobs: Map<string, Job>;
  tasks: Map<string, Task> | undefined;
}

/** Returns what a group is by its records now, and how it is to be remembered: not at all once nothing of it can change. */
export function settle(group: Unsettled, records: UnsettledRecords): { tally: Tally; rest: Unsettled | undefined } {
  return group.size === 0 ? settleTask(group, records) : settleJob(group, records);
}

function settleTask(group: Unsettled, { tasks }: UnsettledRecords) {
  const tally = noTally();
  const task = tasks?.get(group.id);
  // One that is deleted meanwhile is counted no more, and its slot is counted anew because of that.
  if (!task || task.status === 'deleted') return { tally, rest: group };
  addGroup(tally, false, task.status, { [task.operation]: 1 });
  return { tally, rest: hasEnded(task) ? undefined : group };
}

function settleJob(group: Unsettled, { jobs, tasks }: UnsettledRecords) {
  const tally = noTally();
  const job = jobs.get(group.id);
  const status = group.isFailed ? 'failed' : job?.status;
  if (status === undefined || status === 'deleted') return { tally, rest: group };
  if (status === 'completed' && job) {
    addGroup(tally, true, status, liveOperations({ operations: job.operations, gone: job.gone ?? [] }));
    return { tally, rest: undefined };
  }
  add(tally.jobs, status, 1);
  const isFailed = status === 'failed';
  if (!tasks) return { tally, rest: { ...group, isFailed } };
  const own = taskIdsOf(group.id, group.size).flatMap((id) => tasks.get(id) ?? []);
  for (const task of own) if (task.status !== 'deleted') add(tally.tasks, `${task.status} ${task.operation}`, 1);
  return { tally, rest: isFailed && own.every(hasEnded) ? undefined : { ...group, isFailed } };
}
