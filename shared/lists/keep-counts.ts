import { mapAtOnce } from '../concurrency.ts';
import { keepCounts, validCounts } from './counted-hour.ts';
import { hourOfSlot, isCountable, slotMs } from './slots.ts';
import type { Part, View } from './view.ts';

/** Heads that each list may read again before their counts are kept: small owners need none. */
const worthKeeping = 50;
const hoursAtOnce = 4;

/** Keeps what was counted or settled, where that saves later lists enough. */
export async function keepFresh<T>(view: View<T>): Promise<void> {
  const countable = view.parts.filter((part) => part.fresh > 0 && isKeepable(view, part));
  if (countable.reduce((sum, { fresh }) => sum + fresh, 0) < worthKeeping) return;
  const hours = new Set(countable.map(({ slot }) => hourOfSlot(slot)));
  await mapAtOnce([...hours], hoursAtOnce, (hour) => keepHour(view, hour));
}

/** Keeps the final counts of an hour that are not kept. */
export async function keepHour<T>(view: View<T>, hour: number): Promise<void> {
  if (view.listing.tag !== undefined) return;
  const kept = view.hours.get(hour) ?? { hour, version: 0, slots: new Map(), changedAt: new Map() };
  const parts = view.parts.filter((part) => hourOfSlot(part.slot) === hour && isKeepable(view, part));
  const fresh = parts.filter((part) => part.fresh > 0 || !validCounts(kept, part.slot));
  if (fresh.length === 0) return;
  for (const { slot, counts } of fresh) keepCounts(kept, slot, counts, view.window.now);
  // Where another list or a deletion came first, a later list counts again.
  const isSaved = await view.owned.saveHour(kept);
  view.hours.set(hour, { ...kept, version: isSaved ? kept.version + 1 : kept.version });
  if (isSaved) for (const part of fresh) part.fresh = 0;
}

/** Returns whether the counts of a slot are final; those of one that is about to expire would be kept for nothing. */
function isKeepable<T>({ hours, window }: View<T>, { slot, counts, isCounted }: Part): boolean {
  const changedAt = hours.get(hourOfSlot(slot))?.changedAt.get(slot);
  return isCounted && isCountable(slot, changedAt, window.now) && counts.firstExpiry > window.now + slotMs;
}
