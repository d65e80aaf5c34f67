import fc from 'fast-check';
import { describe, it } from 'vitest';
import { historyRuns } from '../../support/history-runs.ts';
import { type Action, type History, type Node, type Outcome, run, runPromptly } from './history.ts';
import type { Faults } from './memory-records.ts';

const node: fc.Arbitrary<Node> = fc.record({
  source: fc.constantFrom('worker', 'inline', 'upload'),
  inputs: fc.array(fc.nat(30), { maxLength: 3 }),
});

const someFaults: fc.Arbitrary<Faults> = fc.record({
  crashIn: fc.option(fc.nat(12), { nil: undefined, freq: 3 }),
  failIn: fc.option(fc.nat(12), { nil: undefined, freq: 6 }),
});
const noFaults: fc.Arbitrary<Faults> = fc.constant({});

const pick = fc.nat(30);
const work = (...outcomes: Outcome[]) =>
  fc.record({
    kind: fc.constant('work' as const),
    pick,
    outcome: fc.constantFrom(...outcomes),
    beats: fc.nat(2),
    lost: fc.boolean(),
    ms: fc.constantFrom(0, 1_000, 59_000, 100_000),
  });
const touch = fc.record({
  kind: fc.constantFrom('cancel' as const, 'delete' as const, 'upload' as const, 'redeliver' as const),
  pick,
});
const giveUp = fc.record({ kind: fc.constant('deadLetter' as const), pick });
const deleteJob = fc.record({ kind: fc.constant('deleteJob' as const) });
const sweep = fc.record({ kind: fc.constant('sweep' as const) });
// Within a heartbeat window, beyond it, beyond what consequences and queues may take, beyond an upload's time.
const advance = fc.record({ kind: fc.constant('advance' as const), seconds: fc.constantFrom(20, 35, 70, 1000, 4000) });

const faulty = (action: fc.Arbitrary<Action>): fc.Arbitrary<Action> =>
  fc.tuple(action, someFaults).map(([plain, faults]) => ({ ...plain, ...faults }));

const anyAction = faulty(
  fc.oneof(
    { weight: 6, arbitrary: work('complete', 'complete', 'fail', 'vanish', 'postpone', 'return') },
    { weight: 5, arbitrary: touch },
    { weight: 1, arbitrary: giveUp },
    { weight: 1, arbitrary: deleteJob },
    { weight: 2, arbitrary: sweep },
    { weight: 2, arbitrary: advance },
  ),
);
const faultlessAction: fc.Arbitrary<Action> = fc.oneof(
  { weight: 6, arbitrary: work('complete', 'complete', 'fail', 'postpone', 'return') },
  { weight: 5, arbitrary: touch },
  { weight: 1, arbitrary: giveUp },
  { weight: 1, arbitrary: deleteJob },
);

const historyOf = (asJob: boolean, action: fc.Arbitrary<Action>, creation: fc.Arbitrary<Faults>) =>
  fc.record<History>({
    outside: fc.array(node, { maxLength: 3 }),
    inside: fc.array(node, { minLength: 1, maxLength: 9, size: 'max' }),
    asJob: fc.constant(asJob),
    hasSubscribers: fc.boolean(),
    performs: fc.boolean(),
    reversed: fc.boolean(),
    allowance: fc.option(fc.constantFrom(60_000, 120_000, 200_000, 10_000_000), { nil: undefined }),
    creation,
    actions: fc.array(action, { maxLength: 20, size: 'max' }),
    choices: fc.uint8Array({ maxLength: 150, size: 'max' }),
  });

const worker: Node = { source: 'worker', inputs: [] };
const complete = { kind: 'work', pick: 0, outcome: 'complete', beats: 0, lost: false } as const;
/** An interrupted creation and deletion of the job: a worker started a task before its input's end was published. */
const startInDeletedJob: History = {
  outside: [worker, worker],
  inside: [
    worker,
    { source: 'inline', inputs: [] },
    { source: 'worker', inputs: [15] },
    ...[worker, worker, worker, worker],
  ],
  asJob: true,
  hasSubscribers: true,
  performs: false,
  reversed: true,
  creation: { crashIn: 8 },
  actions: [
    complete,
    { kind: 'advance', seconds: 1000 },
    { kind: 'deleteJob', crashIn: 2 },
    { kind: 'sweep' },
    { ...complete, failIn: 0 },
    { ...complete, pick: 21 },
  ],
  choices: new Uint8Array(),
};

