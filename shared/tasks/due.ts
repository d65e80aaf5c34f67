/** The schedule of a group for the sweep, held by its job or its only task. */
export interface Due {
  /** When the sweep checks the group, in milliseconds; absent if nothing of it is pending. */
  dueAt?: number;
  /** When the sweep last checked the group without a failure, in milliseconds. */
  lookedAt?: number;
  /** The number of consecutive failed recoveries. */
  failedRecoveries?: number;
}

/** Consecutive failed recoveries after which the sweep gives up. */
export const maxRecoveries = 5;

/** Returns the backoff after a number of failed recoveries: 1, 2, 4, 8 minutes. */
export function recoveryDelayMs(failedRecoveries: number): number {
  return 60_000 * 2 ** (failedRecoveries - 1);
}

/** Delay between sweeps of an active group. */
export const checkDelayMs = 120_000;
const minuteMs = 60_000;

/** Returns the time of the next check. A delay of a minute or more ends on a full minute, because the sweep runs every minute. */
export function nextCheck(now: number, delayMs: number = checkDelayMs): number {
  const unit = delayMs < minuteMs ? 1 : minuteMs;
  return Math.ceil((now + delayMs) / unit) * unit;
}

/** Returns a record after a failed recovery: due later each time, and after the last one at a given time or never. */
export function afterFailedRecovery<T extends Due & { version: number }>(
  record: T,
  now: number,
  afterLast: number | undefined,
): T | undefined {
  if (record.dueAt === undefined) return undefined;
  const { dueAt: _dueAt, failedRecoveries: _failed, ...rest } = record;
  const failedRecoveries = (record.failedRecoveries ?? 0) + 1;
  const next =
    failedRecoveries < maxRecoveries
      ? { dueAt: now + recoveryDelayMs(failedRecoveries), failedRecoveries }
      : afterLast === undefined
        ? { failedRecoveries }
        : { dueAt: afterLast };
  return { ...(rest as T), ...next, version: record.version + 1 };
}
