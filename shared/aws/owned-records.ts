import { firstIdAt } from '../ids.ts';
import { count, query } from './table.ts';
import { tableSchema } from './table-schema.ts';

/** Selects records of an owner. Only attributes that the index holds can be used. */
export interface OwnedFilter {
  /** Partition of the index: `tasks#<user>` or `jobs#<user>`. */
  owner: string;
  equal?: Record<string, string | undefined>;
  contains?: Record<string, string | undefined>;
  now: number;
  /** Records from before this time are expired. */
  oldest: number;
}

/** Ranges of time that are counted in parallel: a page of the index is 1 MB, and the pages of one range are sequential. */
const slices = 8;
const skewMs = 60_000;

/** A page of an owner's records. */
export interface OwnedPage {
  ids: string[];
  /** How many records there are on all pages. */
  total: number;
}

/** Reads a page of an owner's records, newest first, and counts them all: apart where they do not end with the page. */
export async function ownedPage(filter: OwnedFilter, skip: number, limit: number): Promise<OwnedPage> {
  const found = await newestIds(filter, skip + limit);
  return { ids: found.slice(skip), total: found.length < skip + limit ? found.length : await countOwned(filter) };
}

/** Counts an owner's records by reading the compact index only, in parallel ranges of time. */
async function countOwned(filter: OwnedFilter): Promise<number> {
  const start = filter.oldest - skewMs;
  const end = filter.now + skewMs;
  const bounds = Array.from({ length: slices + 1 }, (_, index) => firstIdAt(start + ((end - start) * index) / slices));
  const counts = await Promise.all(
    bounds.slice(1).map((upper, index) => count(selectionOf(filter, bounds[index] ?? '', upper))),
  );
  return counts.reduce((sum, part) => sum + part, 0);
}

/** Returns the ids of an owner's newest records, up to a limit, newest first. */
export async function newestIds(filter: OwnedFilter, limit: number): Promise<string[]> {
  const items = await query({
    ...selectionOf(filter, firstIdAt(filter.oldest - skewMs), firstIdAt(filter.now + skewMs)),
    attributes: 'id',
    descending: true,
    limit,
    // Without filters a page needs to read no more than it skips and shows.
    pageSize: Math.min(1000, limit + 1),
  });
  return items.map(({ id }) => String(id));
}

function selectionOf(filter: OwnedFilter, from: string, to: string) {
  const { parts, names, values } = conditionsOf(filter);
  return {
    index: tableSchema.byOwner.name,
    keys: '#owner = :owner AND id BETWEEN :from AND :to',
    filter: parts.join(' AND '),
    names: { '#owner': tableSchema.byOwner.partitionKey, ...names },
    // BETWEEN takes in both ends; an id below its successor keeps ranges apart.
    values: { ':owner': filter.owner, ':from': from, ':to': before(to), ...values },
  };
}

function before(id: string): string {
  return (BigInt(`0x${id}`) - 1n).toString(16).padStart(24, '0');
}

function conditionsOf(filter: OwnedFilter) {
  const names: Record<string, string> = { '#status': 'status', '#expiresAt': 'expiresAt' };
  const values: Record<string, string> = { ':deleted': 'deleted', ':now': new Date(filter.now).toISOString() };
  const parts = ['#status <> :deleted', '#expiresAt > :now'];
  const add = (attribute: string, value: string, part: string) => {
    names[`#${attribute}`] = attribute;
    values[`:${attribute}`] = value;
    parts.push(part);
  };
  for (const [attribute, value] of Object.entries(filter.equal ?? {})) {
    if (value !== undefined) add(attribute, value, `#${attribute} = :${attribute}`);
  }
  for (const [attribute, value] of Object.entries(filter.contains ?? {})) {
    if (value) add(attribute, value, `contains(#${attribute}, :${attribute})`);
  }
  return { parts, names, values };
}
