import { expect, test } from 'vitest';
import { localShare, workerSlots } from '../../../infra/local/worker-slots.ts';
import { fixtureFunction } from '../../../packages/local-aws/test/lambda/fixtures/functions.ts';

const sourceOf = (environment: Record<string, string>, maximumConcurrency?: number) => ({
  logicalId: 'Source',
  queue: { logicalId: 'Queue', name: 'work', arn: '', url: '', attributes: {}, policy: [] },
  function: fixtureFunction('echo', { environment }),
  batchSize: 1,
  batchingWindowSeconds: 0,
  reportBatchItemFailures: false,
  maximumConcurrency,
});

test.each([
  ['the cores', {}, undefined, 2, { concurrency: 2 }],
  [
    'one more than the cores, which others keep, if one account may not use all',
    { share: '50' },
    55,
    2,
    { concurrency: 3, perGroup: 2 },
  ],
  ['the cores, if one account may use all', { share: '50' }, 50, 2, { concurrency: 2 }],
  ['the maximum of a small deployment', { share: '1' }, 2, 8, { concurrency: 2 }],
])(
  'the worker of an engine has as many messages in flight as %s',
  (_, { share }: { share?: string }, maximum, cores, expected) => {
    const environment = { LATHE_ENGINE: 'image', ...(share === undefined ? {} : { LATHE_ACCOUNT_SHARE: share }) };
    expect(workerSlots(sourceOf(environment, maximum), cores)).toEqual({ perGroup: undefined, ...expected });
  },
);

test('other consumers are limited as Lambda limits them', () => {
  expect(workerSlots(sourceOf({ LATHE_ACCOUNT_SHARE: '100' }), 2)).toBeUndefined();
});

test.each([
  [{ LATHE_ENGINE: 'image', LATHE_ACCOUNT_SHARE: '50' }, { LATHE_ACCOUNT_SHARE: '2' }],
  [{ LATHE_ENGINE: 'image', LATHE_ACCOUNT_SHARE: '1' }, { LATHE_ACCOUNT_SHARE: '1' }],
  // What transfers is not limited by the cores.
  [{ LATHE_ACCOUNT_SHARE: '100' }, {}],
  [{}, {}],
])('of two cores one account may use as many as it may of %j', (environment, expected) => {
  expect(localShare(fixtureFunction('echo', { environment }), 2)).toEqual(expected);
});
