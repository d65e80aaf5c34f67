import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import type { makeOnce as MakeOnce, SharedWork } from '../../functions/api/pictures/leases.ts';
import type { LocalAws } from '../../packages/local-aws/test/gate/fixture.ts';
import type { get as Get } from '../../shared/aws/table.ts';
import { startLocalTable } from '../support/local-table.ts';

let aws: LocalAws;
let makeOnce: typeof MakeOnce;
let get: typeof Get;
let stored: string[];

beforeAll(async () => {
  aws = await startLocalTable();
  ({ makeOnce } = await import('../../functions/api/pictures/leases.ts'));
  ({ get } = await import('../../shared/aws/table.ts'));
});
afterEach(() => void vi.useRealTimers());
afterAll(async () => {
  vi.unstubAllEnvs();
  await aws[Symbol.asyncDispose]();
});

const soon = () => Date.now() + 60_000;
const itemOf = (name: string) => get({ pk: `derivative#${name}`, sk: 'lease' });

function workOf(make: () => Promise<string>): SharedWork<string, string> {
  stored = [];
  return {
    make,
    store: async (result) => {
      stored.push(result);
      return `stored ${result}`;
    },
    describe: (error) => ({ status: 422, errorCode: 'failed', msg: String(error), headers: {} }),
  };
}

test('a hundred that ask at once have it made once', async () => {
  const make = vi.fn(async () => {
    await pause(500);
    return 'it';
  });
  const work = workOf(make);
  const results = await Promise.all(Array.from({ length: 100 }, () => makeOnce('hundred', soon(), work)));

  expect(make).toHaveBeenCalledTimes(1);
  expect(stored).toEqual(['it']);
  expect(results.filter((result) => result && 'own' in result)).toEqual([{ own: 'it' }]);
  expect(results.filter((result) => result && 'shared' in result)).toEqual(
    Array(99).fill({ shared: { made: 'stored it' } }),
  );
  expect(await makeOnce('hundred', soon(), work), 'within the minute after').toEqual({ shared: { made: 'stored it' } });
});

test('one that asks alone leaves nothing behind', async () => {
  const work = workOf(async () => 'it');

  expect(await makeOnce('alone', soon(), work)).toEqual({ own: 'it' });
  expect(stored).toEqual([]);
  expect(await itemOf('alone')).toBeUndefined();
});

test('all who wait receive a failure, which is soon forgotten', async () => {
  const make = vi.fn(async () => {
    await pause(300);
    throw new Error('broken');
  });
  const results = await Promise.allSettled(Array.from({ length: 5 }, () => makeOnce('failure', soon(), workOf(make))));

  expect(make).toHaveBeenCalledTimes(1);
  expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(1);
  const failed = { status: 422, errorCode: 'failed', msg: 'Error: broken', headers: {} };
  expect(results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))).toEqual(
    Array(4).fill({ shared: { failed } }),
  );
  expect(Number((await itemOf('failure'))?.leaseEnd)).toBeLessThan(Date.now() + 2_001);
});

test('the next one takes over from one that died, which then changes nothing', async () => {
  const died = Promise.withResolvers<string>();
  const first = makeOnce(
    'died',
    soon(),
    workOf(() => died.promise),
  );
  await vi.waitFor(async () => expect(await itemOf('died')).toBeDefined());
  expect(
    await makeOnce(
      'died',
      Date.now() + 300,
      workOf(async () => 'it'),
    ),
    'as long as its lease',
  ).toBeUndefined();

  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 31_000 });
  const slow = workOf(async () => {
    died.resolve('late');
    expect(await first).toEqual({ own: 'late' });
    return 'it';
  });
  expect(await makeOnce('died', soon(), slow)).toEqual({ own: 'it' });
  expect(await itemOf('died')).toBeUndefined();
});
