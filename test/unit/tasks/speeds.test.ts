import { describe, expect, test } from 'vitest';
import { classOf, predict, type Speeds, withRun } from '../../../shared/tasks/speeds.ts';

const run = { seconds: 10, inputBytes: 20_000_000, bytes: 5_000_000 };

describe('The class of options', () => {
  const hint = '';
  const descriptors = [
    { name: 'preset', hint, data_type: 'string' as const, type: 'enum' as const, default_value: 'medium' },
    { name: 'strip', hint, data_type: 'boolean' as const, default_value: 'true' },
    { name: 'dpi', hint, data_type: 'integer' as const },
    { name: 'page_range', hint, data_type: 'string' as const },
    { name: 'password', hint, data_type: 'string' as const },
  ];

  test.each([
    [{}, ''],
    [undefined, ''],
    [{ preset: 'medium', strip: true }, ''],
    [{ strip: false, preset: 'slow' }, 'preset=slow strip=false'],
    [{ dpi: 150 }, 'dpi=~7'],
    [{ dpi: 160 }, 'dpi=~7'],
    [{ dpi: 600 }, 'dpi=~9'],
    [{ page_range: '1-3', password: 'secret', unknown: 'x' }, ''],
  ])('of %j is %j', (options, expected) => {
    expect(classOf(options, descriptors)).toBe(expected);
  });
});

describe('A prediction', () => {
  test('is absent before the first run', () => {
    expect(predict({}, '', 1_000)).toBeUndefined();
  });

  test('scales with the size of the input', () => {
    const speeds = withRun({}, '', run);
    expect(predict(speeds, '', 40_000_000)).toEqual({ seconds: 20, bytes: 10_000_000 });
    expect(predict(speeds, '', 1_000)?.seconds).toBe(0.05);
  });

  test('is by runs of its class, or else of any', () => {
    const speeds = withRun(withRun({}, '', run), 'preset=slow', { ...run, seconds: 30 });
    expect(predict(speeds, 'preset=slow', run.inputBytes)?.seconds).toBe(30);
    expect(predict(speeds, 'preset=fast', run.inputBytes)?.seconds).toBe(20);
  });

  test('follows a machine that becomes slower', () => {
    let speeds: Speeds = {};
    for (let count = 0; count < 30; count++) speeds = withRun(speeds, '', run);
    for (let count = 0; count < 30; count++) speeds = withRun(speeds, '', { ...run, seconds: 20 });
    expect(predict(speeds, '', run.inputBytes)?.seconds).toBeGreaterThan(19);
  });
});

test('Speeds have at most sixteen classes, those used last', () => {
  let speeds: Speeds = {};
  for (let count = 0; count < 40; count++) {
    speeds = withRun(speeds, `dpi=~${count}`, run);
    speeds = withRun(speeds, 'preset=slow', run);
  }
  expect(Object.keys(speeds)).toHaveLength(16);
  expect(speeds['']?.runs).toBe(80);
  expect(speeds['preset=slow']?.runs).toBe(40);
  expect(Object.keys(speeds)).toContain('dpi=~39');
  expect(Object.keys(speeds)).not.toContain('dpi=~3');
  expect(JSON.stringify(speeds).length).toBeLessThan(6_000);
});
