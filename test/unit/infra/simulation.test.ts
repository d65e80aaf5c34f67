import { describe, expect, it } from 'vitest';
import { currentTemplate } from '../../../infra/build/template-cache.ts';
import { inventoryOf } from '../../../infra/cost/inventory.ts';
import { needsOf } from '../../../infra/cost/simulation/needs.ts';
import { FairQueue } from '../../../infra/cost/simulation/queue.ts';
import { type Scenario, simulate } from '../../../infra/cost/simulation/simulate.ts';
import { simulateSplit } from '../../../infra/cost/simulation/split.ts';
import { readFlattened } from '../../../packages/local-aws/src/template/flatten.ts';

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
      { name: 'short', engine: 'image', share: 0.9, engineSeconds: 0.5, maxConcurrency: 36 },
      { name: 'long', engine: 'media', share: 0.1, engineSeconds: 20, maxConcurrency: 160 },
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

describe('the needs of a load', () => {
  const engine = (name: string, maxConcurrency: number) => ({
    engine: name,
    resources: { maxConcurrency },
  });
  const day: Scenario = {
    name: 'a day',
    hours: 24,
    jobsPerSecond: 1_000,
    accounts: 50,
    kinds: [
      { name: 'short', engine: 'image', share: 0.8, engineSeconds: 0.1, maxConcurrency: 160 },
      { name: 'medium', engine: 'image', share: 0.19, engineSeconds: 0.1, maxConcurrency: 38 },
      { name: 'long', engine: 'media', share: 0.01, engineSeconds: 100, maxConcurrency: 2_000 },
    ],
    regionConcurrency: 3_000,
  };
  const inventory = { throttleRate: 500, waitConcurrency: 100 };
  const needs = (scenarios: Scenario[]) =>
    Object.fromEntries(
      needsOf({
        scenarios,
        peakRunning: 2_000,
        inventory,
        catalogues: [engine('image', 100), engine('media', 50), engine('ebook', 20)],
      }).map(({ name, needed, available }) => [name, [needed, available]]),
    );

  it('follow from its jobs', () => {
    expect(needs([day])).toEqual({
      // 19 units for each job.
      'table and indexes, write units a second': [19_000, 4_000],
      // 7 for each job; 4 of each short wait and 96 of four long ones.
      'table and indexes, read units a second': [7_000 + 990 * 4 + 10 * 96, 12_000],
      // Two and a wait, or four.
      'throttleRate, requests a second': [990 * 3 + 10 * 6, 500],
      'API Gateway, requests a second': [3_030, 10_000],
      // 60.6 a second.
      'ratePerMinute of the busiest account': [3_636, 3_000],
      'creationsPerMinute of the busiest account': [1_200, 1_200],
      // 990 × 0.1 + 10 × 100.
      'waitConcurrency, waits that are held at once': [1_099, 100],
      // 1,099 × 60 / 25 / 50 = 52.752.
      'waitsPerMinute of an account, of 25 s each': [53, 60],
      // 180 and a tenth of that in reserve.
      'image.maxConcurrency, for 198 workers': [180, 100],
      'media.maxConcurrency, for 2000 workers': [2_000, 50],
      // An engine and a worker each, the waits, and 180 ms of others for each job.
      'Lambda, concurrent executions': [4_000 + 1_099 + 180, 1_000],
      'new WebSockets a second, if each job has one': [1_000, 500],
      'S3, writes a second to a new bucket': [5_000, 3_500],
      'EventBridge, PutEvents a second': [1_000, 10_000],
    });
  });

  it('grow with a burst by the requests that create its jobs', () => {
    const burst = needs([day, { ...day, burst: { kind: 'short', jobs: 60_000, atHour: 6 } }]);
    expect(burst['throttleRate, requests a second']).toEqual([4_030, 500]);
    expect(burst['creationsPerMinute of the busiest account']).toEqual([61_200, 1_200]);
  });

  it('say what no setting can give', () => {
    const all = needsOf({ scenarios: [day], peakRunning: 2_000, inventory, catalogues: [engine('media', 50)] });
    const how = (start: string) => all.find(({ name }) => name.startsWith(start))?.how;
    expect(how('media.maxConcurrency')).toBe('at most 1000: one queue has no more workers');
    expect(how('waitConcurrency')).toBe('at most 900: the others need webhooks');
  });
});

describe('an hour of 1080p in parts', () => {
  it('takes less than two minutes and half a dollar with 100 engines', async () => {
    const inventory = inventoryOf(readFlattened(await currentTemplate()));
    const run = simulateSplit(inventory, { minutes: 60, bytes: 1e9, places: 100 });
    const large = simulateSplit(inventory, { minutes: 60, bytes: 2e9, places: 100 });
    for (const each of [run, large]) {
      expect(each.joined).toBeLessThan(120);
      expect(each.dollars).toBeLessThan(0.5);
      expect(each.wholeSeconds).toBeGreaterThan(900);
    }
    // With few engines it takes about as long as one needs alone, and costs as much.
    const alone = simulateSplit(inventory, { minutes: 60, bytes: 1e9, places: 1 });
    expect(alone.joined).toBeGreaterThan(run.wholeSeconds);
  });
});
