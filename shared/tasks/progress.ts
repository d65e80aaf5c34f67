const shortestPauseMs = 1_000;
const longestPauseMs = 10_000;

/**
 * Returns how long to wait between two writes of a task's progress, however often its engine reports: a tenth of the
 * time it has run, so that a bar moves by about as much each time and a thousand long tasks write no more than a few.
 */
export function progressPauseMs(runningMs: number): number {
  return Math.min(longestPauseMs, Math.max(shortestPauseMs, runningMs / 10));
}
