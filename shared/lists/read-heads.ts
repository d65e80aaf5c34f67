import type { Head } from './heads.ts';
import type { IdRange } from './slots.ts';
import type { Chunk, HeadQuery, View } from './view.ts';

type ChunkQuery = Pick<HeadQuery, 'range' | 'limit' | 'isUncompleted'>;

/** Reads the heads of a range in chunks, newest first. */
export async function* chunksOf<T>(view: View<T>, query: ChunkQuery): AsyncGenerator<Chunk> {
  for (let left: IdRange | undefined = query.range; left; ) {
    const chunk: Chunk = await readChunk(view, { ...query, range: left });
    yield chunk;
    left = chunk.rest;
  }
}

/** Reads the newest heads of a range, of both kinds: as far down as they are known of each. */
export async function readChunk<T>({ owned, listing }: View<T>, query: ChunkQuery): Promise<Chunk> {
  const { range, limit } = query;
  const found = await Promise.all(listing.kinds.map((kind) => owned.heads({ ...query, kind, tag: listing.tag })));
  const ends = found.flatMap((heads) => (heads.length < limit ? [] : (heads.at(-1)?.id ?? [])));
  const heads = found.flat().sort(newestFirst);
  const [end] = ends.sort().reverse();
  if (end === undefined || end <= range.from) return { heads, range };
  return { heads: heads.filter(({ id }) => id >= end), range, rest: { from: range.from, to: end } };
}

/** Orders heads as lists do. */
export function newestFirst(left: Head, right: Head): number {
  return left.id < right.id ? 1 : left.id > right.id ? -1 : 0;
}
