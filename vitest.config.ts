import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { LastLine } from './test/support/last-line.ts';
import { LongestFirst } from './test/support/longest-first.ts';

export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    reporters: ['default', new LastLine()],
    sequence: { sequencer: LongestFirst },
    // Files that start a service load two cores by themselves, but wait half of their time.
    maxWorkers: Math.max(4, Math.floor(availableParallelism() / 2)),
    // Tests that run side by side wait for timers most of the time; one that is left over would wait alone.
    maxConcurrency: 6,
    // Machines of a shared runner stall for seconds; a test that hangs is found all the same.
    testTimeout: 120_000,
    hookTimeout: 300_000,
    teardownTimeout: 30_000,
    experimental: { diagnostics: false },
    projects: [
      {
        extends: true,
        test: { name: 'contract', include: ['test/contract/**/*.test.ts'], globalSetup: ['test/contract/setup.ts'] },
      },
      { extends: true, test: { name: 'all else', include: ['test/**/*.test.ts'], exclude: ['test/contract/**'] } },
    ],
  },
});
