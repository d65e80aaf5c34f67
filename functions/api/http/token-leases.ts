import { RecentValues } from '../../../shared/recent-values.ts';
import { type Period, periodMs, type RateStore, type Tokens } from './rate-store.ts';
import type { Hold } from './route.ts';

/** The longest time that a request is held. */
export const maxHoldMs = 25_000;
/** A request that could be held for less is not held at all. */
const minHoldMs = 1_000;
/**
 * What an instance may lease of the tokens that are left. Those that it does not use are lost to the others until the period
 * ends; so few tokens are taken one by one, and of a limit of 100 every one is used.
 */
const maxLeasedPart = 1 / 100;
/** The time for whose requests an instance leases tokens, at the rate of its last ones. */
const leasedMs = 5_000;
const holds = 'wait';
/** Far more than a take can need, since each attempt that fails says which one will not. */
const maxAttempts = 20;

/** What may be taken in a period. */
export interface Bucket {
  name: string;
  limit: number;
}

/** A request, which takes a token of each of its buckets or of none. */
export interface TokenRequest {
  account: string;
  key: string | undefined;
  buckets: Bucket[];
  /** How many of the longest holds an account has in a period; absent where a request is not held, or holds are not limited. */
  maxHolds?: number | undefined;
  /** Whether such a request tends to be the first of an account after a pause. */
  comesFirst: boolean;
}

export interface TokenResponse {
  passed: boolean;
  /** The bucket of which fewest tokens are left, or that has too few; absent where nothing is limited. */
  tightest?: Bucket & { remaining: number };
  /** When all tokens are there again. */
  until: number;
  /** Absent where the request asked for none. */
  hold?: Hold;
}

interface CurrentPeriod extends Period {
  /** For how long this instance may still hold requests of the account. */
  holdMs: number;
}

interface Lease {
  tokens: number;
  /** The end of the period that the tokens are of. */
  until: number;
  /** How many were taken last, and when. */
  size: number;
  takenAt: number;
}

/** What an instance knows of an account. */
interface AccountState {
  period: CurrentPeriod | undefined;
  leases: Map<string, Lease>;
  /** What was the case when it last did not know whether a period had begun: its requests come first, or after others'. */
  expectsToBegin: boolean | undefined;
  usesNotedAt: Map<string, number>;
}

/**
 * Takes the tokens of one instance's requests. They are counted in the store, so that no more requests pass than the limits
 * allow, however many instances there are. An instance with many requests takes those of the next seconds at once, and writes
 * nothing until they are used.
 */
export class TokenLeases {
  readonly #store: RateStore;
  readonly #accounts = new RecentValues<AccountState>({ milliseconds: 3_600_000, max: 1_000 });

  constructor(store: RateStore) {
    this.#store = store;
  }

  /** Takes the tokens of a request, or finds the bucket that has none. */
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
    throw new Error(`The counters of the account ${request.account} contradict themselves.`);
  }

  /** Takes tokens from the store, if there are as many as it is thought, and learns how many there are. */
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
      // Counted without a limit: a request that cannot be held passes all the same.
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

  /** Notes the use of a key once in a while where no token is counted that would note it. */
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

/** Responds to a request by what the instance holds and knows; undefined if that does not suffice. */
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

/** Returns what no instance has taken, as far as it is known. */
function leftOf({ name, limit }: Bucket, period: Period | undefined): number {
  return limit - (period?.used[name] ?? 0);
}

/** Returns whether time to hold requests is to be taken: enough for the longest one, unless there is none left. */
function wantsHold({ maxHolds }: TokenRequest, period: CurrentPeriod | undefined): boolean {
  if (maxHolds === undefined) return false;
  return !period || (period.holdMs < maxHoldMs && (period.used[holds] ?? 0) < maxHolds);
}

/** Takes the time of one hold. What it does not use may hold other requests: a bucket of holds is one of time. */
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

/** Returns how many tokens to take at once: those of the next seconds, at most twice as many as before. */
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

/** Keeps what is known of the newest period. Counters only grow in one, and responses may come in any order. */
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
