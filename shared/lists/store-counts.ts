import { mapAtOnce } from '../concurrency.ts';
import { setCounts, validCounts } from './counts.ts';
import { hourOfSlot, isCountable, slotMs } from './slots.ts';
import type { ListSlot, View } from './view.ts';

/** Number of groups from which storing their counts is worthwhile. Small owners need no stored counts. */
const worthStoring = 50;
const hoursAtOnce = 4;

/** Stores new counts if that saves later lists enough reads. */
export async function storeFresh<T>(view: View<T>): Promise<void> {
  const countable = view.slots.filter((slot) => slot.fresh > 0 && isStorable(view, slot));
  if (countable.reduce((sum, { fresh }) => sum + fresh, 0) < worthStoring) return;
  const hours = new Set(countable.map(({ slot }) => hourOfSlot(slot)));
  await mapAtOnce([...hours], hoursAtOnce, (hour) => storeHour(view, hour));
}

/** Stores the final counts of an hour that are not stored yet. */
export async function storeHour<T>(view: View<T>, hour: number): Promise<void> {
  if (view.listing.tag !== undefined) return;
  const stored = view.hours.get(hour) ?? { hour, version: 0, slots: new Map(), changedAt: new Map() };
  const slots = view.slots.filter((listed) => hourOfSlot(listed.slot) === hour && isStorable(view, listed));
  const fresh = slots.filter((listed) => listed.fresh > 0 || !validCounts(stored, listed.slot));
  if (fresh.length === 0) return;
  for (const { slot, counts } of fresh) setCounts(stored, slot, counts, view.window.now);
  // If another list or a deletion came first, a later list counts again.
  const isSaved = await view.owned.saveHour(stored);
  view.hours.set(hour, { ...stored, version: isSaved ? stored.version + 1 : stored.version });
  if (isSaved) for (const listed of fresh) listed.fresh = 0;
}

/** Returns whether the counts of a slot are final. Counts that are about to expire are not worth storing. */
function isStorable<T>({ hours, window }: View<T>, { slot, counts, isCounted }: ListSlot): boolean {
  const changedAt = hours.get(hourOfSlot(slot))?.changedAt.get(slot);
  return isCounted && isCountable(slot, changedAt, window.now) && counts.firstExpiry > window.now + slotMs;
}
