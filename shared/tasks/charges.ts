import { hasEnded, type Task } from './task.ts';

/** A change of what is taken from the allowance of an account, or of one of its keys, in a month. */
export interface Charge {
  user: string;
  month: string;
  /** The API key, where it is its allowance. */
  key?: string;
  /** Milliseconds more than before, or fewer. */
  ms: number;
  /** What all charges together may not exceed. */
  max: number;
}

/** What a task that ended adds to the usage of its account. */
export interface UsageEntry {
  user: string;
  task: string;
  /** The day of its end, such as `2026-11-16`. */
  day: string;
  ms: number;
  operation: string;
  formats?: string;
  key?: string;
}

/**
 * Returns what a change of a task changes in the allowances that it is taken from. Written together with the task, so that the
 * sum of what all tasks have taken is what is charged, whatever dies in between.
 */
export function chargesOf(before: Task, after: Task): Charge[] {
  const { limits, month } = after.meter ?? {};
  const ms = takenBy(after) - takenBy(before);
  if (!limits || month === undefined || ms === 0) return [];
  const { user, key } = after;
  return [
    ...(limits.account === undefined ? [] : [{ user, month, ms, max: limits.account }]),
    ...(limits.key === undefined || key === undefined ? [] : [{ user, month, key, ms, max: limits.key }]),
  ];
}

/** Returns what a change of a task adds to the usage of its account: once, when its engine time becomes known. */
export function usageOf(before: Task, after: Task): UsageEntry | undefined {
  const { usedMs, formats } = after.meter ?? {};
  if (!usedMs || before.meter?.usedMs !== undefined || after.endedAt === undefined) return undefined;
  const { user, id, operation, key } = after;
  return {
    user,
    task: id,
    day: after.endedAt.slice(0, 10),
    ms: usedMs,
    operation,
    ...(formats === undefined ? {} : { formats }),
    ...(key === undefined ? {} : { key }),
  };
}

/** Returns what a task takes from its allowances: what is set aside for it while it runs, and then what it has used. */
export function takenBy(task: Task): number {
  const { meter } = task;
  return (hasEnded(task) ? meter?.usedMs : meter?.reservedMs) ?? 0;
}
