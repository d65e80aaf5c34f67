/**
 * The long runs of an account on one engine: until when each counts, in milliseconds, by its name. A run that died counts until
 * then and no longer.
 */
export type LongRuns = Record<string, number>;

/** How long a run may take before it counts. Shorter ones free their worker soon enough, and cost no write. */
export const longRunMs = 2_000;
/** For how long a run counts after it last said that it goes on; it says so three times within this time. */
export const longRunWindowMs = 60_000;

const minDelaySeconds = 2;
const maxDelaySeconds = 20;

/** Names a run of a task. */
export function runName({ id, attempt }: { id: string; attempt: number }): string {
  return `${id}#${attempt}`;
}

/**
 * Returns whether other tasks of the account have all the runs that one account may have. A run asks once, when it is recorded,
 * so that the order of those writes decides and not the clocks of workers, which differ.
 */
export function isShareTaken(runs: LongRuns, taskId: string, share: number, now: number): boolean {
  const others = Object.entries(runs).filter(([name, until]) => until > now && !name.startsWith(`${taskId}#`));
  return others.length >= share;
}

/** Returns the runs that count no longer. */
export function expiredRuns(runs: LongRuns, now: number): string[] {
  return Object.keys(runs).filter((name) => (runs[name] ?? 0) <= now);
}

/**
 * Returns after how many seconds a task that was given back is delivered again: a fraction of the time that it has waited, so
 * that a place is not left empty for long, and a long backlog does not keep the workers busy with deliveries.
 */
export function returnDelaySeconds(waitedMs: number): number {
  return Math.min(maxDelaySeconds, Math.max(minDelaySeconds, Math.ceil(waitedMs / 4_000)));
}
