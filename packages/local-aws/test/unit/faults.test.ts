import { describe, expect, it } from 'vitest';
import { CapacityMeter } from '../../src/dynamodb/capacity/meter.ts';
import { KeyThrottle, throttlingBody } from '../../src/dynamodb/key-throttles.ts';
import { LaggingCopy } from '../../src/dynamodb/lagging-copy.ts';
import { chooseUnprocessed, splitBatch } from '../../src/dynamodb/unprocessed.ts';
import { Faults, faultNames, readFaults } from '../../src/faults/faults.ts';
import { Random } from '../../src/faults/random.ts';
import { TransientErrors } from '../../src/gate/transient-errors.ts';
import { environmentFaults } from '../../src/lambda/faults.ts';
import { throttledRuntime } from '../../src/lambda/invoke-throttles.ts';
import { lateNotifications } from '../../src/s3/late-notifications.ts';
import type { LocalFunction, LocalTable } from '../../src/template/model.ts';

const times = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make);

describe('readFaults', () => {
  it('is off by default', () => {
    expect(readFaults(undefined)).toBeUndefined();
    expect(readFaults('')).toBeUndefined();
  });

  it('parses all, names, all but some, and a seed, and formats itself the same way', () => {
    const all = Object.keys(faultNames);
    expect(readFaults('all:1234')).toMatchObject({ names: all, seed: 1234 });
    expect(readFaults('kills, errors')?.names).toEqual(['kills', 'errors']);
    expect(readFaults('all,-kills')?.names).toEqual(all.filter((name) => name !== 'kills'));
    expect(String(readFaults('all:1234'))).toBe('all:1234');
    expect(String(readFaults('errors,kills:7'))).toBe('errors,kills:7');
    const chosen = readFaults('all');
    expect(readFaults(String(chosen))?.seed).toBe(chosen?.seed);
  });

  it.each(['everything', 'all:x', 'all:1:2', 'errors,', '-unknown', ':5'])(
    'refuses %j and lists the valid names',
    (text) => {
      expect(() => readFaults(text)).toThrow(/^Expected all or names out of index-lag, .*kills/);
    },
  );

  it('gives each enabled fault an independent generator', () => {
    const alone = new Faults(['errors'], 5).random('errors');
    const among = new Faults(['kills', 'errors'], 5);
    times(10, () => among.random('kills')?.next());
    expect(times(5, () => among.random('errors')?.next())).toEqual(times(5, () => alone?.next()));
    expect(among.random('unprocessed')).toBeUndefined();
  });
});

describe('Random', () => {
  it('repeats itself for a seed and differs for another', () => {
    const draw = (seed: number) => {
      const random = new Random(seed);
      return times(20, () => random.next());
    };
    expect(draw(1)).toEqual(draw(1));
    expect(draw(1)).not.toEqual(draw(2));
  });

  it('spreads its numbers evenly', () => {
    const random = new Random(3);
    const counts = new Array<number>(10).fill(0);
    times(10_000, () => random.below(10)).forEach((value) => {
      counts[value] = (counts[value] ?? 0) + 1;
    });
    for (const count of counts) expect(count).toBeGreaterThan(850);
    expect(times(10_000, () => random.chance(0.02)).filter(Boolean).length).toBeLessThan(300);
  });
});

describe('LaggingCopy', () => {
  function makeCopy(...delays: number[]) {
    const clock = { now: 0 };
    const copy = new LaggingCopy<string>(
      () => delays.shift() ?? 0,
      () => clock.now,
    );
    return { copy, clock };
  }

  it('shows a change after its delay, and the previous value until then', () => {
    const { copy, clock } = makeCopy(100);
    copy.change('item', [{ key: 'a', before: 'old', after: 'new' }]);
    expect(copy.get('a')).toEqual({ value: 'old' });
    clock.now = 100;
    // It has caught up: the store is authoritative.
    expect(copy.get('a')).toBeUndefined();
  });

  it('shows the changes of one item in order, whatever their delays', () => {
    const { copy, clock } = makeCopy(100, 10, 300);
    copy.change('item', [{ key: 'a', before: undefined, after: 'one' }]);
    copy.change('item', [{ key: 'a', before: 'one', after: 'two' }]);
    copy.change('item', [{ key: 'a', before: 'two', after: 'three' }]);
    expect(copy.get('a')).toEqual({ value: undefined });
    clock.now = 50;
    expect(copy.get('a')).toEqual({ value: undefined });
    clock.now = 100;
    expect(copy.get('a')).toEqual({ value: 'two' });
    clock.now = 300;
    expect(copy.get('a')).toBeUndefined();
  });

  it('shows an entry that moves either at its old key or at its new one', () => {
    const { copy, clock } = makeCopy(100);
    copy.change('item', [
      { key: 'old', before: 'entry', after: undefined },
      { key: 'new', before: undefined, after: 'entry' },
    ]);
    expect(Object.fromEntries(copy.shown(() => true))).toEqual({ old: 'entry', new: undefined });
    clock.now = 100;
    expect(copy.shown(() => true).size).toBe(0);
  });
});

