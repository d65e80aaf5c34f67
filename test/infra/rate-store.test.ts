import fc from 'fast-check';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { RateStore, lastUses as readLastUses } from '../../functions/api/http/rate-store.ts';
import type { LocalAws } from '../../packages/local-aws/test/gate/fixture.ts';
import { startLocalTable } from '../support/local-table.ts';
import { MemoryRates } from '../unit/api/memory-rates.ts';

const start = Date.UTC(2026, 0, 1);

let aws: LocalAws;
let store: RateStore;
let lastUses: typeof readLastUses;

beforeAll(async () => {
  aws = await startLocalTable();
  ({ rateStore: store, lastUses } = await import('../../functions/api/http/rate-store.ts'));
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await aws[Symbol.asyncDispose]();
});

test('the table counts like its model, on which histories of leases run', async () => {
  const tokens = fc.uniqueArray(
    fc.record({
      bucket: fc.constantFrom('account', 'create', 'wait', 'k_0123456789abcdef01234567'),
      count: fc.integer({ min: 1, max: 4 }),
      limit: fc.constantFrom(3, 10, 100),
    }),
    { selector: ({ bucket }) => bucket, minLength: 1 },
  );
  const step = fc.record({
    action: fc.constantFrom('take' as const, 'take' as const, 'begin' as const),
    advanceMs: fc.constantFrom(0, 1_000, 60_000),
    key: fc.constantFrom(undefined, '0123456789abcdef01234567', '89abcdef0123456701234567'),
    tokens,
    isLimited: fc.boolean(),
  });
  let account = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), async (steps) => {
      account += 1;
      const model = new MemoryRates();
      let now = start;
      for (const { action, advanceMs, key, tokens: asked, isLimited } of steps) {
        now += advanceMs;
        const taking = {
          account: String(account),
          key,
          tokens: isLimited ? asked : asked.map(({ bucket, count }) => ({ bucket, count })),
          now,
        };
        expect(await store[action](taking)).toEqual(await model[action](taking));
      }
      const uses = [...model.uses(String(account))].map(([key, at]) => [key, new Date(at).toISOString()] as const);
      expect(await lastUses(String(account))).toEqual(new Map(uses));
    }),
    { numRuns: 15 },
  );
});

test('a use can be recorded before anything was counted, and is kept when a period begins', async () => {
  await store.noteUse('noted', 'first', start);
  const tokens = [{ bucket: 'account', count: 1, limit: 5 }];
  expect(await store.take({ account: 'noted', tokens, now: start })).toEqual({ taken: false, period: undefined });
  expect(await store.begin({ account: 'noted', key: 'second', tokens, now: start + 1_000 })).toEqual({
    taken: true,
    period: { until: start + 61_000, used: { account: 1 } },
  });
  expect([...(await lastUses('noted')).keys()].sort()).toEqual(['first', 'second']);
  expect(await lastUses('unknown')).toEqual(new Map());
});
