import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { EngineError } from '../../../functions/engines/runtime/engine.ts';
import { BrokenRun, NoEngineFree, Unfinished } from '../../../functions/invocation/errors.ts';
import { PartStates } from '../../../functions/worker/split/part-states.ts';
import { type PlannedPart, partsOf } from '../../../functions/worker/split/plan-parts.ts';
import { type PartsWork, runParts } from '../../../functions/worker/split/run-parts.ts';
import type { FinishedPart } from '../../../functions/worker/split/stored-runs.ts';
import { historyRuns } from '../../support/history-runs.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const second = 1_000;

function planned(count: number): PlannedPart[] {
  const chunks = Array.from({ length: count }, (_, index) => ({ from: index * 30 }));
  return partsOf({ seconds: count * 45, surveyMs: 0, chunks, end: count * 30, sound: false });
}

const result = (name: string, run: number): FinishedPart => ({ key: `${name}-${run}`, size: 1, format: 'mkv', ms: 1 });

/** Runs parts whose engines behave as a function says: it returns after how long they end, or throws. */
async function perform(
  states: PartStates,
  engine: (name: string, run: number) => { ms: number; error?: unknown },
  change: Partial<PartsWork> = {},
) {
  const log: string[] = [];
  let [most, revoked] = [0, 0];
  const stopped = new AbortController();
  const work: PartsWork = {
    perform: async ({ name }, run) => {
      log.push(`${name}-${run}`);
      most = Math.max(most, states.active);
      const { ms, error } = engine(name, run);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        stopped.signal.addEventListener('abort', () => {
          clearTimeout(timer);
          resolve();
        });
      });
      if (stopped.signal.aborted) throw new BrokenRun('revoked');
      if (error) throw error;
      return result(name, run);
    },
    places: async () => 3,
    revoke: async () => {
      revoked += 1;
      stopped.abort();
    },
    onChange: () => {},
    signal: new AbortController().signal,
    deadline: Date.now() + 880 * second,
    partMs: 45 * second,
    ...change,
  };
  const began = Date.now();
  const done = runParts(states, work).then(
    () => undefined,
    (error: unknown) => error,
  );
  let error: unknown = 'pending';
  void done.then((end) => {
    error = end;
  });
  while (error === 'pending') await vi.advanceTimersByTimeAsync(250);
  return { error, log, most, revoked, seconds: (Date.now() - began) / second };
}

describe('The parts of a split run', () => {
  test('run in order, as many at once as there are places', async () => {
    const states = new PartStates(planned(6), new Map());
    const { error, log, most, revoked, seconds } = await perform(states, () => ({ ms: 10 * second }));
    expect(error).toBeUndefined();
    expect(log).toEqual(['c0-1', 'c1-1', 'c2-1', 'c3-1', 'c4-1', 'c5-1']);
    expect(most).toBe(3);
    expect(revoked).toBe(0);
    expect(seconds).toBeLessThan(21);
    expect(states.outputs('chunk').map(({ key }) => key)).toEqual(log);
  });

  test('are repeated alone if their engine breaks off, up to three times', async () => {
    const broken = { ms: second, error: new BrokenRun('killed') };
    const states = new PartStates(planned(3), new Map());
    const { error, log } = await perform(states, (name, run) =>
      name === 'c1' && run < 3 ? broken : { ms: 2 * second },
    );
    expect(error).toBeUndefined();
    expect(log).toEqual(['c0-1', 'c1-1', 'c2-1', 'c1-2', 'c1-3']);
    const hopeless = await perform(new PartStates(planned(3), new Map()), (name) =>
      name === 'c1' ? broken : { ms: 20 * second },
    );
    expect(hopeless.error).toBe(broken.error);
    expect(hopeless.revoked).toBe(1);
  });

  test('end at once if the file is at fault', async () => {
    const fault = new EngineError('The file is damaged.');
    const { error, log, revoked } = await perform(new PartStates(planned(3), new Map()), (name) => ({
      ms: second,
      ...(name === 'c2' ? { error: fault } : {}),
    }));
    expect(error).toBe(fault);
    expect(log).toHaveLength(3);
    expect(revoked).toBeLessThanOrEqual(1);
  });

  test('that take three times the median are run once more, and the first result counts', async () => {
    const states = new PartStates(planned(4), new Map());
    const { error, log, revoked, seconds } = await perform(states, (name, run) => ({
      ms: name === 'c3' && run === 1 ? 500 * second : 10 * second,
    }));
    expect(error).toBeUndefined();
    expect(log).toEqual(['c0-1', 'c1-1', 'c2-1', 'c3-1', 'c3-2']);
    expect(states.outputs('chunk').at(-1)?.key).toBe('c3-2');
    // The other one is ended.
    expect(revoked).toBe(1);
    expect(seconds).toBeLessThan(55);
  });

  test('wait while Lambda has no engine, which is no failure of theirs', async () => {
    const { error, log } = await perform(new PartStates(planned(1), new Map()), (_, run) =>
      run < 6 ? { ms: 0, error: new NoEngineFree('throttled') } : { ms: second },
    );
    expect(error).toBeUndefined();
    expect(log).toHaveLength(6);
  });

  test('end when their run is aborted', async () => {
    const controller = new AbortController();
    const reason = new Error('canceled');
    setTimeout(() => controller.abort(reason), 5 * second);
    const { error, revoked, seconds } = await perform(
      new PartStates(planned(5), new Map()),
      () => ({ ms: 60 * second }),
      { signal: controller.signal },
    );
    expect(error).toBe(reason);
    expect(revoked).toBe(1);
    expect(seconds).toBeLessThan(6);
  });

  test('are left to the next attempt near the deadline, which resumes with those that are missing', async () => {
    const finished = new Map<string, FinishedPart>();
    const states = new PartStates(planned(60), finished);
    const first = await perform(states, () => ({ ms: 45 * second }), {
      deadline: Date.now() + 300 * second,
    });
    expect(first.error).toBeInstanceOf(Unfinished);
    expect(first.seconds).toBeLessThan(300);
    // None was started that could not end.
    expect(first.revoked).toBe(0);
    for (const { name } of planned(60)) if (first.log.includes(`${name}-1`)) finished.set(name, result(name, 1));
    const second_ = await perform(new PartStates(planned(60), finished), () => ({ ms: 45 * second }));
    expect(second_.log).toHaveLength(60 - first.log.length);
  });

  test('go on to the deadline if none of them finishes, so that the task fails and does not return forever', async () => {
    const controller = new AbortController();
    const reason = new Error('out of time');
    setTimeout(() => controller.abort(reason), 300 * second);
    const { error } = await perform(new PartStates(planned(2), new Map()), () => ({ ms: 1_000 * second }), {
      deadline: Date.now() + 300 * second,
      signal: controller.signal,
    });
    expect(error).toBe(reason);
  });

  test('report the engine time of each part once', () => {
    const states = new PartStates(planned(3), new Map([['c0', { ...result('c0', 1), ms: 500 }]]));
    const now = Date.now();
    states.begin('c1', now - 2_000);
    states.begin('c1', now - 1_000);
    expect(states.usedMs(now)).toBe(2_500);
    states.finish('c1', 2, { ...result('c1', 2), ms: 900 }, now);
    expect(states.usedMs(now)).toBe(1_400);
  });
});

