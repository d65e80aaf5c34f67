import type { Counts } from './counts.ts';
import { isCountable } from './slots.ts';

/** The stored counts of a slot. */
export interface CountedSlot extends Counts {
  /** When the counting began, in milliseconds. */
  countedAt: number;
}

/** The counted slots of an owner in one hour. */
export interface CountedHour {
  hour: number;
  /** Counts every write, so that one list does not overwrite the counts of another; 0 if nothing is stored. */
  version: number;
  slots: Map<number, CountedSlot>;
  /** When a deletion in a slot was last announced, in milliseconds, by slot. */
  changedAt: Map<number, number>;
}

/** Maximum number of unsettled groups that are stored for a slot, because every list reads them all. */
const maxUnsettled = 50;

/** Returns the stored counts of a slot if no deletion has made them outdated. */
export function validCounts({ slots, changedAt }: CountedHour, slot: number): CountedSlot | undefined {
  const counts = slots.get(slot);
  return counts && isCountable(slot, changedAt.get(slot), counts.countedAt) ? counts : undefined;
}

/** Sets the counts of a slot, in place. */
export function setCounts({ slots }: CountedHour, slot: number, counts: Counts, countedAt: number): void {
  const isShort = counts.unsettled !== undefined && counts.unsettled.length <= maxUnsettled;
  slots.set(slot, { ...counts, countedAt, unsettled: isShort ? counts.unsettled : undefined });
}
