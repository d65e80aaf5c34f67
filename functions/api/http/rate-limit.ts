import type { Caller } from '../../../shared/accounts/caller.ts';
import { readNumberSettings } from '../../../shared/settings.ts';
import { HttpError } from './errors.ts';
import { rateStore } from './rate-store.ts';
import type { Hold, Route } from './route.ts';
import { type Bucket, maxHoldMs, TokenLeases, type TokenResponse } from './token-leases.ts';

const { ratePerMinute, creationsPerMinute, waitsPerMinute } = readNumberSettings(process.env);

const leases = new TokenLeases(rateStore);

/** The account and, if any, the API key that a request counts against. */
export type Limited = Pick<Caller, 'user'> & Partial<Pick<Caller, 'key' | 'limits'>>;

interface RequestAdmission {
  /** RateLimit headers of the response; empty if nothing is limited. */
  headers: Record<string, string>;
  hold: Hold;
}

interface NamedBucket extends Bucket {
  /** What it counts, for error messages. */
  counts: string;
}

/** Whether requests can wait. False in AWS accounts with a low concurrency quota. */
const holdsRequests = process.env.LATHE_HOLDS_REQUESTS !== 'false';
const unlimitedHold: Hold = { milliseconds: holdsRequests ? maxHoldMs : 0, giveBack() {} };

/** Counts a request, and its wait if it waits, against the limits of its account and key, or throws the 429. */
export async function admitRequest(caller: Limited, route: Route, waits: boolean): Promise<RequestAdmission> {
  const now = Date.now();
  const buckets = bucketsOf(caller, route);
  const response = await leases.take(
    {
      account: caller.user,
      key: caller.key,
      buckets,
      maxHolds: waits && holdsRequests && waitsPerMinute > 0 ? waitsPerMinute : undefined,
      comesFirst: route.bucket === 'create',
    },
    now,
  );
  const headers = headersOf(response, now);
  if (response.passed) return { headers, hold: response.hold ?? unlimitedHold };
  const full = buckets.find(({ name }) => name === response.tightest?.name);
  const seconds = secondsUntil(response.until, now);
  throw new HttpError(
    429,
    'too_many_requests',
    `More than ${full?.limit} ${full?.counts} in a minute. Retry in ${seconds} seconds.`,
    { headers: { ...headers, 'Retry-After': String(seconds) } },
  );
}

function bucketsOf({ key, limits }: Limited, { bucket }: Route): NamedBucket[] {
  const perKey = limits?.requestsPerMinute;
  return [
    ...(ratePerMinute > 0 ? [{ name: 'account', limit: ratePerMinute, counts: 'requests' }] : []),
    ...(key !== undefined && perKey !== undefined
      ? [{ name: `k_${key}`, limit: perKey, counts: 'requests with this key' }]
      : []),
    ...(bucket === 'create' && creationsPerMinute > 0
      ? [{ name: 'create', limit: creationsPerMinute, counts: 'jobs and tasks created' }]
      : []),
  ];
}

function headersOf({ tightest, until }: TokenResponse, now: number): Record<string, string> {
  if (!tightest) return {};
  return {
    'RateLimit-Limit': String(tightest.limit),
    'RateLimit-Remaining': String(tightest.remaining),
    'RateLimit-Reset': String(secondsUntil(until, now)),
  };
}

function secondsUntil(until: number, now: number): number {
  return Math.ceil((until - now) / 1_000);
}
