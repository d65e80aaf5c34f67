import { isDeletedOrExpired } from '../tasks/task.ts';
import { countTasks, noTally } from './counts.ts';
import type { GroupSummary } from './group-summary.ts';
import { chunksOf } from './read-groups.ts';
import { idsOfSlots } from './slots.ts';
import { inOrder, type ListSlot, runsOf, type Shown, type View } from './view.ts';

/** Groups per query. */
const groupsAtOnce = 250;
/** Maximum number of tasks in slots without a match that are read anyway, because that is faster than another query. */
const maxTasksBetween = 1_000;

/** Reads the records of a page from the slots that hold it. */
export async function readPage<T extends Shown>(view: View<T>, numbers: number[]): Promise<T[]> {
  const { limit } = view.window;
  const docs: T[] = [];
  const page = slotsOfPage(view, numbers);
  let { skip } = page;
  for (const run of runsOf(page.slots)) {
    for await (const groups of groupsOf(view, run)) {
      const found = await readMatches(view, groups, skip, limit - docs.length);
      docs.push(...found.docs);
      skip = found.skip;
      if (docs.length >= limit) return docs;
    }
  }
  return docs;
}

/** Returns the slots that hold a page, and how many of their records precede it. The numbers are the matches of each slot. */
function slotsOfPage<T>({ slots, window }: View<T>, numbers: number[]): { slots: ListSlot[]; skip: number } {
  const needed: ListSlot[] = [];
  let between: ListSlot[] = [];
  let { skip } = window;
  let reached = 0;
  for (const [index, slot] of slots.entries()) {
    const number = numbers[index] ?? 0;
    if (needed.length === 0 && skip >= number) {
      skip -= number;
      continue;
    }
    between.push(slot);
    if (number === 0) continue;
    const tasks = between.reduce((sum, { counts }) => sum + countTasks(counts, noTally(), {}), 0);
    needed.push(...(tasks > maxTasksBetween ? [slot] : between));
    between = [];
    reached += number;
    if (reached >= skip + window.limit) break;
  }
  return { slots: needed, skip };
}

/** Yields the groups of consecutive slots, newest first. Groups that were read for counting are not read again. */
async function* groupsOf<T>(view: View<T>, run: ListSlot[]): AsyncGenerator<GroupSummary[]> {
  const [newest, oldest] = [run[0], run.at(-1)];
  if (!newest || !oldest) return;
  const { newest: known } = view;
  let range = idsOfSlots(oldest.slot, newest.slot);
  const floor = known.rest?.to ?? known.range.from;
  if (floor < range.to) {
    yield known.groups.filter(({ id }) => id >= range.from && id < range.to);
    if (floor <= range.from) return;
    range = { from: range.from, to: floor };
  }
  const { status = 'completed' } = view.listing.filter;
  const query = { range, limit: groupsAtOnce, isUncompleted: status !== 'completed' };
  for await (const { groups } of chunksOf(view, query)) yield groups;
}

/** Reads the matching records of groups, after skipping some, up to a limit. Also returns how many are left to skip. */
async function readMatches<T extends Shown>(
  { window, listing }: View<T>,
  groups: GroupSummary[],
  toSkip: number,
  limit: number,
): Promise<{ docs: T[]; skip: number }> {
  const docs: T[] = [];
  let skip = toSkip;
  const left = groups
    .map((group) => ({ group, ...listing.estimate(group, listing.filter) }))
    .filter(({ max }) => max > 0);
  for (let next = 0; next < left.length && docs.length < limit; ) {
    const batch: GroupSummary[] = [];
    for (let reached = 0; next < left.length && reached < skip + limit - docs.length; next++) {
      const { group, max, isExact } = left[next] ?? { group: undefined, max: 0, isExact: true };
      if (!group) continue;
      if (batch.length === 0 && isExact && max <= skip) {
        skip -= max;
        continue;
      }
      batch.push(group);
      reached += max;
    }
    let ids = batch.flatMap(listing.idsOf);
    if (listing.isWhole) {
      ids = ids.slice(skip, skip + limit - docs.length);
      skip = 0;
    }
    const records = ids.length > 0 ? inOrder(ids, await listing.read(ids)) : [];
    const matches = records.filter((record) => listing.matches(record) && !isDeletedOrExpired(record, window.now));
    docs.push(...matches.slice(skip, skip + limit - docs.length));
    skip = Math.max(0, skip - matches.length);
  }
  return { docs, skip };
}
