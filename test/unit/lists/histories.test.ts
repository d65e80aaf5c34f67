import fc from 'fast-check';
import { expect, test } from 'vitest';
import { listJobs, listTasks } from '../../../shared/lists/list.ts';
import type { TaskStatus } from '../../../shared/tasks/task.ts';
import { historyRuns } from '../../support/history-runs.ts';
import { dayMs, makeAlone, makeGroup, start, windowOf } from './factory.ts';
import { MemoryOwned } from './memory-owned.ts';

const minuteMs = 60_000;
/** What the index may lag behind, and how long a record may be written after its id was made. */
const maxLagMs = 140_000;
const maxWriteDelayMs = 29_000;

const statuses = [undefined, 'created', 'processing', 'completed', 'failed', 'canceled'];
const filter = fc.record({
  status: fc.constantFrom(...statuses),
  operation: fc.constantFrom(undefined, undefined, 'convert', 'export/url'),
});
const page = fc.record({ skip: fc.nat(400), limit: fc.constantFrom(1, 7, 50) });
const pick = fc.nat(10_000);
const action = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('create' as const),
      jobs: fc.integer({ min: 10, max: 60 }),
      size: fc.nat(3),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('end' as const), pick, count: fc.nat(80), outcome: fc.nat(3) }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('deleteTask' as const, 'deleteGroup' as const), pick }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('list' as const), filter, page, deleteInBetween: fc.option(pick) }),
  },
  // Seconds, slots, and hours.
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('advance' as const), minutes: fc.constantFrom(0.2, 2, 7, 7, 20, 150) }),
  },
);
type Action = typeof action extends fc.Arbitrary<infer T> ? T : never;

function create(owned: MemoryOwned, jobs: number, size: number): void {
  for (let index = 0; index < jobs; index++) {
    const created = owned.now - ((index * 977) % maxWriteDelayMs);
    const open: TaskStatus[] = ['processing', 'created', 'created'];
    owned.write(size === 0 ? makeAlone(created, 'processing') : makeGroup(created, 'processing', open.slice(0, size)));
  }
}

/** Ends what is open of some groups: completed, or failed with tasks that go on for some more steps. */
function end(owned: MemoryOwned, pick: number, count: number, outcome: number): void {
  const { jobs, tasks } = owned.all();
  const status = outcome === 0 ? 'failed' : 'completed';
  const alone = tasks.filter((task) => task.job === undefined && task.status === 'processing');
  for (const task of alone.slice(0, pick % 20))
    owned.write({ tasks: [{ ...task, status: outcome === 1 ? 'canceled' : status }] });
  for (const job of jobs.filter((each) => each.status !== 'completed').slice(pick % 50, (pick % 50) + count)) {
    const own = job.tasks.flatMap((id) => owned.task(id) ?? []);
    const isFailing = job.status === 'failed' || status === 'failed' || own.length < job.tasks.length;
    const goesOn = isFailing && job.status !== 'failed';
    owned.write({
      job: { ...job, status: isFailing ? 'failed' : 'completed' },
      tasks: own.map((task, index) =>
        isEnded(task.status) || (goesOn && index > 0) ? task : { ...task, status: isFailing ? 'failed' : 'completed' },
      ),
    });
  }
}

function isEnded(status: TaskStatus): boolean {
  return status !== 'created' && status !== 'processing';
}

/** Deletes a task, which fails its job unless it has ended. */
function deleteTask(owned: MemoryOwned, pick: number): void {
  const { tasks } = owned.all();
  const task = tasks[pick % Math.max(1, tasks.length)];
  if (!task) return;
  owned.delete(task.id);
  const job = task.job === undefined ? undefined : owned.job(task.job);
  if (job && job.status !== 'completed') owned.write({ job: { ...job, status: 'failed' }, tasks: [] });
}

function deleteGroup(owned: MemoryOwned, pick: number): void {
  const { jobs } = owned.all();
  const job = jobs[pick % Math.max(1, jobs.length)];
  if (job) owned.delete(job.id);
}

async function take(owned: MemoryOwned, step: Action): Promise<void> {
  switch (step.kind) {
    case 'create':
      return create(owned, step.jobs, step.size);
    case 'end':
      return end(owned, step.pick, step.count, step.outcome);
    case 'deleteTask':
      return deleteTask(owned, step.pick);
    case 'deleteGroup':
      return deleteGroup(owned, step.pick);
    case 'advance':
      owned.now += step.minutes * minuteMs;
      return;
    case 'list': {
      const between = step.deleteInBetween;
      owned.beforeSave = () => {
        owned.beforeSave = () => {};
        if (between !== null) deleteTask(owned, between);
      };
      const { docs } = await listTasks(owned, step.filter, windowOf(owned, step.page.skip, step.page.limit));
      owned.beforeSave = () => {};
      expect(new Set(docs.map(({ id }) => id)).size).toBe(docs.length);
      const { status, operation } = step.filter;
      for (const task of docs) {
        if (status !== undefined) expect(task.status).toBe(status);
        if (operation !== undefined) expect(task.operation).toBe(operation);
      }
    }
  }
}

/** Compares lists with the records, at a time when the index shows all of them. */
async function expectRight(owned: MemoryOwned): Promise<void> {
  const { tasks, jobs } = owned.all();
  for (const status of statuses) {
    for (const operation of [undefined, 'convert']) {
      const expected = tasks
        .filter((task) => (status ?? task.status) === task.status && (operation ?? task.operation) === task.operation)
        .map(({ id }) => id);
      for (const skip of [0, Math.floor(expected.length / 2)]) {
        const list = await listTasks(owned, { status, operation }, windowOf(owned, skip));
        expect(list.total).toBe(expected.length);
        expect(list.docs.map(({ id }) => id)).toEqual(expected.slice(skip, skip + 50));
      }
    }
    const list = await listJobs(owned, { status }, windowOf(owned));
    const expected = jobs.filter((job) => (status ?? job.status) === job.status).map(({ id }) => id);
    expect(list.total).toBe(expected.length);
    expect(list.docs.map(({ id }) => id)).toEqual(expected.slice(0, 50));
  }
}

/** An hour of jobs. Most have ended, and the counts of the first half are stored. */
const beginning: Action[] = [
  ...[1, 2, 3].flatMap((size): Action[] => [
    { kind: 'create', jobs: 40, size },
    { kind: 'advance', minutes: 20 },
  ]),
  { kind: 'end', pick: 0, count: 80, outcome: 2 },
  { kind: 'end', pick: 0, count: 20, outcome: 0 },
  { kind: 'advance', minutes: 7 },
  {
    kind: 'list',
    filter: { status: 'failed', operation: undefined },
    page: { skip: 0, limit: 7 },
    deleteInBetween: null,
  },
];

test('whatever happened before, totals and pages are right once the index has caught up', async () => {
  const history = fc.record({
    steps: fc.array(action, { minLength: 10, maxLength: 30, size: 'max' }),
    lagMs: fc.nat(maxLagMs),
  });
  await fc.assert(
    fc.asyncProperty(history, async ({ steps, lagMs }) => {
      const owned = new MemoryOwned(start);
      owned.lagMs = lagMs;
      for (const step of [...beginning, ...steps]) await take(owned, step);
      owned.now += maxLagMs;
      await expectRight(owned);
      owned.now += 20 * minuteMs;
      await expectRight(owned);
      owned.now += dayMs / 2;
      await expectRight(owned);
    }),
    // Not shrunk: a smaller history of this size takes minutes to be found, and its seed is printed.
    { numRuns: historyRuns(15), endOnFailure: true },
  );
});
