import type { GroupSummary } from './group-summary.ts';
import type { IdRange } from './slots.ts';
import type { Chunk, GroupQuery, View } from './view.ts';

type ChunkQuery = Pick<GroupQuery, 'range' | 'limit' | 'isUncompleted'>;

/** Reads the groups of a range in chunks, newest first. */
export async function* chunksOf<T>(view: View<T>, query: ChunkQuery): AsyncGenerator<Chunk> {
  for (let left: IdRange | undefined = query.range; left; ) {
    const chunk: Chunk = await readChunk(view, { ...query, range: left });
    yield chunk;
    left = chunk.rest;
  }
}

/** Reads the newest groups of a range, down to the oldest one that the queries of all kinds have reached. */
export async function readChunk<T>({ owned, listing }: View<T>, query: ChunkQuery): Promise<Chunk> {
  const { range, limit } = query;
  const found = await Promise.all(listing.kinds.map((kind) => owned.groups({ ...query, kind, tag: listing.tag })));
  const ends = found.flatMap((groups) => (groups.length < limit ? [] : (groups.at(-1)?.id ?? [])));
  const groups = found.flat().sort(newestFirst);
  const [end] = ends.sort().reverse();
  if (end === undefined || end <= range.from) return { groups, range };
  return { groups: groups.filter(({ id }) => id >= end), range, rest: { from: range.from, to: end } };
}

/** Compares groups in list order. */
export function newestFirst(left: GroupSummary, right: GroupSummary): number {
  return left.id < right.id ? 1 : left.id > right.id ? -1 : 0;
}
