import { get, type Item, type Key, update, updateOrRead } from '../../../shared/aws/table.ts';
import { partitions } from '../../../shared/aws/table-schema.ts';

/** Length of a period, after which all tokens are available again. */
export const periodMs = 60_000;

/** Tokens that an account has taken in its last period, which may be over. */
export interface Period {
  /** When it ends, in milliseconds since 1970. */
  until: number;
  /** Tokens taken, by bucket. */
  used: Record<string, number>;
}

/** Tokens of a bucket. */
export interface Tokens {
  bucket: string;
  count: number;
  /** Maximum per period. If absent, tokens are counted but not limited. */
  limit?: number;
}

export interface Taking {
  account: string;
  /** Key whose last use is recorded. */
  key?: string | undefined;
  tokens: Tokens[];
  now: number;
}

/** Whether the write succeeded, and the current period; undefined if the account never had one. */
export interface Taken {
  taken: boolean;
  period: Period | undefined;
}

/** The counters of accounts. A write changes all of its buckets or none. */
export interface RateStore {
  /** Takes tokens of the current period. Fails if it is over or a bucket has too few. */
  take(taking: Taking): Promise<Taken>;
  /** Begins a period and takes tokens. Fails if a period is in progress. */
  begin(taking: Taking): Promise<Taken>;
  /** Records the last use of a key. */
  noteUse(account: string, key: string, now: number): Promise<void>;
}

/** Stores one item per account. A new period replaces the counters and keeps the last uses of keys. */
export const rateStore: RateStore = {
  async take({ account, key, tokens, now }) {
    const path = (index: number) => `counts.#bucket${index}`;
    const counted = tokens.map((_, index) => `${path(index)} = if_not_exists(${path(index)}, :zero) + :count${index}`);
    const limited = tokens.flatMap(({ limit }, index) =>
      limit === undefined ? [] : [`(attribute_not_exists(${path(index)}) OR ${path(index)} <= :most${index})`],
    );
    const numbered = (name: string, numberOf: (tokens: Tokens) => number | undefined) =>
      Object.fromEntries(tokens.map((each, index) => [`${name}${index}`, numberOf(each)]));
    return taken(
      await updateOrRead(keyOf(account), `SET ${[...counted, ...noted(key)].join(', ')}`, {
        condition: ['periodEnd > :now', ...limited].join(' AND '),
        names: { ...Object.fromEntries(tokens.map(({ bucket }, index) => [`#bucket${index}`, bucket])), ...use(key) },
        values: {
          ':now': now,
          ':zero': 0,
          ...numbered(':count', ({ count }) => count),
          ...numbered(':most', ({ count, limit }) => (limit === undefined ? undefined : limit - count)),
        },
      }),
    );
  },

  async begin({ account, key, tokens, now }) {
    const counts = Object.fromEntries(tokens.map(({ bucket, count }) => [bucket, count]));
    return taken(
      await updateOrRead(keyOf(account), `SET ${['periodEnd = :end', 'counts = :counts', ...noted(key)].join(', ')}`, {
        condition: 'attribute_not_exists(periodEnd) OR periodEnd <= :now',
        ...(key === undefined ? {} : { names: use(key) }),
        values: { ':now': now, ':end': now + periodMs, ':counts': counts },
      }),
    );
  },

  async noteUse(account, key, now) {
    await update(keyOf(account), `SET ${noted(key).join()}`, { names: use(key), values: { ':now': now } });
  },
};

/** Returns when each key of an account was last used, by id, in ISO 8601 and accurate to a few seconds. */
export async function lastUses(account: string): Promise<Map<string, string>> {
  const item = (await get(keyOf(account), { consistent: false })) ?? {};
  return new Map(
    Object.entries(item).flatMap(([name, at]) =>
      name.startsWith(usePrefix) && typeof at === 'number'
        ? [[name.slice(usePrefix.length), new Date(at).toISOString()]]
        : [],
    ),
  );
}

const usePrefix = 'u_';

function noted(key: string | undefined): string[] {
  return key === undefined ? [] : ['#use = :now'];
}

function use(key: string | undefined): Record<string, string> {
  return key === undefined ? {} : { '#use': `${usePrefix}${key}` };
}

function taken({ updated, item }: { updated: boolean; item: Item | undefined }): Taken {
  const { periodEnd, counts } = item ?? {};
  if (typeof periodEnd !== 'number') return { taken: updated, period: undefined };
  const used = Object.entries(Object(counts)).map(([bucket, count]) => [bucket, Number(count)]);
  return { taken: updated, period: { until: periodEnd, used: Object.fromEntries(used) } };
}

function keyOf(account: string): Key {
  return { pk: `${partitions.rate}${account}`, sk: 'rate' };
}
