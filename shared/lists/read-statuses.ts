import { taskIdsOf } from '../ids.ts';
import { addTally, statusesOf, type Unsettled } from './counts.ts';
import { storeFresh } from './store-counts.ts';
import type { ListSlot, View } from './view.ts';

/** Groups whose records are read at a time. */
const groupsAtOnce = 300;

/** Reads the records of unsettled groups for their statuses, and counts groups that cannot change any more as settled. */
export async function readStatuses<T>(view: View<T>): Promise<void> {
  const open = view.slots.filter(({ counts }) => (counts.unsettled?.length ?? 0) > 0);
  while (open.length > 0) {
    const slots: ListSlot[] = [];
    for (let groups = 0; groups < groupsAtOnce && open.length > 0; ) {
      const [slot] = open.splice(0, 1);
      if (slot) slots.push(slot);
      groups += slot?.counts.unsettled?.length ?? 0;
    }
    await readStatusesOf(view, slots);
    // Stored now, so that progress is stored if there is more than one invocation can do.
    if (open.length > 0) await storeFresh(view);
  }
}

async function readStatusesOf<T>({ owned, listing }: View<T>, slots: ListSlot[]): Promise<void> {
  const groups = slots.flatMap(({ counts }) => counts.unsettled ?? []);
  const jobIds = groups.filter(({ size, isFailed }) => size > 0 && !isFailed).map(({ id }) => id);
  const [jobs, tasks] = await Promise.all([
    readAll(jobIds, owned.jobs),
    listing.needsTaskStatuses ? readAll(groups.flatMap(idsOfTasks), owned.tasks) : undefined,
  ]);
  for (const slot of slots) {
    const rest: Unsettled[] = [];
    for (const group of slot.counts.unsettled ?? []) {
      const found = statusesOf(group, { jobs, tasks });
      addTally(found.rest ? slot.unsettled : slot.counts.settled, found.tally);
      if (found.rest) rest.push(found.rest);
      else slot.fresh += 1;
    }
    slot.counts.unsettled = rest;
  }
}

function idsOfTasks({ id, size }: Unsettled): string[] {
  return size === 0 ? [id] : taskIdsOf(id, size);
}

async function readAll<T extends { id: string }>(
  ids: string[],
  read: (ids: string[]) => Promise<T[]>,
): Promise<Map<string, T>> {
  return new Map((ids.length > 0 ? await read(ids) : []).map((record) => [record.id, record]));
}
