import { isDeletedOrExpired } from '../tasks/task.ts';
import { countTasks, noTally } from './counts.ts';
import type { Head } from './heads.ts';
import { chunksOf } from './read-heads.ts';
import { idsOfSlots } from './slots.ts';
import { inOrder, type Part, runsOf, type Shown, type View } from './view.ts';

/** Heads that are read at a time. */
const headsAtOnce = 250;
/** Tasks of slots without a match that are read for nothing, since that is faster than another query. */
const maxTasksBetween = 1_000;

/** Reads the records of a page from the slots that hold it. */
export async function readPage<T extends Shown>(view: View<T>, numbers: number[]): Promise<T[]> {
  const { limit } = view.window;
  const docs: T[] = [];
  const page = partsOfPage(view, numbers);
  let { skip } = page;
  for (const run of runsOf(page.parts)) {
    for await (const heads of headsOf(view, run)) {
      const found = await readMatches(view, heads, skip, limit - docs.length);
      docs.push(...found.docs);
      skip = found.skip;
      if (docs.length >= limit) return docs;
    }
  }
  return docs;
}

/** Returns the slots that hold a page, and how many records in them are before it, by the number of records of each slot. */
function partsOfPage<T>({ parts, window }: View<T>, numbers: number[]): { parts: Part[]; skip: number } {
  const needed: Part[] = [];
  let between: Part[] = [];
  let { skip } = window;
  let reached = 0;
  for (const [index, part] of parts.entries()) {
    const number = numbers[index] ?? 0;
    if (needed.length === 0 && skip >= number) {
      skip -= number;
      continue;
    }
    between.push(part);
    if (number === 0) continue;
    const tasks = between.reduce((sum, { counts }) => sum + countTasks(counts, noTally(), {}), 0);
    needed.push(...(tasks > maxTasksBetween ? [part] : between));
    between = [];
    reached += number;
    if (reached >= skip + window.limit) break;
  }
  return { parts: needed, skip };
}

/** Returns the heads of consecutive slots, newest first: those that were read already, where they are all. */
async function* headsOf<T>(view: View<T>, run: Part[]): AsyncGenerator<Head[]> {
  const [newest, oldest] = [run[0], run.at(-1)];
  if (!newest || !oldest) return;
  const { newest: known } = view;
  let range = idsOfSlots(oldest.slot, newest.slot);
  const floor = known.rest?.to ?? known.range.from;
  if (floor < range.to) {
    yield known.heads.filter(({ id }) => id >= range.from && id < range.to);
    if (floor <= range.from) return;
    range = { from: range.from, to: floor };
  }
  const { status = 'completed' } = view.listing.filter;
  const query = { range, limit: headsAtOnce, isUncompleted: status !== 'completed' };
  for await (const { heads } of chunksOf(view, query)) yield heads;
}

/** Reads what matches of groups, after skipping some, up to a limit; returns also how much is left to be skipped. */
async function readMatches<T extends Shown>(
  { window, listing }: View<T>,
  heads: Head[],
  toSkip: number,
  limit: number,
): Promise<{ docs: T[]; skip: number }> {
  const docs: T[] = [];
  let skip = toSkip;
  const left = heads.map((head) => ({ head, ...listing.estimate(head, listing.filter) })).filter(({ max }) => max > 0);
  for (let next = 0; next < left.length && docs.length < limit; ) {
    const batch: Head[] = [];
    for (let reached = 0; next < left.length && reached < skip + limit - docs.length; next++) {
      const { head, max, isExact } = left[next] ?? { head: undefined, max: 0, isExact: true };
      if (!head) continue;
      if (batch.length === 0 && isExact && max <= skip) {
        skip -= max;
        continue;
      }
      batch.push(head);
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
