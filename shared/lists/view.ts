import type { Job } from '../jobs/job.ts';
import type { Task } from '../tasks/task.ts';
import type { CountedHour, Counts, Tally } from './counts.ts';
import type { Estimate, GroupKind, GroupSummary, ListFilter } from './group-summary.ts';
import { type IdRange, slotAt } from './slots.ts';

/** A query of the newest groups of a range. */
export interface GroupQuery {
  kind: GroupKind;
  range: IdRange;
  limit: number;
  /** Only jobs whose tag contains this. */
  tag?: string | undefined;
  /** Excludes completed groups. */
  isUncompleted?: boolean;
}

/** The records of one owner. */
export interface OwnedRecords {
  /** Returns groups that are neither deleted nor expired, newest first. The index may lag by minutes. */
  groups(query: GroupQuery): Promise<GroupSummary[]>;
  tasks(ids: string[]): Promise<Task[]>;
  jobs(ids: string[]): Promise<Job[]>;
  hours(oldest: number, newest: number): Promise<CountedHour[]>;
  /** Stores an hour unless it was changed since it was read. Returns whether it was stored. */
  saveHour(hour: CountedHour): Promise<boolean>;
}

/** The requested page of a list, and the time by which records expire. */
export interface ListWindow {
  now: number;
  /** Records from before this time are expired. */
  oldest: number;
  skip: number;
  limit: number;
}

/** A page of a list. */
export interface ListPage<T> {
  docs: T[];
  /** The number of records on all pages. */
  total: number;
}

/** The fields that all listed records have. */
export interface Shown {
  id: string;
  status: string;
  expiresAt: string;
}

/** The kind of a list: its filter, and how its records are counted and read. */
export interface Listing<T> {
  filter: ListFilter;
  tag?: string;
  kinds: GroupKind[];
  /** Whether the list has no filter but a tag. */
  isWhole: boolean;
  estimate(group: GroupSummary, filter: ListFilter): Estimate;
  count(counts: Counts, unsettled: Tally, filter: ListFilter): number;
  idsOf(group: GroupSummary): string[];
  read(ids: string[]): Promise<T[]>;
  matches(record: T): boolean;
  /** Whether the list needs the statuses of tasks, and not only those of jobs. */
  needsTaskStatuses: boolean;
}

/** A slot of a list with its counts. */
export interface ListSlot {
  slot: number;
  counts: Counts;
  /** The current statuses of the unsettled groups. */
  unsettled: Tally;
  isCounted: boolean;
  /** How many groups were counted or settled since the counts were stored. */
  fresh: number;
}

/** A list while it is being counted and read. */
export interface View<T> {
  owned: OwnedRecords;
  window: ListWindow;
  listing: Listing<T>;
  /** Newest first. */
  slots: ListSlot[];
  hours: Map<number, CountedHour>;
  /** The newest groups, which were read for counting and are likely to be on the page. */
  newest: Chunk;
}

/** The newest groups of a range, and the rest of the range if there may be more. */
export interface Chunk {
  groups: GroupSummary[];
  range: IdRange;
  rest?: IdRange;
}

const skewMs = 60_000;

/** Returns the slots that may hold records that have not expired. */
export function slotsOf({ now, oldest }: ListWindow): { oldest: number; newest: number } {
  return { oldest: slotAt(oldest - skewMs), newest: slotAt(now + skewMs) };
}

/** Groups slots into runs of consecutive ones. */
export function runsOf(slots: ListSlot[]): ListSlot[][] {
  const runs: ListSlot[][] = [];
  for (const listed of slots) {
    const run = runs.at(-1);
    if (run?.at(-1)?.slot === listed.slot + 1) run.push(listed);
    else runs.push([listed]);
  }
  return runs;
}

/** Returns records in the order of ids, excluding ids without a record. */
export function inOrder<T extends { id: string }>(ids: string[], records: T[]): T[] {
  const found = new Map(records.map((record) => [record.id, record]));
  return ids.flatMap((id) => found.get(id) ?? []);
}
