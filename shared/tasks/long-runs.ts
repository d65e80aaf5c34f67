/** The long runs of an account on one engine: by name, the time in milliseconds until which each counts, even if it died. */
export type LongRuns = Record<string, number>;

/** How long a run may take before it counts. Shorter runs free their worker soon enough, and cost no write. */
export const longRunMs = 2_000;
/** How long a run counts after its last renewal. It renews three times within this time. */
export const longRunWindowMs = 60_000;

const minDelaySeconds = 2;
const maxDelaySeconds = 20;

/** Returns the name of a run of a task. */
export function runName({ id, attempt }: { id: string; attempt: number }): string {
  return `${id}#${attempt}`;
}

/**
 * Returns whether other tasks of the account already have the maximum number of long runs. A run checks once, when it is
 * recorded: the order of those writes decides, and not the clocks of the workers, which differ.
 */
export function isShareTaken(runs: LongRuns, taskId: string, share: number, now: number): boolean {
  const others = Object.entries(runs).filter(([name, until]) => until > now && !name.startsWith(`${taskId}#`));
  return others.length >= share;
}

/** Returns the runs that no longer count. */
export function expiredRuns(runs: LongRuns, now: number): string[] {
  return Object.keys(runs).filter((name) => (runs[name] ?? 0) <= now);
}

/**
 * Returns the delay until a returned task is delivered again, in seconds. It is a fraction of the time that the task has waited,
 * so that a free worker is used soon and a long backlog does not keep workers busy with deliveries.
 */
export function returnDelaySeconds(waitedMs: number): number {
  return Math.min(maxDelaySeconds, Math.max(minDelaySeconds, Math.ceil(waitedMs / 4_000)));
}
