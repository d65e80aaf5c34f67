import { afterAll, beforeAll, expect, test } from 'vitest';
import type { LocalStack } from '../../infra/local/template/model.ts';
import { runChaos } from './chaos.ts';
import { startStack, type TestStack } from './stack.ts';

let stack: TestStack;

beforeAll(async () => {
  stack = await startStack(
    { LATHE_SWEEP_SECONDS: '5' },
    { alter: hastenRedelivery, deliverTwice: ({ function: fn }) => fn.entry.endsWith('events/relay.ts') },
  );
});

afterAll(() => stack[Symbol.asyncDispose]());

/** A worker that dies before it has claimed its task leaves the message hidden for the function's 15 minutes. */
function hastenRedelivery({ queueSources }: LocalStack): void {
  for (const { queue, function: fn } of queueSources)
    if (fn.entry.endsWith('engines/transfer/handler.ts')) queue.attributes.VisibilityTimeout = '40';
}

// All 200 runs of it are `npm run test:events`.
const runs = Number(process.env.LATHE_TEST_RUNS ?? 6);

test('both kinds of client receive every event of ten tasks once and in order, though the relay gets each message twice', async () => {
  const figures = await runChaos(stack, { runs: 4, atOnce: 2, kill: false });
  expect(figures.faults).toEqual([]);
  expect(figures.repeats).toBe(0);
  expect(figures.events).toBe(4 * 2 * 22);
});

test(
  'both kinds of client end with the right state while workers, relay and sockets are killed, and messages come twice',
  async () => {
    const figures = await runChaos(stack, { runs, atOnce: Math.min(runs, 20) });
    process.stdout.write(`${JSON.stringify({ ...figures, faults: figures.faults.length })}\n`);
    expect(figures.faults).toEqual([]);
    if (runs >= 50) for (const kills of Object.values(figures.kills)) expect(kills).toBeGreaterThan(0);
  },
  300_000 + runs * 10_000,
);
