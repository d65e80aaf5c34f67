import { taskIdsOf } from '../ids.ts';
import { addTally, settle, type Unsettled } from './counts.ts';
import { keepFresh } from './keep-counts.ts';
import type { Part, View } from './view.ts';

/** Groups that are settled at a time. */
const groupsAtOnce = 300;

/** Finds the statuses of groups that are not settled by their records, and settles those of which nothing can change. */
export async function settleAll<T>(view: View<T>): Promise<void> {
  const open = view.parts.filter(({ counts }) => (counts.unsettled?.length ?? 0) > 0);
  while (open.length > 0) {
    const parts: Part[] = [];
    for (let groups = 0; groups < groupsAtOnce && open.length > 0; ) {
      const [part] = open.splice(0, 1);
      if (part) parts.push(part);
      groups += part?.counts.unsettled?.length ?? 0;
    }
    await settleParts(view, parts);
    // What was done is not lost where there is more than one invocation can do.
    if (open.length > 0) await keepFresh(view);
  }
}

async function settleParts<T>({ owned, listing }: View<T>, parts: Part[]): Promise<void> {
  const groups = parts.flatMap(({ counts }) => counts.unsettled ?? []);
  const jobIds = groups.filter(({ size, isFailed }) => size > 0 && !isFailed).map(({ id }) => id);
  const [jobs, tasks] = await Promise.all([
    readAll(jobIds, owned.jobs),
    listing.settlesTasks ? readAll(groups.flatMap(idsOfTasks), owned.tasks) : undefined,
  ]);
  for (const part of parts) {
    const rest: Unsettled[] = [];
    for (const group of part.counts.unsettled ?? []) {
      const settled = settle(group, { jobs, tasks });
      addTally(settled.rest ? part.unsettled : part.counts.settled, settled.tally);
      if (settled.rest) rest.push(settled.rest);
      else part.fresh += 1;
    }
    part.counts.unsettled = rest;
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
