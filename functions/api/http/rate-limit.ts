import { update } from '../../../shared/aws/table.ts';
import { partitions } from '../../../shared/aws/table-schema.ts';
import { HttpError } from './errors.ts';

const windowMs = 60_000;

/** Counts a request of an account and returns the RateLimit headers, or throws the 429. */
export async function countRequest(
  user: string,
  limit: number,
  now: number = Date.now(),
): Promise<Record<string, string>> {
  if (limit === 0) return {};
  const window = Math.floor(now / windowMs);
  const secondsLeft = Math.ceil(((window + 1) * windowMs - now) / 1000);
  const counter = await update(
    { pk: `${partitions.rate}${user}#${window}`, sk: 'rate' },
    'ADD requests :one SET #ttl = if_not_exists(#ttl, :ttl)',
    {
      names: { '#ttl': 'ttl' },
      values: { ':one': 1, ':ttl': Math.ceil(now / 1000) + 3_600 },
      returns: 'UPDATED_NEW',
    },
  );
  const used = Number(counter?.requests ?? 0);
  const headers = {
    'RateLimit-Limit': String(limit),
    'RateLimit-Remaining': String(Math.max(0, limit - used)),
    'RateLimit-Reset': String(secondsLeft),
  };
  if (used > limit) {
    throw new HttpError(
      429,
      'too_many_requests',
      `More than ${limit} requests in a minute. Retry in ${secondsLeft} seconds.`,
      {
        headers: { ...headers, 'Retry-After': String(secondsLeft) },
      },
    );
  }
  return headers;
}
