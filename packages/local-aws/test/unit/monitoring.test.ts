import { describe, expect, test } from 'vitest';
import { metricsLine } from '../../../../shared/metrics.ts';
import { evaluate } from '../../src/cloudwatch/evaluate.ts';
import { MetricStore, readEmbedded } from '../../src/cloudwatch/metrics.ts';
import type { LocalAlarm } from '../../src/template/model.ts';

const alarm: LocalAlarm = {
  logicalId: 'Alarm',
  name: 'Alarm',
  metric: { namespace: 'Lathe', name: 'TaskFailures', dimensions: { engine: 'image' } },
  statistic: 'Sum',
  periodSeconds: 60,
  evaluationPeriods: 2,
  threshold: 3,
  missing: 'notBreaching',
};

const times = { resolutionMs: 1_000, keptMs: 3_600_000 };

/** Evaluates at 1,000 seconds the values that came at these seconds. */
function stateAfter(changes: Partial<LocalAlarm>, points: [at: number, value: number][], started = 0) {
  const store = new MetricStore([alarm.metric], times);
  for (const [at, value] of points) store.add({ ...alarm.metric, value }, at * 1000);
  return evaluate({ ...alarm, ...changes }, store, { now: 1_000_000, started: started * 1000, speed: 1 });
}

describe('an alarm', () => {
  test('fires when every period breaches the threshold', () => {
    expect(
      stateAfter({}, [
        [930, 3],
        [990, 1],
        [995, 2],
      ]),
    ).toBe('ALARM');
    expect(
      stateAfter({}, [
        [930, 2],
        [990, 3],
      ]),
    ).toBe('OK');
    expect(stateAfter({}, [[990, 3]])).toBe('OK');
  });

  test('treats a period without data as configured', () => {
    expect(stateAfter({ missing: 'breaching' }, [])).toBe('ALARM');
    expect(stateAfter({ missing: 'breaching' }, [[990, 0]])).toBe('OK');
    expect(stateAfter({ missing: 'notBreaching' }, [])).toBe('OK');
  });

  test('has no state before it could have had data', () => {
    expect(stateAfter({ missing: 'breaching' }, [], 950)).toBe('INSUFFICIENT_DATA');
  });

  test('uses the minimum of all values for the statistic Minimum: one successful run is enough', () => {
    const sweep = { statistic: 'Minimum', threshold: 1, evaluationPeriods: 1 } as const;
    expect(
      stateAfter(sweep, [
        [990, 1],
        [995, 1],
      ]),
    ).toBe('ALARM');
    expect(
      stateAfter(sweep, [
        [990, 1],
        [995, 0],
      ]),
    ).toBe('OK');
  });

  test('ignores the same metric with other dimensions', () => {
    const store = new MetricStore([alarm.metric], times);
    store.add({ ...alarm.metric, dimensions: {}, value: 9 }, 1);
    store.add({ ...alarm.metric, dimensions: { engine: 'image', errorCode: 'engine_timeout' }, value: 9 }, 1);
    expect(store.between(alarm.metric, 0, 2)).toBeUndefined();
  });
});

test('values close to each other are kept as one summary, and only as long as an alarm needs them', () => {
  const store = new MetricStore([alarm.metric], times);
  for (const [at, value] of [
    [1, 2],
    [500, 4],
    [1_500, 1],
  ] as const)
    store.add({ ...alarm.metric, value }, at);
  expect(store.between(alarm.metric, 0, 1_000)).toMatchObject({ sum: 6, count: 2, min: 2, max: 4 });
  expect(store.between(alarm.metric, 0, 2_000)).toMatchObject({ sum: 7, count: 3, min: 1, max: 4 });
  store.prune(3_601_000);
  expect(store.between(alarm.metric, 0, 2_000)).toMatchObject({ count: 1 });
});

describe('a log line', () => {
  const line = JSON.stringify(
    metricsLine(
      { TaskSeconds: 1.5, TaskFailures: 1 },
      { engine: 'image', errorCode: 'engine_timeout' },
      { taskId: 'a' },
      1_000,
    ),
  );

  test('has the metrics of functions, each with its own dimensions, and the ids', () => {
    expect(readEmbedded(line)).toEqual([
      { namespace: 'Lathe', name: 'TaskSeconds', dimensions: { engine: 'image' }, value: 1.5 },
      {
        namespace: 'Lathe',
        name: 'TaskFailures',
        dimensions: { engine: 'image', errorCode: 'engine_timeout' },
        value: 1,
      },
    ]);
    expect(JSON.parse(line)).toMatchObject({ taskId: 'a', service: 'lathe', level: 'INFO' });
  });

  test('without metrics has none', () => {
    expect(readEmbedded('{"message":"hello"}')).toEqual([]);
    expect(readEmbedded('the key "_aws" in a text')).toEqual([]);
  });

  test.for([
    ['no value of a metric', { TaskSeconds: undefined }],
    ['no value of a dimension', { engine: undefined }],
    ['no time', { _aws: { CloudWatchMetrics: [] } }],
  ])('with %s is an error, although CloudWatch would silently drop it', ([, change]) => {
    expect(() => readEmbedded(JSON.stringify({ ...JSON.parse(line), ...Object(change) }))).toThrow(/A line of the log/);
  });
});
