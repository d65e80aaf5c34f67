import type { Random } from '../faults/random.ts';

/** DynamoDB keeps three copies of an item. A write waits for two of them. */
const laggingCopies = 1 / 3;

/** All copies of an item have a change after this many milliseconds. */
export const maxCopyDelayMs = 500;

/**
 * Returns the delay of an item's lagging copy in milliseconds.
 * Imitates: "When you issue eventually consistent reads … the response might not reflect the results of a recently
 * completed write operation" (DynamoDB developer guide, "DynamoDB read consistency").
 */
export function copyDelay(random: Random): number {
  return random.between(50, maxCopyDelayMs);
}

/** Returns whether an eventually consistent read is served by the lagging copy. */
export function isFromLaggingCopy(random: Random): boolean {
  return random.chance(laggingCopies);
}
