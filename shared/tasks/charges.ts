import { defined } from '../defined.ts';
import { hasEnded, type Task } from './task.ts';

/** A change of the engine time that is charged to an account, or to one of its keys, in a month. */
export interface Charge {
  user: string;
  month: string;
  /** The API key whose allowance is charged; absent for the account's. */
  key?: string;
  /** Milliseconds to add; negative if they are returned. */
  ms: number;
  /** The allowance: the maximum sum of all charges. */
  max: number;
}

/** The usage that an ended task adds to its account. */
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
 * Returns the charges of a change of a task. They are written together with the task, so that they always equal the sum of what
 * all tasks have reserved and used, whatever crashes in between.
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

/** Returns the usage that a change of a task adds to its account. It is added once, when the engine time becomes known. */
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
    ...defined({ formats, key }),
  };
}

/** Returns the engine time that a task takes from its allowances: reserved while it runs, used after its end. */
export function takenBy(task: Task): number {
  const { meter } = task;
  return (hasEnded(task) ? meter?.usedMs : meter?.reservedMs) ?? 0;
}
