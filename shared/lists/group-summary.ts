import { taskIdsOf } from '../ids.ts';

export type GroupKind = 'job' | 'task';

/** A job with its tasks, or a task without a job, as the owner's index holds it. */
export interface GroupSummary {
  id: string;
  kind: GroupKind;
  expiresAt: string;
  /** Absent until the group has ended. */
  endStatus?: string;
  /** Number of tasks by operation, including deleted ones. */
  operations: Record<string, number>;
  /** Deleted tasks, each as its operation, a space and its id. */
  gone: string[];
}

/** The filter of a list. */
export interface ListFilter {
  status?: string | undefined;
  /** Only for tasks. */
  operation?: string | undefined;
}

/** Returns the number of tasks of a group, including deleted ones. */
export function sizeOf({ operations }: Pick<GroupSummary, 'operations'>): number {
  return Object.values(operations).reduce((sum, number) => sum + number, 0);
}

/** Returns the number of tasks of a group by operation, excluding deleted ones. */
export function liveOperations({
  operations,
  gone,
}: Pick<GroupSummary, 'operations' | 'gone'>): Record<string, number> {
  if (gone.length === 0) return operations;
  const left = { ...operations };
  for (const entry of gone) {
    const [operation = ''] = entry.split(' ', 1);
    left[operation] = Math.max(0, (left[operation] ?? 0) - 1);
  }
  return left;
}

/** Returns the ids of a group's tasks, newest first, excluding deleted ones. */
export function liveTaskIds(group: GroupSummary): string[] {
  if (group.kind === 'task') return [group.id];
  const gone = new Set(group.gone.map((entry) => entry.slice(entry.indexOf(' ') + 1)));
  return taskIdsOf(group.id, sizeOf(group))
    .filter((id) => !gone.has(id))
    .reverse();
}

/** The number of a group's records in a list: exact, or a maximum if only the records can tell. */
export interface Estimate {
  max: number;
  isExact: boolean;
}

const none: Estimate = { max: 0, isExact: true };

/** Returns how many tasks of a group match a filter. */
export function estimateTasks(group: GroupSummary, { status, operation }: ListFilter): Estimate {
  const live = liveOperations(group);
  const max = operation === undefined ? sizeOf({ operations: live }) : (live[operation] ?? 0);
  if (status === undefined || max === 0) return { max, isExact: true };
  if (areStatusesKnown(group)) return group.endStatus === status ? { max, isExact: true } : none;
  return { max, isExact: false };
}

/** Returns whether a group is a job that matches a filter. */
export function estimateJobs(group: GroupSummary, { status }: ListFilter): Estimate {
  if (group.kind !== 'job') return none;
  if (status === undefined) return { max: 1, isExact: true };
  if (group.endStatus === undefined) return { max: 1, isExact: false };
  return group.endStatus === status ? { max: 1, isExact: true } : none;
}

/** Returns whether all tasks of a group have its end status. Those of a failed job may have any, and may still run. */
export function areStatusesKnown({ kind, endStatus }: GroupSummary): boolean {
  return endStatus !== undefined && !(kind === 'job' && endStatus === 'failed');
}
