import type { Counts } from './counts.ts';
import { isCountable } from './slots.ts';

/** The counts of a slot as they are kept. */
export interface CountedSlot extends Counts {
  /** When the counting began, in milliseconds. */
  countedAt: number;
}

/** The counted slots of an owner in one hour. */
export interface CountedHour {
  hour: number;
  /** Counts every write, so that a list does not undo what another has kept; 0 where nothing is. */
  version: number;
  slots: Map<number, CountedSlot>;
  /** When a deletion in a slot was last announced, in milliseconds. */
  changedAt: Map<number, number>;
}

/** Above this many, the groups of a slot that are not settled are not kept: every list reads all that is. */
const maxUnsettled = 50;

/** Returns the counts of a slot where they are still right. */
export function validCounts({ slots, changedAt }: CountedHour, slot: number): CountedSlot | undefined {
  const counts = slots.get(slot);
  return counts && isCountable(slot, changedAt.get(slot), counts.countedAt) ? counts : undefined;
}

/** Keeps the counts of a slot, in place. */
export function keepCounts({ slots }: CountedHour, slot: number, counts: Counts, countedAt: number): void {
  const isShort = counts.unsettled !== undefined && counts.unsettled.length <= maxUnsettled;
  slots.set(slot, { ...counts, countedAt, unsettled: isShort ? counts.unsettled : undefined });
}
