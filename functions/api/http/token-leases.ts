import { RecentValues } from '../../../shared/recent-values.ts';
import { type Period, periodMs, type RateStore, type Tokens } from './rate-store.ts';
import type { Hold } from './route.ts';

/** Maximum time that a request waits. */
export const maxHoldMs = 25_000;
/** Shorter waits are not worth holding a request for. */
const minHoldMs = 1_000;
/**
 * Fraction of the remaining tokens that an instance can lease. Unused tokens are unavailable to other instances until the
 * period ends, so tokens of a small limit are taken one by one.
 */
const maxLeasedPart = 1 / 100;
/** An instance leases tokens for the requests of this time, at its current rate. */
const leasedMs = 5_000;
const holds = 'wait';
/** Far more than needed, because every failed attempt returns the current counters. */
const maxAttempts = 20;

/** A limit on the tokens that can be taken in a period. */
export interface Bucket {
  name: string;
  limit: number;
}

/** A request takes one token of each of its buckets, or none. */
export interface TokenRequest {
  account: string;
  key: string | undefined;
  buckets: Bucket[];
  /** Maximum-length waits of an account per period; absent if the request does not wait or waits are not limited. */
  maxHolds?: number | undefined;
  /** Whether this kind of request is usually the first of an account after a pause. */
  comesFirst: boolean;
}

export interface TokenResponse {
  passed: boolean;
  /** The bucket with the fewest remaining tokens; absent if nothing is limited. */
  tightest?: Bucket & { remaining: number };
  /** When the period ends. */
  until: number;
  /** Absent if the request does not wait. */
  hold?: Hold;
}

interface CurrentPeriod extends Period {
  /** Remaining time for which this instance can hold requests of the account. */
  holdMs: number;
}

interface Lease {
  tokens: number;
  /** End of the period of the tokens. */
  until: number;
  /** Number of tokens taken last, and when. */
  size: number;
  takenAt: number;
}

/** What this instance knows about an account. */
interface AccountState {
  period: CurrentPeriod | undefined;
  leases: Map<string, Lease>;
  /** Whether a request of this instance began the last period, or one of another instance did. */
  expectsToBegin: boolean | undefined;
  usesNotedAt: Map<string, number>;
}

/**
 * Takes tokens for the requests of one instance. The store counts them, so that limits hold across all instances. A busy
 * instance takes the tokens of the next seconds in one write.
 */
export class TokenLeases {
  readonly #store: RateStore;
  readonly #accounts = new RecentValues<AccountState>({ milliseconds: 3_600_000, max: 1_000 });

  constructor(store: RateStore) {
    this.#store = store;
  }

  /** Takes the tokens of a request, or returns the bucket that is empty. */
  async take(request: TokenRequest, now: number): Promise<TokenResponse> {
    const state = this.#stateOf(request.account);
    if (request.buckets.length === 0 && request.maxHolds === undefined) {
      await this.#noteUse(state, request, now);
      return { passed: true, until: now };
    }
    const lease = leaseOf(state, request);
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const response = respond(request, state, lease, now);
      if (response) return response;
      await this.#refill(request, state, lease, now);
    }
    throw new Error(`The counters of the account ${request.account} are inconsistent.`);
  }

  /** Takes tokens from the store and updates the known counters. */
  async #refill(request: TokenRequest, state: AccountState, lease: Lease, now: number): Promise<void> {
    const { account, key, buckets, maxHolds } = request;
    const period = periodAt(state, now);
    const begins = !period && (state.expectsToBegin ?? request.comesFirst);
    const knowsLeft = period !== undefined || begins;
    const needed = knowsLeft ? nextSize(request, period, lease, now) : 1;
    const size = heldIn(lease, period) > 0 ? 0 : needed;
    const hold = wantsHold(request, period);
    const tokens: Tokens[] = [
      ...(size === 0 ? [] : buckets.map(({ name, limit }) => ({ bucket: name, count: size, limit }))),
      // No limit: a request that cannot wait still passes.
      ...(hold ? [{ bucket: holds, count: 1 }] : []),
    ];
    const taking = { account, key, tokens, now };
    const { taken, period: seen } = await (begins ? this.#store.begin(taking) : this.#store.take(taking));
    if (!period) state.expectsToBegin = begins ? taken : (seen?.until ?? 0) <= now;
    if (seen) learn(state, seen);
    if (!taken || !seen || state.period?.until !== seen.until) return;
    if (size > 0) addTokens(lease, { count: size, until: seen.until, now });
    if (hold && (seen.used[holds] ?? 0) <= (maxHolds ?? 0)) state.period.holdMs += maxHoldMs;
  }

  /** Records the use of a key at most once per period. Requests that take tokens record it with these. */
  async #noteUse(state: AccountState, { account, key }: TokenRequest, now: number): Promise<void> {
    if (key === undefined || now < (state.usesNotedAt.get(key) ?? 0) + periodMs) return;
    state.usesNotedAt.set(key, now);
    await this.#store.noteUse(account, key, now);
  }

  #stateOf(account: string): AccountState {
    const known = this.#accounts.get(account);
    if (known) return known;
    const state: AccountState = {
      period: undefined,
      leases: new Map(),
      expectsToBegin: undefined,
      usesNotedAt: new Map(),
    };
    this.#accounts.set(account, state);
    return state;
  }
}

