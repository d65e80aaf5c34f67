import { get, type Item, type Key, update, updateOrRead } from '../../../shared/aws/table.ts';
import { partitions } from '../../../shared/aws/table-schema.ts';

/** How long a period is, after which all tokens are there again. */
export const periodMs = 60_000;

/** What an account has taken in the period that its item describes, which may be over. */
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
  /** How many of the bucket may be taken in a period; they are only counted where it is absent. */
  limit?: number;
}

export interface Taking {
  account: string;
  /** The key whose use is noted. */
  key?: string | undefined;
  tokens: Tokens[];
  now: number;
}

/** The period after a write, or the one that made the write fail; none if the account has never had one. */
export interface Taken {
  taken: boolean;
  period: Period | undefined;
}

/** The counters of accounts. A write changes all its buckets or none. */
export interface RateStore {
  /** Takes tokens of the current period; fails if it is over, or if one of the buckets has too few. */
  take(taking: Taking): Promise<Taken>;
  /** Begins a period and takes tokens of it; fails if there is a current one. */
  begin(taking: Taking): Promise<Taken>;
  /** Notes that a key was used. */
  noteUse(account: string, key: string, now: number): Promise<void>;
}

/** One item for each account. What was counted is replaced with each period; last uses of keys stay. */
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

/** Returns when keys of an account were last used, to some seconds, by their ids and as ISO 8601. */
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
