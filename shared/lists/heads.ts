import { taskIdsOf } from '../ids.ts';

export type HeadKind = 'job' | 'task';

/** The head of a group as the index of an owner holds it: a job, or a task without one. */
export interface Head {
  id: string;
  kind: HeadKind;
  expiresAt: string;
  /** Absent until the group has ended. */
  endStatus?: string;
  /** How many tasks it has of which operation, deleted ones included. */
  operations: Record<string, number>;
  /** Its deleted tasks, each with its operation before its id. */
  gone: string[];
}

/** What a list is limited to. */
export interface ListFilter {
  status?: string | undefined;
  /** Of tasks only. */
  operation?: string | undefined;
}

/** Returns how many tasks a group has, deleted ones included. */
export function sizeOf({ operations }: Pick<Head, 'operations'>): number {
  return Object.values(operations).reduce((sum, part) => sum + part, 0);
}

/** Returns how many tasks a group has of which operation, excluding deleted ones. */
export function liveOperations({ operations, gone }: Pick<Head, 'operations' | 'gone'>): Record<string, number> {
  if (gone.length === 0) return operations;
  const left = { ...operations };
  for (const entry of gone) {
    const [operation = ''] = entry.split(' ', 1);
    left[operation] = Math.max(0, (left[operation] ?? 0) - 1);
  }
  return left;
}

/** Returns the ids of a group's tasks, newest first, excluding deleted ones. */
export function liveTaskIds(head: Head): string[] {
  if (head.kind === 'task') return [head.id];
  const gone = new Set(head.gone.map((entry) => entry.slice(entry.indexOf(' ') + 1)));
  return taskIdsOf(head.id, sizeOf(head))
    .filter((id) => !gone.has(id))
    .reverse();
}

/** How many records of a list a head stands for: exactly, or at most where only its records tell. */
export interface Estimate {
  max: number;
  isExact: boolean;
}

const none: Estimate = { max: 0, isExact: true };

/** Returns how many tasks of a group match a filter. */
export function estimateTasks(head: Head, { status, operation }: ListFilter): Estimate {
  const live = liveOperations(head);
  const max = operation === undefined ? sizeOf({ operations: live }) : (live[operation] ?? 0);
  if (status === undefined || max === 0) return { max, isExact: true };
  if (areStatusesKnown(head)) return head.endStatus === status ? { max, isExact: true } : none;
  return { max, isExact: false };
}

/** Returns whether a head is one of a job that matches a filter. */
export function estimateJobs(head: Head, { status }: ListFilter): Estimate {
  if (head.kind !== 'job') return none;
  if (status === undefined) return { max: 1, isExact: true };
  if (head.endStatus === undefined) return { max: 1, isExact: false };
  return head.endStatus === status ? { max: 1, isExact: true } : none;
}

/** Returns whether all tasks of a group have the status of its head: those of a failed job have various ones, and may run. */
export function areStatusesKnown({ kind, endStatus }: Head): boolean {
  return endStatus !== undefined && !(kind === 'job' && endStatus === 'failed');
}