const table: LocalTable = {
  logicalId: 'Records',
  name: 'records',
  arn: 'arn:aws:dynamodb:eu-central-1:123456789012:table/records',
  partitionKey: { name: 'pk', type: 'S' },
  indexes: [
    {
      name: 'byDue',
      partitionKey: { name: 'shard', type: 'S' },
      projection: { type: 'KEYS_ONLY', attributes: [] },
    },
  ],
};

describe('KeyThrottle', () => {
  function makeThrottle(existing?: Record<string, unknown>) {
    const clock = { now: 0 };
    const meter = new CapacityMeter(() => clock.now);
    return { clock, meter, throttle: new KeyThrottle([table], meter, () => existing) };
  }
  const write = { table: 'records', key: 'a', kind: 'write' } as const;
  const Key = { pk: { S: 'a' } };

  it('refuses what exceeds a thousand write units of a key in a second, but not other keys or reads', () => {
    const { clock, meter, throttle } = makeThrottle();
    const refusal = (operation: string, input: object) =>
      throttle.refusal(operation, { TableName: 'records', ...input })?.reason;
    meter.add({ ...write, units: 999 });
    expect(refusal('PutItem', { Item: Key })).toBeUndefined();
    meter.add({ ...write, units: 1 });
    for (const operation of ['UpdateItem', 'DeleteItem'])
      expect(refusal(operation, { Key })).toBe('TableWriteKeyRangeThroughputExceeded');
    expect(refusal('PutItem', { Item: Key })).toBe('TableWriteKeyRangeThroughputExceeded');
    expect(refusal('PutItem', { Item: { pk: { S: 'b' } } })).toBeUndefined();
    expect(refusal('GetItem', { Key })).toBeUndefined();
    clock.now = 1000;
    expect(refusal('PutItem', { Item: Key })).toBeUndefined();
  });

  it('refuses what exceeds three thousand read units of a key', () => {
    const { meter, throttle } = makeThrottle();
    meter.add({ ...write, kind: 'read', units: 3000 });
    const query = { KeyConditionExpression: 'pk = :key', ExpressionAttributeValues: { ':key': { S: 'a' } } };
    for (const [operation, input] of [['GetItem', { Key }] as const, ['Query', query] as const])
      expect(throttle.refusal(operation, { TableName: 'records', ...input })?.reason).toBe(
        'TableReadKeyRangeThroughputExceeded',
      );
    expect(throttle.refusalOfEntry('records', Key)?.reason).toBe('TableReadKeyRangeThroughputExceeded');
  });

  it.each([
    ['a new entry', undefined, 'PutItem', { Item: { ...Key, shard: { S: 'hot' } } }],
    ['an entry that is deleted', { ...Key, shard: { S: 'hot' } }, 'DeleteItem', { Key }],
    [
      'an entry that an update moves',
      Key,
      'UpdateItem',
      {
        Key,
        UpdateExpression: 'SET #shard = :shard, other = :other',
        ExpressionAttributeNames: { '#shard': 'shard' },
        ExpressionAttributeValues: { ':shard': { S: 'hot' }, ':other': { S: 'x' } },
      },
    ],
  ])('refuses a write to the table for %s of an index whose key is used up', (_what, existing, operation, input) => {
    const { meter, throttle } = makeThrottle(existing);
    const attempt = () => throttle.refusal(operation, { TableName: 'records', ...input });
    expect(attempt()).toBeUndefined();
    meter.add({ table: 'records', index: 'byDue', key: 'hot', kind: 'write', units: 1000 });
    expect(attempt()).toEqual({
      reason: 'IndexWriteKeyRangeThroughputExceeded',
      resource: `${table.arn}/index/byDue`,
    });
  });

  it('formats the refusal as DynamoDB does', () => {
    const body = JSON.parse(throttlingBody({ reason: 'TableWriteKeyRangeThroughputExceeded', resource: table.arn }));
    expect(body).toMatchObject({
      __type: 'com.amazonaws.dynamodb.v20120810#ThrottlingException',
      throttlingReasons: [{ reason: 'TableWriteKeyRangeThroughputExceeded', resource: table.arn }],
    });
  });
});

