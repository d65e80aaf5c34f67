import type { Tables } from '../dynamodb/tables.ts';
import type { ObjectStore } from '../s3/store.ts';
import type { LocalBucket, LocalTable } from '../template/model.ts';

const hourMs = 60 * 60 * 1000;
const dayMs = 24 * hourMs;
const firstRunMs = 60 * 1000;

/** Deletes expired items and objects shortly after the start and then hourly; returns a function that stops it. */
export function startExpiry(work: {
  tables: LocalTable[];
  buckets: LocalBucket[];
  database: Pick<Tables, 'call'>;
  store: ObjectStore | undefined;
  onError: (error: unknown) => void;
}): () => void {
  const run = () => {
    expireItems(work.tables, work.database, Date.now()).catch(work.onError);
    try {
      if (work.store) expireObjects(work.buckets, work.store, Date.now());
    } catch (error) {
      work.onError(error);
    }
  };
  const first = setTimeout(run, firstRunMs).unref();
  const hourly = setInterval(run, hourMs).unref();
  return () => {
    clearTimeout(first);
    clearInterval(hourly);
  };
}

/** Deletes items whose time to live has passed. */
export async function expireItems(tables: LocalTable[], database: Pick<Tables, 'call'>, now: number): Promise<void> {
  for (const table of tables) {
    if (!table.timeToLiveAttribute) continue;
    const condition = {
      TableName: table.name,
      ExpressionAttributeNames: { '#ttl': table.timeToLiveAttribute },
      ExpressionAttributeValues: { ':now': { N: String(Math.floor(now / 1000)) } },
    };
    let start: unknown;
    do {
      const page = await database.call('Scan', {
        ...condition,
        FilterExpression: '#ttl < :now',
        ...(start ? { ExclusiveStartKey: start } : {}),
      });
      for (const item of Array.isArray(page.Items) ? page.Items : []) {
        const names = [table.partitionKey.name, ...(table.sortKey ? [table.sortKey.name] : [])];
        const Key = Object.fromEntries(names.map((name) => [name, item[name]]));
        // Conditional, because the item's life may have been extended since the scan.
        await database
          .call('DeleteItem', { ...condition, Key, ConditionExpression: '#ttl < :now' })
          .catch((error: Error) => {
            if (!error.message.includes('ConditionalCheckFailed')) throw error;
          });
      }
      start = page.LastEvaluatedKey;
    } while (start);
  }
}

/** Deletes objects, and aborts incomplete uploads, that have expired by a rule of their bucket. */
export function expireObjects(buckets: LocalBucket[], store: ObjectStore, now: number): void {
  for (const bucket of buckets) {
    for (const { prefix, days } of bucket.expirations) {
      for (const key of store.listOlder(bucket.name, prefix, now - days * dayMs)) store.delete(bucket.name, key);
    }
    for (const { prefix, days } of bucket.abortions) store.abortOlder(bucket.name, prefix, now - days * dayMs);
  }
}
