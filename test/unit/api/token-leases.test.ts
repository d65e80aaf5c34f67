import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { periodMs } from '../../../functions/api/http/rate-store.ts';
import { TokenLeases, type TokenRequest, type TokenResponse } from '../../../functions/api/http/token-leases.ts';
import { historyRuns } from '../../support/history-runs.ts';
import { MemoryRates } from './memory-rates.ts';

const start = Date.UTC(2026, 0, 1);
const maxHoldMs = 25_000;

/** Makes a request that takes tokens of an account's bucket only. */
const plain = (limit: number): TokenRequest => ({
  account: 'account',
  key: 'key',
  buckets: [{ name: 'account', limit }],
  comesFirst: false,
});

/** Sends requests to instances in turn, at a steady rate, and returns how many passed and how many writes they took. */
async function send(
  store: MemoryRates,
  request: TokenRequest,
  {
    instances,
    requests,
    everyMs = 0,
    from = start,
  }: { instances: number; requests: number; everyMs?: number; from?: number },
) {
  const all = Array.from({ length: instances }, () => new TokenLeases(store));
  const before = store.writes;
  const responses: TokenResponse[] = [];
  for (let index = 0; index < requests; index++) {
    const leases = all[index % instances];
    if (leases) responses.push(await leases.take(request, from + index * everyMs));
  }
  return { passed: responses.filter(({ passed }) => passed).length, writes: store.writes - before, responses };
}

describe('the tokens of a limit', () => {
  test('are all used in a burst over ten instances, and none is there twice', async () => {
    const store = new MemoryRates();
    expect((await send(store, plain(100), { instances: 10, requests: 10_000 })).passed).toBe(100);
  });

  test('come again a minute after the first request, wherever that is in a minute of the clock', async () => {
    const store = new MemoryRates();
    const leases = new TokenLeases(store);
    const from = start + 59_000;
    const take = async (at: number) => (await leases.take(plain(2), from + at)).passed;
    expect([await take(0), await take(1_000), await take(2_000), await take(59_999)]).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect([await take(60_000), await take(60_001), await take(60_002)]).toEqual([true, true, false]);
  });

  test('cost a write for each request of a slow caller, fewer of a faster one, and hardly any of a fast one', async () => {
    const first = { ...plain(3_000), comesFirst: true };
    const slow = await send(new MemoryRates(), first, { instances: 1, requests: 30, everyMs: 7_000 });
    expect(slow).toMatchObject({ passed: 30, writes: 30 });
    const faster = await send(new MemoryRates(), first, { instances: 1, requests: 30, everyMs: 2_000 });
    expect(faster.passed).toBe(30);
    expect(faster.writes).toBeLessThan(20);
    const fast = await send(new MemoryRates(), plain(3_000), { instances: 2, requests: 2_400, everyMs: 25 });
    expect(fast.passed).toBe(2_400);
    expect(fast.writes).toBeLessThan(240);
  });

  test('are refused without a write by an instance that knows there are none', async () => {
    const store = new MemoryRates();
    const leases = new TokenLeases(store);
    for (let request = 0; request < 3; request++) await leases.take(plain(2), start);
    const { writes } = store;
    expect(await leases.take(plain(2), start + 1_000)).toEqual({
      passed: false,
      tightest: { name: 'account', limit: 2, remaining: 0 },
      until: start + periodMs,
    });
    expect(store.writes).toBe(writes);
  });

  test('are not taken from one bucket where another has none', async () => {
    const store = new MemoryRates();
    const leases = new TokenLeases(store);
    const both = {
      ...plain(100),
      buckets: [
        { name: 'account', limit: 100 },
        { name: 'k_key', limit: 1 },
      ],
    };
    expect(await leases.take(both, start)).toMatchObject({ passed: true, tightest: { name: 'k_key', remaining: 0 } });
    expect(await new TokenLeases(store).take(both, start)).toMatchObject({
      passed: false,
      tightest: { name: 'k_key' },
    });
    expect(store.period('account')?.used).toEqual({ account: 1, k_key: 1 });
  });

  test('are found by one write, whether an instance comes first after a pause or later than others', async () => {
    const store = new MemoryRates();
    const first = new TokenLeases(store);
    const second = new TokenLeases(store);
    for (let minute = 0; minute < 2; minute++) {
      await first.take(plain(100), start + minute * 120_000);
      await second.take(plain(100), start + minute * 120_000 + 1_000);
    }
    const { writes } = store;
    await first.take(plain(100), start + 600_000);
    await second.take(plain(100), start + 601_000);
    expect(store.writes - writes).toBe(2);
  });
});

describe('without any limit', () => {
  test('the use of a key is noted once a minute, and nothing else written', async () => {
    const store = new MemoryRates();
    const { passed } = await send(store, { ...plain(1), buckets: [] }, { instances: 1, requests: 120, everyMs: 1_000 });
    expect({ passed, writes: store.writes }).toEqual({ passed: 120, writes: 2 });
    expect(store.uses('account')).toEqual(new Map([['key', start + 60_000]]));
  });

  test('nothing is written for a person', async () => {
    const store = new MemoryRates();
    await new TokenLeases(store).take({ ...plain(1), key: undefined, buckets: [] }, start);
    expect(store.writes).toBe(0);
  });
});