describe('batches', () => {
  it('leave some entries unprocessed, but never all', () => {
    const random = new Random(1);
    const left = times(200, () => times(10, chooseUnprocessed(random)).filter(Boolean).length);
    expect(Math.max(...left)).toBeLessThan(10);
    expect(left.filter((count) => count > 0).length).toBeGreaterThan(50);
  });

  it('are split with all parameters of each part', () => {
    const read = { ConsistentRead: true, Keys: [1, 2, 3] };
    expect(splitBatch({ RequestItems: { records: read } }, (_table, entry) => entry === 2)).toEqual({
      processed: { RequestItems: { records: { ConsistentRead: true, Keys: [1, 3] } } },
      unprocessed: { records: { ConsistentRead: true, Keys: [2] } },
    });
    expect(splitBatch({ RequestItems: { records: ['a'] } }, () => true)).toEqual({
      processed: undefined,
      unprocessed: { records: ['a'] },
    });
  });
});

describe('notifications of S3', () => {
  it('arrive up to five seconds late, out of order, and some twice', async () => {
    const sent: { body: string; delay: number }[] = [];
    const send = lateNotifications((_queue, body, delay = 0) => void sent.push({ body, delay }), new Random(1));
    for (let index = 0; index < 200; index++) await send('uploads', String(index));
    expect(new Set(sent.map(({ body }) => body)).size).toBe(200);
    expect(sent.length).toBeGreaterThan(205);
    expect(Math.max(...sent.map(({ delay }) => delay))).toBeGreaterThan(3);
    expect(Math.max(...sent.map(({ delay }) => delay))).toBeLessThanOrEqual(5);
  });
});

describe('transient errors', () => {
  it('are rare, and only responses of table writes are lost', () => {
    const errors = new TransientErrors(new Random(1));
    expect(times(10_000, () => errors.next()).filter(Boolean).length).toBeLessThan(100);
    const often = new TransientErrors(new Random(1), 0.5);
    expect(new Set(times(20, () => often.next()))).toEqual(new Set([true, false]));
    expect(times(20, () => often.losesResponse('dynamodb', 'UpdateItem'))).toContain(true);
    for (const [service, operation] of [['dynamodb', 'Query'] as const, ['sqs', 'SendMessage'] as const])
      expect(times(20, () => often.losesResponse(service, operation))).not.toContain(true);
  });
});

const functionOf = (name: string): LocalFunction => ({
  logicalId: name,
  name,
  arn: name,
  packaging: 'zip',
  entry: name,
  handler: 'handler',
  timeoutSeconds: 30,
  memoryMegabytes: 256,
  environment: {},
  role: { logicalId: 'Role', arn: 'role', statements: [] },
});

describe('environments', () => {
  const [api, worker] = [functionOf('api'), functionOf('worker')];
  const stack = {
    httpApis: [{ logicalId: '', apiId: '', routes: [{ routeKey: 'GET /', function: api }] }],
    webSocketApis: [],
  };

  it('are killed only during invocations that no API client waits for', () => {
    const faults = environmentFaults(stack, new Faults(['kills'], 1));
    const kills = (fn: LocalFunction) => times(1000, () => faults.killAfterMs(fn)).filter((ms) => ms !== undefined);
    expect(kills(api)).toEqual([]);
    expect(kills(worker).length).toBeGreaterThan(2);
    expect(times(1000, faults.isRecycled)).not.toContain(true);
  });

  it('have credentials that slightly outlive an invocation', () => {
    const faults = environmentFaults(stack, new Faults(['credentials'], 1), () => 0);
    for (const expiresAt of times(100, () => faults.credentialsExpireAt(worker))) {
      expect(expiresAt).toBeGreaterThan(30_000);
      expect(expiresAt).toBeLessThan(30_000 + 91_000);
    }
  });
});

describe('throttled invocations', () => {
  it('are throttled briefly, without affecting other functions', async () => {
    const clock = { now: 0 };
    const random = new Random(1);
    const runtime = throttledRuntime(
      {
        invoke: async (_fn: LocalFunction, _event: unknown) => 'done',
        invokeStream: async (_fn: LocalFunction, _event: unknown) => ({ chunks: (async function* () {})() }),
      },
      random,
      () => clock.now,
    );
    const outcome = (name: string) => runtime.invoke(functionOf(name), {}).then(String, ({ errorType }) => errorType);
    let first = 'done';
    while (first === 'done') first = await outcome('one');
    expect(first).toBe('TooManyRequestsException');
    expect(await outcome('one')).toBe('TooManyRequestsException');
    expect(await outcome('other')).toBe('done');
    clock.now = 5_000;
    expect(await outcome('one')).toBe('done');
  });
});
