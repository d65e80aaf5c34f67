import type { Job } from '../jobs/job.ts';
import type { Task } from '../tasks/task.ts';
import type { CountedHour } from './counted-hour.ts';
import type { Counts, Tally } from './counts.ts';
import type { Estimate, Head, HeadKind, ListFilter } from './heads.ts';
import { type IdRange, slotAt } from './slots.ts';

/** Which heads to read: the newest so many of a range. */
export interface HeadQuery {
  kind: HeadKind;
  range: IdRange;
  limit: number;
  /** Only of jobs whose tag contains this. */
  tag?: string | undefined;
  /** Without those of groups that are completed. */
  isUncompleted?: boolean;
}

/** The records of one owner. */
export interface OwnedRecords {
  /** Returns heads that are neither deleted nor expired, newest first. May lag by minutes. */
  heads(query: HeadQuery): Promise<Head[]>;
  tasks(ids: string[]): Promise<Task[]>;
  jobs(ids: string[]): Promise<Job[]>;
  hours(oldest: number, newest: number): Promise<CountedHour[]>;
  /** Stores an hour unless it was changed since it was read; returns whether it was. */
  saveHour(hour: CountedHour): Promise<boolean>;
}

/** Which part of a list is wanted, and what is expired. */
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
  /** How many there are on all pages. */
  total: number;
}

/** What every record has that is listed. */
export interface Shown {
  id: string;
  status: string;
  expiresAt: string;
}

/** What is listed. */
export interface Listing<T> {
  filter: ListFilter;
  tag?: string;
  kinds: HeadKind[];
  /** Whether nothing but a tag limits the list. */
  isWhole: boolean;
  estimate(head: Head, filter: ListFilter): Estimate;
  count(counts: Counts, unsettled: Tally, filter: ListFilter): number;
  idsOf(head: Head): string[];
  read(ids: string[]): Promise<T[]>;
  matches(record: T): boolean;
  /** Whether statuses of tasks are of interest, and not only those of jobs. */
  settlesTasks: boolean;
}

/** A slot of a list, newest first. */
export interface Part {
  slot: number;
  counts: Counts;
  /** The statuses of the groups that are not settled. */
  unsettled: Tally;
  isCounted: boolean;
  /** How much of it is not kept: heads that were read, groups that were settled. */
  fresh: number;
}

export interface View<T> {
  owned: OwnedRecords;
  window: ListWindow;
  listing: Listing<T>;
  parts: Part[];
  hours: Map<number, CountedHour>;
  /** The newest heads, which were read to be counted, and are likely to be on the page. */
  newest: Chunk;
}

/** The newest heads of a range; the rest is what is older, where there may be more. */
export interface Chunk {
  heads: Head[];
  range: IdRange;
  rest?: IdRange;
}

const skewMs = 60_000;

/** Returns the slots in which everything is that may not have expired. */
export function slotsOf({ now, oldest }: ListWindow): { oldest: number; newest: number } {
  return { oldest: slotAt(oldest - skewMs), newest: slotAt(now + skewMs) };
}

/** Returns slots in runs of consecutive ones. */
export function runsOf(parts: Part[]): Part[][] {
  const runs: Part[][] = [];
  for (const part of parts) {
    const run = runs.at(-1);
    if (run?.at(-1)?.slot === part.slot + 1) run.push(part);
    else runs.push([part]);
  }
  return runs;
}

/** Returns records in the order of ids, excluding those that were not found. */
export function inOrder<T extends { id: string }>(ids: string[], records: T[]): T[] {
  const found = new Map(records.map((record) => [record.id, record]));
  return ids.flatMap((id) => found.get(id) ?? []);
}
