import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { LastLine } from './test/support/last-line.ts';
import { LongestFirst } from './test/support/longest-first.ts';

/**
 * Files that leave nothing behind in their process, so that the next one may run in it with the modules it has loaded:
 * to load them anew takes longer than most of these tests.
 */
const tidy = [
  'test/unit/**/*.test.ts',
  'test/infra/{cost,distribution,nested-stacks,quotas,readme-sizes,template,unknown-resources}.test.ts',
  'packages/*/test/{api-gateway,cloudfront,sqs,unit}/**/*.test.ts',
  'packages/local-aws/test/gate/{dynamodb,lambda,policy,post-policy,s3-body,s3-checksums,s3,sqs}.test.ts',
];

/** Files that need a service as it is, and no other's account. */
const sharing = [
  'test/events/browser.test.ts',
  'test/stack/{descriptors,instant,lists,operations,pictures,posted-twice,readme,slice,snippets,text-and-size}.test.ts',
];

/**
 * Files that take minutes, because they kill, break off, withhold, attack, encode long videos or wait for limits of time: `npm run test:faults`
 * runs them.
 */
const faults = [
  'test/faults/**/*.test.ts',
  'test/commands/misbehaving/**/*.test.ts',
  'test/engines/processor-time.test.ts',
  'test/engines/document/{hostile-references,hostile-time}.test.ts',
  'test/engines/image/hostile.test.ts',
  'test/engines/media/{hls-player,split,split-join,split-parts,split-quality,split-ranges,split-size,split-stream,time-limit}.test.ts',
  'test/engines/mail/hostile.test.ts',
  'test/engines/pdf/{archive,compare,fill,hostile,marks,ocr,protect}.test.ts',
  'test/events/follow.test.ts',
  'test/infra/images/{container,context,layers}.test.ts',
  'test/security/{hostile-engine,hostile-function,planted-program}.test.ts',
  'test/stack/{large-output,retention,split,split-pages}.test.ts',
  'packages/local-aws/test/gate/misbehaving.test.ts',
  'packages/local-aws/test/lambda/{runtime,scheduling}.test.ts',
];

/** Those of them that share a service. */
const sharingFaults = ['test/stack/{long-work,minutes}.test.ts'];

/** For files that start services; those that leave nothing behind start none. */
const setUp = ['test/support/global-setup.ts'];

export default defineConfig({
  test: {
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
        test: {
          name: 'contract',
          include: ['test/contract/**/*.test.ts'],
          globalSetup: [...setUp, 'test/contract/setup.ts'],
        },
      },
      {
        extends: true,
        // What a test stubs would change the files after it; a spy on a common function would keep every one of its calls.
        test: {
          name: 'tidy',
          include: tidy,
          isolate: false,
          restoreMocks: true,
          unstubEnvs: true,
          unstubGlobals: true,
        },
      },
      {
        extends: true,
        test: {
          name: 'one service',
          include: sharing,
          globalSetup: [...setUp, 'test/support/shared-service.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'all else',
          include: ['{test,packages/*/test}/**/*.test.ts'],
          exclude: ['test/contract/**', ...tidy, ...sharing, ...faults, ...sharingFaults],
          globalSetup: setUp,
        },
      },
      {
        extends: true,
        test: { name: 'faults', include: faults, globalSetup: setUp },
      },
      {
        extends: true,
        test: {
          name: 'faults of one service',
          include: sharingFaults,
          globalSetup: [...setUp, 'test/support/shared-service.ts'],
        },
      },
    ],
  },
});