/** A set of finished parts like that of the table: the first write of a part counts, and others learn of it. */
class PartSet {
  readonly parts = new Map<string, FinishedPart>();
  keep(name: string, part: FinishedPart): FinishedPart {
    const kept = this.parts.get(name) ?? part;
    this.parts.set(name, kept);
    return kept;
  }
}

test('Several coordinators of one task, each of which may die at any time, end with the same parts', async () => {
  const history = fc.array(
    fc.record({ diesAfter: fc.integer({ min: 1, max: 60 }), slow: fc.nat(5), broken: fc.nat(5) }),
    { maxLength: 6 },
  );
  await fc.assert(
    fc.asyncProperty(history, fc.integer({ min: 1, max: 6 }), async (attempts, count) => {
      const set = new PartSet();
      const joined: string[][] = [];
      // They overlap: the message of a worker that lost its heartbeat is delivered again while it still runs.
      const coordinator = async ({ diesAfter, slow, broken }: { diesAfter: number; slow: number; broken: number }) => {
        const controller = new AbortController();
        setTimeout(() => controller.abort(new Error('died')), diesAfter * second);
        const states = new PartStates(planned(count), new Map(set.parts));
        await runParts(states, {
          perform: async ({ name }, run) => {
            await new Promise((resolve) => setTimeout(resolve, name === `c${slow}` && run === 1 ? 40_000 : 5_000));
            if (name === `c${broken}` && run === 1) throw new BrokenRun('killed');
            return set.keep(name, { ...result(name, run), key: crypto.randomUUID() });
          },
          places: async () => 2,
          revoke: async () => {},
          onChange: () => {},
          signal: controller.signal,
          deadline: Date.now() + 880 * second,
          partMs: 5 * second,
        });
        joined.push(states.outputs('chunk').map(({ key }) => key));
      };
      const ends: Promise<unknown>[] = [];
      let isOver = false;
      for (const attempt of [...attempts, { diesAfter: 10_000, slow: 0, broken: 1 }]) {
        ends.push(coordinator(attempt).catch(() => undefined));
        await vi.advanceTimersByTimeAsync(attempt.slow * second);
      }
      void Promise.all(ends).then(() => {
        isOver = true;
      });
      while (!isOver) await vi.advanceTimersByTimeAsync(second);
      expect(joined.length).toBeGreaterThan(0);
      for (const keys of joined)
        expect(keys).toEqual([...Array(count).keys()].map((index) => set.parts.get(`c${index}`)?.key));
    }),
    { numRuns: historyRuns(30) },
  );
});
