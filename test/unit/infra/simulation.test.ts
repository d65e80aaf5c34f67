import { describe, expect, it } from 'vitest';
import { FairQueue } from '../../../infra/cost/simulation/queue.ts';
import { type Scenario, simulate } from '../../../infra/cost/simulation/simulate.ts';

describe('a fair queue', () => {
  it('serves the others first once one account has most of what is in flight', () => {
    const queue = new FairQueue(true);
    queue.add(0, 0, 1_000);
    queue.add(1, 1, 10);
    const taken = queue.take(100, 1);
    expect(taken.filter(({ account }) => account === 1).reduce((sum, { tasks }) => sum + tasks, 0)).toBe(10);
    expect(queue.running).toBe(100);
    expect(queue.waiting).toBe(910);
  });

  it('serves the oldest first where messages carry no account', () => {
    const queue = new FairQueue(false);
    queue.add(0, 0, 1_000);
    queue.add(1, 1, 10);
    expect(queue.take(100, 1)).toEqual([{ account: 0, waitedSeconds: 1, tasks: 100 }]);
  });

  it('leaves no worker idle for the sake of fairness', () => {
    const queue = new FairQueue(true);
    queue.add(0, 0, 1_000);
    expect(queue.take(100, 0).reduce((sum, { tasks }) => sum + tasks, 0)).toBe(100);
  });
});

describe('the simulation', () => {
  const hour: Scenario = {
    name: 'an hour',
    hours: 1,
    jobsPerSecond: 40,
    accounts: 4,
    kinds: [
      { name: 'short', share: 0.9, engineSeconds: 0.5, maxConcurrency: 36 },
      { name: 'long', share: 0.1, engineSeconds: 20, maxConcurrency: 160 },
    ],
    regionConcurrency: 200,
  };
  const shortOf = (jobs: number) => ({ ...hour, burst: { kind: 'short', jobs, atHour: 0.5 } });

  it('completes every job that was created, and none waits while there is capacity', () => {
    const { created, completed, waiting, running, waits } = simulate(hour);
    expect({ created, completed, waiting, running }).toEqual({
      created: 144_000,
      completed: 144_000,
      waiting: 0,
      running: 0,
    });
    expect(waits.others.max).toBe(0);
  });

  it('lets nobody else wait for a burst of one account, which would without accounts on messages', () => {
    const fair = simulate(shortOf(10_000));
    const plain = simulate({ ...shortOf(10_000), isFair: false });
    expect(fair.created).toBe(154_000);
    expect(fair.completed).toBe(154_000);
    expect(fair.waits.others.max).toBeLessThanOrEqual(1);
    expect(fair.waits.burst.max).toBeGreaterThan(60);
    expect(plain.waits.others.max).toBeGreaterThan(30);
  });

  it('works off what came while Lambda gave no capacity', () => {
    const { created, completed, peakWaiting } = simulate({ ...hour, withoutLambda: { atHour: 0.5, minutes: 5 } });
    expect(completed).toBe(created);
    expect(peakWaiting).toBe(40 * 300);
  });

  it('works off what came while an engine was slow', () => {
    const slowed = { kind: 'short', factor: 4, fromHour: 0.25, toHour: 0.5 };
    const { created, completed, backlogSeconds } = simulate({ ...hour, slowed });
    expect(completed).toBe(created);
    expect(backlogSeconds).toBeGreaterThan(60);
  });
});