/** The same with a worker that reports progress: not the start was published, but the progress was. */
const progressInDeletedJob: History = {
  outside: [worker],
  inside: [
    { source: 'upload', inputs: [] },
    { source: 'inline', inputs: [] },
    { source: 'worker', inputs: [17, 4] },
    ...[worker, worker, worker, worker, worker],
  ],
  asJob: true,
  hasSubscribers: true,
  performs: false,
  reversed: true,
  creation: { crashIn: 9 },
  actions: [complete, { kind: 'upload', pick: 26 }, { kind: 'deleteJob', crashIn: 2 }, { ...complete, beats: 1 }],
  choices: new Uint8Array(),
};

/** One of two inputs completed unpublished, the other after every check of the sweep: the start was published before that end. */
const endLongBeforeStart: History = {
  outside: [worker, worker],
  inside: [worker, worker, worker, { source: 'worker', inputs: [0, 24] }],
  asJob: true,
  hasSubscribers: true,
  performs: false,
  reversed: false,
  creation: {},
  actions: [complete, { ...complete, pick: 3, lost: true, failIn: 6 }],
  choices: Uint8Array.of(0, 31, 46),
};

/** Two deliveries of one end: the first performed a dependent and died before it deleted its secrets, the second ended the job. */
const secretsOfPerformed: History = {
  outside: [worker],
  inside: [
    { source: 'worker', inputs: [0] },
    { source: 'worker', inputs: [7, 0] },
    { source: 'inline', inputs: [] },
  ],
  asJob: true,
  hasSubscribers: false,
  performs: true,
  reversed: false,
  creation: {},
  actions: [complete, { kind: 'redeliver', pick: 0 }, { ...complete, failIn: 8 }],
  choices: Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 55, 128, 102, 75, 0, 0, 69, 0, 44, 110),
};

/** A chain of tasks that were performed in place: the last was published before the first. */
const performedInChains: History = {
  outside: [worker, worker],
  inside: [[], [0], [0], [], [16], [0, 18, 3], [], [], [26, 7]].map((inputs) => ({ ...worker, inputs })),
  asJob: true,
  hasSubscribers: true,
  performs: true,
  reversed: false,
  creation: {},
  actions: [],
  choices: new Uint8Array(),
};

/** A task that was named before its input, done in place by a worker that then died, and published by the sweep with that. */
const performedBeforeItsInput: History = {
  outside: [worker],
  inside: [worker, { source: 'inline', inputs: [] }, { source: 'worker', inputs: [14, 0] }],
  asJob: true,
  hasSubscribers: true,
  performs: true,
  reversed: true,
  creation: { failIn: 5 },
  actions: [
    { kind: 'cancel', pick: 1 },
    { ...complete, failIn: 9 },
  ],
  choices: new Uint8Array([0, 0, 0, 0, 225]),
};

/** What earlier searches found. */
const found = [
  startInDeletedJob,
  progressInDeletedJob,
  endLongBeforeStart,
  secretsOfPerformed,
  performedInChains,
  performedBeforeItsInput,
];

const timeoutMs = historyRuns(300_000);

describe('random histories', () => {
  it(
    'leave no task stuck and no job that disagrees with its tasks, whatever crashes, cancels and deletions interleave',
    async () => {
      await fc.assert(fc.asyncProperty(historyOf(true, anyAction, someFaults), run), {
        numRuns: historyRuns(3_000),
        examples: found.map((history) => [history]),
      });
    },
    timeoutMs,
  );

  it(
    'leave no task stuck when tasks are created one at a time, each naming earlier ones',
    async () => {
      await fc.assert(fc.asyncProperty(historyOf(false, anyAction, someFaults), run), { numRuns: historyRuns(1_000) });
    },
    timeoutMs,
  );

  it(
    'leave nothing to the sweep when nothing crashes',
    async () => {
      await fc.assert(fc.asyncProperty(historyOf(true, faultlessAction, noFaults), runPromptly), {
        numRuns: historyRuns(1_200),
      });
    },
    timeoutMs,
  );
});
