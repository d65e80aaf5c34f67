/** What the head of a group, its job or its only task, holds for the sweep. */
export interface Due {
  /** When the sweep looks at the group, in milliseconds; absent when nothing of it is pending. */
  dueAt?: number;
  /** When the sweep last looked at it and nothing failed. */
  lookedAt?: number;
  /** How often in a row the sweep could not recover it. */
  failedRecoveries?: number;
}

/** Consecutive failed recoveries after which the sweep gives up a record. */
export const maxRecoveries = 5;

/** Returns the delay of the next recovery after a number of failed ones: 1, 2, 4, 8 minutes. */
export function recoveryDelayMs(failedRecoveries: number): number {
  return 60_000 * 2 ** (failedRecoveries - 1);
}

/** How long the sweep leaves a group alone of which something is queued or being worked on. */
export const checkDelayMs = 120_000;
const minuteMs = 60_000;

/** Returns the time of the next look, on a full minute where it is further away: the sweep comes no more often. */
export function nextCheck(now: number, pauseMs: number = checkDelayMs): number {
  const unit = pauseMs < minuteMs ? 1 : minuteMs;
  return Math.ceil((now + pauseMs) / unit) * unit;
}

/** Returns a head after a look that failed: due later each time, and after the last one at a given time or no more. */
export function afterFailedRecovery<T extends Due & { version: number }>(
  head: T,
  now: number,
  afterLast: number | undefined,
): T | undefined {
  if (head.dueAt === undefined) return undefined;
  const { dueAt: _dueAt, failedRecoveries: _failed, ...rest } = head;
  const failedRecoveries = (head.failedRecoveries ?? 0) + 1;
  const next =
    failedRecoveries < maxRecoveries
      ? { dueAt: now + recoveryDelayMs(failedRecoveries), failedRecoveries }
      : afterLast === undefined
        ? { failedRecoveries }
        : { dueAt: afterLast };
  // The rest of the record is unchanged, whichever kind it is of.
  return { ...(rest as T), ...next, version: head.version + 1 };
}
