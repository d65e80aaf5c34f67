import { describe, expect, it } from 'vitest';
import { EngineError } from '../../../functions/engines/runtime/engine.ts';
import type { ProcessRow } from '../../../functions/engines/runtime/sandbox/processes.ts';
import { ProcessorTime } from '../../../functions/engines/runtime/sandbox/processor-time.ts';
import { maxProcessorSeconds } from '../../../shared/tasks/limits.ts';

const row = (pid: number, ownSeconds: number, endedSeconds = 0, started = 1): ProcessRow => ({
  pid,
  parent: 1,
  group: 1,
  residentBytes: 0,
  started,
  ownSeconds,
  endedSeconds,
});

describe('the processor time of a sandbox', () => {
  it('counts programs that have ended, and not what warm ones used before the work', () => {
    const time = new ProcessorTime(100, [row(1, 2), row(2, 50)]);

    expect(time.used([row(1, 2), row(2, 51), row(3, 4)])).toBe(5);
    expect(time.used([row(1, 2, 4.5), row(2, 52)])).toBe(6.5);
    // A warm program that is replaced: its parent has its time.
    expect(time.used([row(1, 2, 4.5 + 52.5), row(4, 1)])).toBe(8);
  });

  it('counts programs whose parent does not wait for them, and another process under the number of an earlier one', () => {
    const time = new ProcessorTime(100, [row(1, 0)]);

    expect(time.used([row(1, 0), row(2, 6)])).toBe(6);
    expect(time.used([row(1, 0)])).toBe(6);
    expect(time.used([row(1, 0), row(2, 3, 0, 9)])).toBe(9);
  });

  it('refuses work at the second check over the ceiling, with the limit and what to do', () => {
    const time = new ProcessorTime(10, [row(1, 0)]);

    // A process that ends between the reading of two rows counts twice for once.
    expect(time.check([row(1, 0, 6), row(2, 6)])).toBeUndefined();
    expect(time.check([row(1, 0, 6)])).toBeUndefined();
    expect(time.check([row(1, 0, 11)])).toBeUndefined();
    const refusal = time.check([row(1, 0, 12)]);
    expect(refusal).toBeInstanceOf(EngineError);
    expect(refusal?.message).toBe(
      'The file takes more processor time than a file of its size and pages may: over 10 seconds. Simplify it, or split it into smaller files.',
    );
  });

  it('counts a limit of the engine from when it is set, and lets it replace or lift its own', () => {
    const time = new ProcessorTime(100, [row(1, 0)]);
    time.limit(5);
    expect(time.check([row(1, 20)])).toBeUndefined();
    expect(time.check([row(1, 24)])).toBeUndefined();
    time.limit(5);
    expect(time.check([row(1, 26)])).toBeUndefined();
    expect(time.check([row(1, 32)])).toBeUndefined();
    time.limit(undefined);
    expect(time.check([row(1, 60)])).toBeUndefined();
    time.limit(5);
    expect(time.check([row(1, 60)])).toBeUndefined();
    expect(time.check([row(1, 66)])).toBeUndefined();
    expect(time.check([row(1, 67)])?.message).toMatch(/over 5 seconds/);
  });

  it.each([1e9, Number.POSITIVE_INFINITY, Number.NaN, -1, null, '1000', { valueOf: () => 1e9 }])(
    'is never above the ceiling, whatever the engine sends: %j',
    (forged) => {
      const time = new ProcessorTime(10, [row(1, 0)]);
      time.limit(forged);
      time.check([row(1, 11)]);
      time.limit(forged);
      expect(time.check([row(1, 12)])?.message).toMatch(/over 10 seconds/);
    },
  );

  it('has a ceiling by the size of all inputs, for engines that declare one', () => {
    const inputs = [{ size: 1_000_000 }, { size: 500_000 }];

    expect(maxProcessorSeconds({ processorTime: { baseSeconds: 60, secondsPerMegabyte: 10 } }, inputs)).toBe(75);
    expect(maxProcessorSeconds({}, inputs)).toBeUndefined();
  });
});
