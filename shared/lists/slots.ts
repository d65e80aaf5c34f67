import { firstIdAt, timeOfId } from '../ids.ts';

/** The heads of groups are counted by slots of time, in which their ids fall, and an hour of slots is stored as one item. */
export const slotMs = 300_000;
export const slotsPerHour = 12;

/**
 * How long after its end a slot is complete: a record may be written half a minute after its id was made, and the index
 * that is counted lags behind the table. A change of what was counted is visible there as long after its announcement.
 */
export const countLagMs = 300_000;
/** Until this long after the end of a slot nothing has counted it, nor can have missed in the index what changes now. */
const unannouncedMs = 90_000;

/** Ids from the first one up to, but not including, the other. */
export interface IdRange {
  from: string;
  to: string;
}

/** Returns the slot of a time in milliseconds. */
export function slotAt(time: number): number {
  return Math.floor(time / slotMs);
}

/** Returns the slot that a group with this id is counted in. */
export function slotOfId(id: string): number {
  return slotAt(timeOfId(id));
}

/** Returns the hour that a slot is stored with. */
export function hourOfSlot(slot: number): number {
  return Math.floor(slot / slotsPerHour);
}

/** Returns the ids of the slots from one to another, both included. */
export function idsOfSlots(oldest: number, newest: number): IdRange {
  return { from: firstIdAt(oldest * slotMs), to: firstIdAt((newest + 1) * slotMs) };
}

/** Returns whether the groups of a slot can be counted for good: all of them are visible, and so is what changed them. */
export function isCountable(slot: number, changedAt: number | undefined, now: number): boolean {
  const complete = (slot + 1) * slotMs + countLagMs <= now;
  return complete && (changedAt === undefined || changedAt + countLagMs < now);
}

/** Returns whether a deletion in a slot has to be announced, because the slot may have been counted. */
export function mayBeCounted(slot: number, now: number): boolean {
  return (slot + 1) * slotMs + unannouncedMs < now;
}
