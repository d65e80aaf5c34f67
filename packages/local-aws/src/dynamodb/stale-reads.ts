import type { Random } from '../faults/random.ts';

/** DynamoDB keeps three copies of an item, of which a write waits for two. */
const laggingCopies = 1 / 3;

/** After this many milliseconds all copies of an item have a change. */
export const maxCopyDelayMs = 500;

/**
 * Returns how many milliseconds late one of the copies of an item has a change.
 * Imitates: "When you issue eventually consistent reads … the response might not reflect the results of a recently completed
 * write operation" (DynamoDB developer guide, "DynamoDB read consistency").
 */
export function copyDelay(random: Random): number {
  return random.between(50, maxCopyDelayMs);
}

/** Returns whether an eventually consistent read is served by the copy that lags. */
export function isFromLaggingCopy(random: Random): boolean {
  return random.chance(laggingCopies);
}
