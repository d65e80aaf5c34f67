import { mapAtOnce } from '../concurrency.ts';
import { validCounts } from './counted-hour.ts';
import { addHead, type Counts, noCounts, noTally } from './counts.ts';
import type { Head } from './heads.ts';
import { keepHour } from './keep-counts.ts';
import { chunksOf, readChunk } from './read-heads.ts';
import { hourOfSlot, idsOfSlots, slotOfId } from './slots.ts';
import { type Listing, type ListWindow, type OwnedRecords, type Part, runsOf, slotsOf, type View } from './view.ts';

/** Heads that are read at a time: at first, and where that was not all. */
const firstHeads = 250;
const moreHeads = 1_000;
/** Hours that are counted at a time where nothing was. */
const hoursAtOnce = 4;

/** Counts all slots: by what is kept, or else by reading the heads. */
export async function countAll<T>(owned: OwnedRecords, window: ListWindow, listing: Listing<T>): Promise<View<T>> {
  const { oldest, newest } = slotsOf(window);
  const kept = listing.tag === undefined ? await owned.hours(hourOfSlot(oldest), hourOfSlot(newest)) : [];
  const hours = new Map(kept.map((hour) => [hour.hour, hour]));
  const slots = Array.from({ length: newest - oldest + 1 }, (_, index) => newest - index);
  const range = idsOfSlots(oldest, newest);
  const parts = slots.map((slot) => ({ slot, counts: noCounts(), unsettled: noTally(), isCounted: false, fresh: 0 }));
  const view: View<T> = {
    owned,
    window,
    listing,
    parts,
    hours,
    newest: { heads: [], range: { ...range, from: range.to } },
  };
  const uncounted = parts.filter((part) => {
    const counts = knownCounts(view, part.slot);
    if (counts) Object.assign(part, { counts, isCounted: true });
    return !counts;
  });
  await Promise.all(runsOf(uncounted).map((run) => countRun(view, run)));
  return view;
}

/** Returns the counts of a slot that are kept and sufficient. */
function knownCounts<T>({ hours, window, listing }: View<T>, slot: number): Counts | undefined {
  const hour = hours.get(hourOfSlot(slot));
  const counts = hour && validCounts(hour, slot);
  if (!counts) return undefined;
  if (counts.lastExpiry <= window.now) return noCounts();
  if (counts.firstExpiry <= window.now) return undefined;
  return listing.filter.status !== undefined && counts.unsettled === undefined ? undefined : counts;
}

/** Counts consecutive slots by their heads: where these are many, several hours at a time, and keeps each at once. */
async function countRun<T>(view: View<T>, run: Part[]): Promise<void> {
  const [newest, oldest] = [run[0], run.at(-1)];
  if (!newest || !oldest) return;
  const first = await readChunk(view, { range: idsOfSlots(oldest.slot, newest.slot), limit: firstHeads });
  if (newest === view.parts[0]) view.newest = first;
  // The slot in which the chunk ends is read again.
  const last = first.rest ? slotOfId(first.rest.to) : -1;
  const counted = run.filter(({ slot }) => slot > last);
  countHeads(counted, first.heads);
  markCounted(counted);
  const left = Object.values(
    Object.groupBy(
      run.filter(({ slot }) => slot <= last),
      ({ slot }) => hourOfSlot(slot),
    ),
  );
  await mapAtOnce(left, hoursAtOnce, async (parts = []) => {
    const [from, to] = [parts.at(-1), parts[0]];
    if (!from || !to) return;
    const range = idsOfSlots(from.slot, to.slot);
    for await (const { heads } of chunksOf(view, { range, limit: moreHeads })) countHeads(parts, heads);
    markCounted(parts);
    await keepHour(view, hourOfSlot(to.slot));
  });
}

function markCounted(parts: Part[]): void {
  for (const part of parts) part.isCounted = true;
}

/** Counts heads in the slots that they are in; those of other slots are left out. */
function countHeads(parts: Part[], heads: Head[]): void {
  const bySlot = new Map(parts.map((part) => [part.slot, part]));
  for (const head of heads) {
    const part = bySlot.get(slotOfId(head.id));
    if (!part) continue;
    addHead(part.counts, head);
    part.fresh += 1;
  }
}
