import { afterAll, beforeAll, expect, test } from 'vitest';
import type { LocalFunction, LocalStack, QueueSource } from '../../packages/local-aws/src/template/model.ts';
import { startStack, type TestStack } from '../events/stack.ts';
import { isBroad } from '../support/breadth.ts';
import { functionOf } from '../support/running-stack.ts';
import { runChaos } from './chaos.ts';

let stack: TestStack;

beforeAll(async () => {
  let relay: LocalFunction | undefined;
  const alter = (altered: LocalStack) => {
    relay = functionOf(altered, 'functions/events/relay/relay.ts');
    hastenRedelivery(altered);
  };
  const deliverTwice = ({ function: fn }: QueueSource) => fn === relay;
  stack = await startStack({ LATHE_SWEEP_SECONDS: '5' }, { alter, deliverTwice });
});

afterAll(() => stack[Symbol.asyncDispose]());

/** A worker that dies before it claims its task leaves the message hidden for 90 minutes, six times the function's timeout. */
function hastenRedelivery(altered: LocalStack): void {
  const worker = functionOf(altered, 'functions/transfers/handler.ts');
  const source = altered.queueSources.find(({ function: fn }) => fn === worker);
  if (!source) throw new Error('The worker of transfers has no queue.');
  source.queue.attributes.VisibilityTimeout = '40';
}

// `npm run test:events` runs 200.
const runs = Number(process.env.LATHE_TEST_RUNS ?? (isBroad ? 6 : 4));
const quietRuns = isBroad ? 4 : 2;

test('both kinds of client receive every event of ten tasks once and in order, even if the relay receives each message twice', async () => {
  const figures = await runChaos(stack, { runs: quietRuns, atOnce: 2, kill: false });
  expect(figures.faults).toEqual([]);
  expect(figures.repeats).toBe(0);
  expect(figures.events).toBe(quietRuns * 2 * 22);
});

test(
  'both kinds of client end with the right state while workers, relay and sockets are killed, and messages are delivered twice',
  async () => {
    const figures = await runChaos(stack, { runs, atOnce: Math.min(runs, 20) });
    process.stdout.write(`${JSON.stringify({ ...figures, faults: figures.faults.length })}\n`);
    expect(figures.faults).toEqual([]);
    for (const [kind, kills] of Object.entries(figures.kills)) expect(kills, kind).toBeGreaterThan(0);
    expect(figures.reconnects).toBeGreaterThan(0);
  },
  300_000 + runs * 10_000,
);
