import { mapAtOnce } from '../concurrency.ts';
import { addGroup, type Counts, noCounts, noTally, validCounts } from './counts.ts';
import type { GroupSummary } from './group-summary.ts';
import { chunksOf, readChunk } from './read-groups.ts';
import { hourOfSlot, idsOfSlots, slotOfId } from './slots.ts';
import { storeHour } from './store-counts.ts';
import { type Listing, type ListSlot, type ListWindow, type OwnedRecords, runsOf, slotsOf, type View } from './view.ts';

/** Groups per query: for the first, and for the following if that was not enough. */
const firstGroups = 250;
const moreGroups = 1_000;
/** Hours that are counted concurrently. */
const hoursAtOnce = 4;

/** Counts the groups of all slots: by the stored counts, or else by reading the groups. */
export async function countAll<T>(owned: OwnedRecords, window: ListWindow, listing: Listing<T>): Promise<View<T>> {
  const { oldest, newest } = slotsOf(window);
  const stored = listing.tag === undefined ? await owned.hours(hourOfSlot(oldest), hourOfSlot(newest)) : [];
  const hours = new Map(stored.map((hour) => [hour.hour, hour]));
  const range = idsOfSlots(oldest, newest);
  const slots = Array.from({ length: newest - oldest + 1 }, (_, index) => ({
    slot: newest - index,
    counts: noCounts(),
    unsettled: noTally(),
    isCounted: false,
    fresh: 0,
  }));
  const view: View<T> = {
    owned,
    window,
    listing,
    slots,
    hours,
    newest: { groups: [], range: { ...range, from: range.to } },
  };
  const uncounted = slots.filter((listed) => {
    const counts = knownCounts(view, listed.slot);
    if (counts) Object.assign(listed, { counts, isCounted: true });
    return !counts;
  });
  await Promise.all(runsOf(uncounted).map((run) => countRun(view, run)));
  return view;
}

/** Returns the stored counts of a slot if they are valid and sufficient for the list. */
function knownCounts<T>({ hours, window, listing }: View<T>, slot: number): Counts | undefined {
  const hour = hours.get(hourOfSlot(slot));
  const counts = hour && validCounts(hour, slot);
  if (!counts) return undefined;
  if (counts.lastExpiry <= window.now) return noCounts();
  if (counts.firstExpiry <= window.now) return undefined;
  return listing.filter.status !== undefined && counts.unsettled === undefined ? undefined : counts;
}

/** Counts consecutive slots by reading their groups. If there are many, it counts and stores one hour after the other. */
async function countRun<T>(view: View<T>, run: ListSlot[]): Promise<void> {
  const [newest, oldest] = [run[0], run.at(-1)];
  if (!newest || !oldest) return;
  const first = await readChunk(view, { range: idsOfSlots(oldest.slot, newest.slot), limit: firstGroups });
  if (newest === view.slots[0]) view.newest = first;
  // The slot in which the chunk ends is read again.
  const last = first.rest ? slotOfId(first.rest.to) : -1;
  const counted = run.filter(({ slot }) => slot > last);
  countGroups(counted, first.groups);
  markCounted(counted);
  const left = Object.values(
    Object.groupBy(
      run.filter(({ slot }) => slot <= last),
      ({ slot }) => hourOfSlot(slot),
    ),
  );
  await mapAtOnce(left, hoursAtOnce, async (slots = []) => {
    const [from, to] = [slots.at(-1), slots[0]];
    if (!from || !to) return;
    const range = idsOfSlots(from.slot, to.slot);
    for await (const { groups } of chunksOf(view, { range, limit: moreGroups })) countGroups(slots, groups);
    markCounted(slots);
    await storeHour(view, hourOfSlot(to.slot));
  });
}

function markCounted(slots: ListSlot[]): void {
  for (const slot of slots) slot.isCounted = true;
}

/** Counts groups in their slots. Groups of other slots are ignored. */
function countGroups(slots: ListSlot[], groups: GroupSummary[]): void {
  const bySlot = new Map(slots.map((listed) => [listed.slot, listed]));
  for (const group of groups) {
    const listed = bySlot.get(slotOfId(group.id));
    if (!listed) continue;
    addGroup(listed.counts, group);
    listed.fresh += 1;
  }
}
