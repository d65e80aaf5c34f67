import { type AttributeValue, QueryCommand, type QueryCommandInput } from '@aws-sdk/client-dynamodb';
import { firstIdAt } from '../ids.ts';
import { table } from './table.ts';
import { tableSchema } from './table-schema.ts';

/** Which of an owner's records a list shows. Only attributes that the index holds can be asked for. */
export interface OwnedFilter {
  /** Partition of the index: `tasks#<user>` or `jobs#<user>`. */
  owner: string;
  equal?: Record<string, string | undefined>;
  contains?: Record<string, string | undefined>;
  now: number;
  /** Records from before this time are expired. */
  oldest: number;
}

/** Ranges of time that are counted side by side: a page of the index is 1 MB, and one range's pages come one after another. */
const slices = 8;
const skewMs = 60_000;

/** Counts an owner's records by reading the compact index only, in parallel ranges of time. */
export async function countOwned(filter: OwnedFilter): Promise<number> {
  const start = filter.oldest - skewMs;
  const end = filter.now + skewMs;
  const bounds = Array.from({ length: slices + 1 }, (_, index) => firstIdAt(start + ((end - start) * index) / slices));
  const counts = await Promise.all(
    bounds.slice(1).map(async (upper, index) => {
      let count = 0;
      for await (const page of query(filter, { from: bounds[index] ?? '', to: upper, Select: 'COUNT' }))
        count += page.count;
      return count;
    }),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

/** Returns the ids of one page of an owner's records, newest first. */
export async function ownedIds(filter: OwnedFilter, skip: number, limit: number): Promise<string[]> {
  const wanted: string[] = [];
  let passed = 0;
  const range = { from: firstIdAt(filter.oldest - skewMs), to: firstIdAt(filter.now + skewMs) };
  // Without filters a page needs to read no more than it skips and shows.
  const Limit = Math.min(1000, skip + limit + 1);
  for await (const { ids } of query(filter, { ...range, ScanIndexForward: false, ProjectionExpression: 'id', Limit })) {
    for (const id of ids) {
      if (passed >= skip && wanted.length < limit) wanted.push(id);
      passed += 1;
    }
    if (wanted.length >= limit) break;
  }
  return wanted;
}

async function* query(
  filter: OwnedFilter,
  { from, to, ...input }: Partial<QueryCommandInput> & { from: string; to: string },
): AsyncGenerator<{ count: number; ids: string[] }> {
  const { client, name } = table();
  const { expression, names, values } = conditions(filter);
  let ExclusiveStartKey: Record<string, AttributeValue> | undefined;
  do {
    const answer = await client.send(
      new QueryCommand({
        ...input,
        TableName: name,
        IndexName: tableSchema.byOwner.name,
        KeyConditionExpression: '#owner = :owner AND id BETWEEN :from AND :to',
        FilterExpression: expression,
        ExpressionAttributeNames: { '#owner': tableSchema.byOwner.partitionKey, ...names },
        // BETWEEN takes in both ends; an id below its successor keeps ranges apart.
        ExpressionAttributeValues: {
          ':owner': { S: filter.owner },
          ':from': { S: from },
          ':to': { S: before(to) },
          ...values,
        },
        ...(ExclusiveStartKey ? { ExclusiveStartKey } : {}),
      }),
    );
    yield { count: answer.Count ?? 0, ids: (answer.Items ?? []).flatMap((item) => item.id?.S ?? []) };
    ExclusiveStartKey = answer.LastEvaluatedKey;
  } while (ExclusiveStartKey);
}

function before(id: string): string {
  return (BigInt(`0x${id}`) - 1n).toString(16).padStart(24, '0');
}

function conditions(filter: OwnedFilter) {
  const names: Record<string, string> = { '#status': 'status', '#expiresAt': 'expiresAt' };
  const values: Record<string, AttributeValue> = {
    ':deleted': { S: 'deleted' },
    ':now': { S: new Date(filter.now).toISOString() },
  };
  const parts = ['#status <> :deleted', '#expiresAt > :now'];
  const add = (attribute: string, value: string, part: string) => {
    names[`#${attribute}`] = attribute;
    values[`:${attribute}`] = { S: value };
    parts.push(part);
  };
  for (const [attribute, value] of Object.entries(filter.equal ?? {})) {
    if (value !== undefined) add(attribute, value, `#${attribute} = :${attribute}`);
  }
  for (const [attribute, value] of Object.entries(filter.contains ?? {})) {
    if (value) add(attribute, value, `contains(#${attribute}, :${attribute})`);
  }
  return { expression: parts.join(' AND '), names, values };
}