/** Returns the response that follows from the leased tokens and known counters; undefined if the store must be read. */
function respond(request: TokenRequest, state: AccountState, lease: Lease, now: number): TokenResponse | undefined {
  const period = periodAt(state, now);
  const held = heldIn(lease, period);
  const empty = held > 0 ? undefined : request.buckets.find((bucket) => leftOf(bucket, period) < 1);
  if (empty) return { passed: false, tightest: { ...empty, remaining: 0 }, until: period?.until ?? now + periodMs };
  if (!period || wantsHold(request, period)) return undefined;
  if (request.buckets.length > 0) {
    if (held === 0) return undefined;
    lease.tokens -= 1;
  }
  const [tightest] = request.buckets
    .map((bucket) => ({ ...bucket, remaining: Math.max(0, leftOf(bucket, period)) + lease.tokens }))
    .sort((left, right) => left.remaining - right.remaining);
  return {
    passed: true,
    until: period.until,
    ...(tightest ? { tightest } : {}),
    ...(request.maxHolds === undefined ? {} : { hold: takeHold(period) }),
  };
}

function periodAt({ period }: AccountState, now: number): CurrentPeriod | undefined {
  return period && period.until > now ? period : undefined;
}

function heldIn(lease: Lease, period: Period | undefined): number {
  return lease.until === period?.until ? lease.tokens : 0;
}

/** Returns the remaining tokens of a bucket, according to the last known counters. */
function leftOf({ name, limit }: Bucket, period: Period | undefined): number {
  return limit - (period?.used[name] ?? 0);
}

/** Returns whether to take more waiting time: there is less than one maximum wait, and the limit is not reached. */
function wantsHold({ maxHolds }: TokenRequest, period: CurrentPeriod | undefined): boolean {
  if (maxHolds === undefined) return false;
  return !period || (period.holdMs < maxHoldMs && (period.used[holds] ?? 0) < maxHolds);
}

/** Takes the time of one wait. Time that it gives back is available to other requests. */
function takeHold(period: CurrentPeriod): Hold {
  const milliseconds = period.holdMs < minHoldMs ? 0 : Math.min(maxHoldMs, period.holdMs);
  period.holdMs -= milliseconds;
  return {
    milliseconds,
    giveBack(unused) {
      period.holdMs += Math.max(0, Math.min(unused, milliseconds));
    },
  };
}

/** Returns the number of tokens to lease: those of the next seconds, at most twice as many as before. */
function nextSize(
  { buckets }: TokenRequest,
  period: Period | undefined,
  { size, takenAt }: Lease,
  now: number,
): number {
  const expected = Math.round((size / Math.max(1, now - takenAt)) * leasedMs);
  const left = Math.min(...buckets.map((bucket) => leftOf(bucket, period)));
  return Math.max(1, Math.min(expected, 2 * size, Math.floor(left * maxLeasedPart)));
}

function addTokens(lease: Lease, { count, until, now }: { count: number; until: number; now: number }): void {
  lease.tokens = count + (lease.until === until ? lease.tokens : 0);
  lease.until = until;
  lease.size = count;
  lease.takenAt = now;
}

/** Merges counters into the known state. Responses may arrive in any order, and counters of a period only increase. */
function learn(state: AccountState, { until, used }: Period): void {
  const { period } = state;
  if (period && period.until > until) return;
  if (period?.until !== until) {
    state.period = { until, used, holdMs: 0 };
    return;
  }
  for (const [bucket, count] of Object.entries(used)) period.used[bucket] = Math.max(count, period.used[bucket] ?? 0);
}

function leaseOf({ leases }: AccountState, { key = '', buckets }: TokenRequest): Lease {
  const name = [key, ...buckets.map((bucket) => bucket.name)].join(' ');
  const lease = leases.get(name) ?? { tokens: 0, until: 0, size: 1, takenAt: 0 };
  leases.set(name, lease);
  return lease;
}