describe('the time for which requests are held', () => {
  const waits = (maxHolds: number): TokenRequest => ({ ...plain(1_000), maxHolds });

  test('is that of so many of the longest holds, and then the others pass without one', async () => {
    const { responses } = await send(new MemoryRates(), waits(3), { instances: 5, requests: 5 });
    expect(responses.map(({ hold }) => hold?.milliseconds)).toEqual([maxHoldMs, maxHoldMs, maxHoldMs, 0, 0]);
    expect(responses.every(({ passed }) => passed)).toBe(true);
  });

  test('holds more requests that are short, without writes for them', async () => {
    const store = new MemoryRates();
    const leases = new TokenLeases(store);
    const held: (number | undefined)[] = [];
    for (let request = 0; request < 60; request++) {
      const { hold } = await leases.take(waits(2), start + request * 900);
      held.push(hold?.milliseconds);
      hold?.giveBack(hold.milliseconds - 800);
    }
    expect(held).toEqual([...Array.from({ length: 32 }, () => maxHoldMs), ...held.slice(32)]);
    expect(held.reduce<number>((sum, each) => sum + Math.min(800, each ?? 0), 0)).toBeLessThanOrEqual(2 * maxHoldMs);
    expect(held.filter((each) => each !== 0).length).toBeGreaterThan(58);
  });

  test('that is given back after the period has ended is not used in the next', async () => {
    const leases = new TokenLeases(new MemoryRates());
    const { hold } = await leases.take(waits(1), start);
    await leases.take(waits(1), start + 60_000);
    hold?.giveBack(20_000);
    expect((await leases.take(waits(1), start + 60_001)).hold?.milliseconds).toBe(0);
  });
});

describe('any history of instances and of the order in which their writes arrive', () => {
  const keys = ['a', 'b', undefined];
  const kinds = ['plain', 'create', 'wait'] as const;
  const round = fc.record({
    advanceMs: fc.constantFrom(0, 1, 20, 300, 5_000, 59_999, 61_000),
    requests: fc.array(
      fc.record({ instance: fc.nat(3), key: fc.constantFrom(...keys), kind: fc.constantFrom(...kinds) }),
      { maxLength: 25 },
    ),
  });
  const limits = fc.record({
    account: fc.constantFrom(3, 40, 2_000),
    key: fc.constantFrom(2, 300, 1_500),
    create: fc.constantFrom(1, 500),
    maxHolds: fc.constantFrom(1, 3, 100),
  });

  test('passes as many as the limits allow and no more, and loses no token', { timeout: 300_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        limits,
        fc.array(fc.integer({ min: -200, max: 200 }), { minLength: 4, maxLength: 4 }),
        fc.array(round, { minLength: 1, maxLength: 12 }),
        async (scheduler, limit, skews, rounds) => {
          const store = new MemoryRates(() => scheduler.schedule(Promise.resolve()));
          const instances = skews.map((skew) => ({ skew, leases: new TokenLeases(store) }));
          const passed = new Map<string, number>();
          const heldMs = new Map<number, number>();
          let clock = start;

          const makeRequest = (key: string | undefined, kind: (typeof kinds)[number]): TokenRequest => ({
            account: 'account',
            key,
            buckets: [
              { name: 'account', limit: limit.account },
              ...(key === undefined ? [] : [{ name: `k_${key}`, limit: limit.key }]),
              ...(kind === 'create' ? [{ name: 'create', limit: limit.create }] : []),
            ],
            maxHolds: kind === 'wait' ? limit.maxHolds : undefined,
            comesFirst: kind === 'create',
          });
          const request = async (index: number, key: string | undefined, kind: (typeof kinds)[number]) => {
            const instance = instances[index];
            if (!instance) throw new Error(`There is no instance ${index}.`);
            const asked = makeRequest(key, kind);
            const now = clock + instance.skew;
            const response = await instance.leases.take(asked, now);
            expect(response.until).toBeGreaterThan(now);
            if (response.passed) {
              for (const { name } of asked.buckets) count(passed, `${name} ${response.until}`);
              const held = response.hold?.milliseconds ?? 0;
              heldMs.set(response.until, (heldMs.get(response.until) ?? 0) + held);
              if (kind === 'wait' && held === 0) expectFull('wait', limit.maxHolds, response.until);
            } else {
              expectFull(response.tightest?.name ?? '', response.tightest?.limit ?? 0, response.until);
            }
            return response;
          };
          /** Fails if tokens are left that the caller was told are not. */
          const expectFull = (bucket: string, max: number, until: number) => {
            const period = store.period('account');
            if (period?.until === until) expect(period.used[bucket]).toBeGreaterThanOrEqual(max);
          };

          for (const { advanceMs, requests } of rounds) {
            clock += advanceMs;
            const all = requests.map(({ instance, key, kind }) => request(instance, key, kind));
            await scheduler.waitFor(Promise.all(all));
          }

          // What instances have leased they use, as long as the period lasts.
          for (const [index] of instances.entries())
            for (const key of keys)
              for (const kind of kinds) while ((await scheduler.waitFor(request(index, key, kind))).passed);
          const last = store.period('account');
          for (const [bucket, used] of Object.entries(last?.used ?? {}))
            if (bucket !== 'wait') expect(passed.get(`${bucket} ${last?.until}`), bucket).toBe(used);

          for (const [name, number] of passed) {
            const [bucket = ''] = name.split(' ');
            const max = bucket.startsWith('k_') ? limit.key : bucket === 'create' ? limit.create : limit.account;
            expect(number, name).toBeLessThanOrEqual(max);
          }
          for (const held of heldMs.values()) expect(held).toBeLessThanOrEqual(limit.maxHolds * maxHoldMs);
        },
      ),
      { numRuns: historyRuns(30) },
    );
  });
});

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
