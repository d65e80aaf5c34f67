import { firstIdAt, timeOfId } from '../ids.ts';

/** The length of a slot. A group belongs to the slot in which its id was made, and the slots of an hour are stored as one item. */
export const slotMs = 300_000;
export const slotsPerHour = 12;

/**
 * How long after its end a slot is complete. A record may be written half a minute after its id was made, and the index lags
 * behind the table. A deletion is visible in the index this long after its announcement.
 */
export const countLagMs = 300_000;
/** Until this long after the end of a slot, no list has counted it for storage, and none can miss a change made now. */
const unannouncedMs = 90_000;

/** A range of ids, excluding `to`. */
export interface IdRange {
  from: string;
  to: string;
}

/** Returns the slot of a time in milliseconds. */
export function slotAt(time: number): number {
  return Math.floor(time / slotMs);
}

/** Returns the slot of a group. */
export function slotOfId(id: string): number {
  return slotAt(timeOfId(id));
}

/** Returns the hour of a slot. */
export function hourOfSlot(slot: number): number {
  return Math.floor(slot / slotsPerHour);
}

/** Returns the range of the ids of consecutive slots, both included. */
export function idsOfSlots(oldest: number, newest: number): IdRange {
  return { from: firstIdAt(oldest * slotMs), to: firstIdAt((newest + 1) * slotMs) };
}

/** Returns whether counts of a slot are final: all of its groups and all announced deletions are visible in the index. */
export function isCountable(slot: number, changedAt: number | undefined, now: number): boolean {
  const complete = (slot + 1) * slotMs + countLagMs <= now;
  return complete && (changedAt === undefined || changedAt + countLagMs < now);
}

/** Returns whether a deletion in a slot has to be announced, because the slot may have been counted. */
export function mayBeCounted(slot: number, now: number): boolean {
  return (slot + 1) * slotMs + unannouncedMs < now;
}
