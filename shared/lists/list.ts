import type { Job } from '../jobs/job.ts';
import { isDeletedOrExpired, type Task } from '../tasks/task.ts';
import { countAll } from './count-slots.ts';
import { countJobs, countTasks } from './counts.ts';
import {
  estimateJobs,
  estimateTasks,
  type GroupKind,
  type GroupSummary,
  type ListFilter,
  liveTaskIds,
} from './group-summary.ts';
import { newestFirst } from './read-groups.ts';
import { readPage } from './read-page.ts';
import { readStatuses } from './read-statuses.ts';
import { idsOfSlots } from './slots.ts';
import { storeFresh } from './store-counts.ts';
import {
  inOrder,
  type Listing,
  type ListPage,
  type ListWindow,
  type OwnedRecords,
  type Shown,
  slotsOf,
} from './view.ts';

/** Lists the tasks of an owner, newest first. Those of a job are consecutive, in reverse request order. */
export function listTasks(owned: OwnedRecords, filter: ListFilter, window: ListWindow): Promise<ListPage<Task>> {
  const { status, operation } = filter;
  return list(owned, window, {
    filter,
    kinds: ['job', 'task'],
    isWhole: status === undefined && operation === undefined,
    estimate: estimateTasks,
    count: countTasks,
    idsOf: liveTaskIds,
    read: owned.tasks,
    matches: (task) => isEither(status, task.status) && isEither(operation, task.operation),
    needsTaskStatuses: true,
  });
}

/** Lists the jobs of an owner, newest first. A tag is found by reading all jobs. */
export function listJobs(
  owned: OwnedRecords,
  { tag, ...filter }: ListFilter & { tag?: string | undefined },
  window: ListWindow,
): Promise<ListPage<Job>> {
  const { status } = filter;
  return list(owned, window, {
    filter,
    ...(tag ? { tag } : {}),
    kinds: tag ? ['job'] : ['job', 'task'],
    isWhole: status === undefined,
    estimate: estimateJobs,
    count: countJobs,
    idsOf: ({ id }) => [id],
    read: owned.jobs,
    matches: (job) => isEither(status, job.status),
    needsTaskStatuses: false,
  });
}

/** Lists the tasks of a job in reverse request order. */
export async function listTasksOfJob(
  owned: OwnedRecords,
  { user, job: id, status, operation }: ListFilter & { user: string; job: string },
  { now, skip, limit }: ListWindow,
): Promise<ListPage<Task>> {
  const [job] = await owned.jobs([id]);
  // The id of a task also leads to its job.
  if (job?.id !== id || job.user !== user || isDeletedOrExpired(job, now)) return { docs: [], total: 0 };
  const tasks = inOrder(job.tasks.toReversed(), await owned.tasks(job.tasks));
  const matches = tasks.filter(
    (task) => isEither(status, task.status) && isEither(operation, task.operation) && !isDeletedOrExpired(task, now),
  );
  return { docs: matches.slice(skip, skip + limit), total: matches.length };
}

/** Returns the newest tasks of an owner. */
export async function newestTasks(owned: OwnedRecords, window: ListWindow): Promise<Task[]> {
  const [jobs, alone] = await Promise.all([newestGroups(owned, 'job', window), newestGroups(owned, 'task', window)]);
  const groups = [...jobs, ...alone].sort(newestFirst);
  const ids = groups.flatMap(liveTaskIds).slice(0, window.limit);
  return inOrder(ids, await owned.tasks(ids)).filter((task) => !isDeletedOrExpired(task, window.now));
}

/** Returns the newest jobs of an owner. */
export async function newestJobs(owned: OwnedRecords, window: ListWindow): Promise<Job[]> {
  const ids = (await newestGroups(owned, 'job', window)).map(({ id }) => id);
  return inOrder(ids, await owned.jobs(ids)).filter((job) => !isDeletedOrExpired(job, window.now));
}

function newestGroups(owned: OwnedRecords, kind: GroupKind, window: ListWindow): Promise<GroupSummary[]> {
  const { oldest, newest } = slotsOf(window);
  return owned.groups({ kind, range: idsOfSlots(oldest, newest), limit: window.limit });
}

async function list<T extends Shown>(
  owned: OwnedRecords,
  window: ListWindow,
  listing: Listing<T>,
): Promise<ListPage<T>> {
  // Lists never show deleted records.
  if (listing.filter.status === 'deleted') return { docs: [], total: 0 };
  const view = await countAll(owned, window, listing);
  if (listing.filter.status !== undefined) await readStatuses(view);
  const numbers = view.slots.map(({ counts, unsettled }) => listing.count(counts, unsettled, listing.filter));
  const total = numbers.reduce((sum, number) => sum + number, 0);
  const [docs] = await Promise.all([readPage(view, numbers), storeFresh(view)]);
  return { docs, total };
}

function isEither(wanted: string | undefined, value: string): boolean {
  return wanted === undefined || wanted === value;
}
