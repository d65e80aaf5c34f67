import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { planTasks } from '../../functions/api/creation/plan.ts';
import type { hasSubscribers as hasSubscribersInTable } from '../../shared/aws/stores/account-subscribers.ts';
import type { records as tableRecords } from '../../shared/aws/stores/records.ts';
import type { query as tableQuery } from '../../shared/aws/table.ts';
import { tableSchema } from '../../shared/aws/table-schema.ts';
import { Catalogue } from '../../shared/catalogue/catalogue.ts';
import { newId } from '../../shared/ids.ts';
import { decideJob, type Job, type JobEvent, type JobEventType, withPendingEvents } from '../../shared/jobs/job.ts';
import type { LifecycleRecords } from '../../shared/lifecycle/dependencies.ts';
import type { Task } from '../../shared/tasks/task.ts';
import { decide, type TaskEvent } from '../../shared/tasks/transitions.ts';
import { allowTable, pauseConsumers, tableVariables } from '../support/roles.ts';
import { startAlteredStack } from '../support/running-stack.ts';
import { MemoryService } from '../unit/lifecycle/memory-records.ts';
import { makeRequest } from '../unit/tasks/factory.ts';

/** Long ago, so that these records are due before all others. */
const createdAt = Date.UTC(2026, 0, 1, 12);

let service: Awaited<ReturnType<typeof startAlteredStack>>;
let records: typeof tableRecords;
let query: typeof tableQuery;
let hasSubscribers: typeof hasSubscribersInTable;

beforeAll(async () => {
  service = await startAlteredStack((stack) => {
    pauseConsumers(stack, /./);
    stack.schedules = [];
    allowTable(stack);
  });
  for (const [name, value] of Object.entries(await tableVariables(service))) vi.stubEnv(name, value);
  // After setting the variables, which these modules read on load.
  vi.resetModules();
  ({ records } = await import('../../shared/aws/stores/records.ts'));
  ({ query } = await import('../../shared/aws/table.ts'));
  ({ hasSubscribers } = await import('../../shared/aws/stores/account-subscribers.ts'));
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await service[Symbol.asyncDispose]();
});

/** Plans a job whose tasks all wait for the first. */
function planOf(lastTasks: number): { job: Job; tasks: Task[] } {
  const names = Array.from({ length: lastTasks }, (_, index) => `last${index}`);
  const requests = [makeRequest('first'), ...names.map((name) => makeRequest(name, { inputs: ['first'] }))];
  const context = { user: newId(), now: createdAt, recordSeconds: 86_400, uploadSeconds: 3_600, job: {} };
  const planned = planTasks(requests, { ...context, catalogue: new Catalogue([]), outside: new Map() });
  if ('errors' in planned || !planned.plan.job) throw new Error('The plan was refused.');
  const { job, tasks } = planned.plan;
  return { job: withPendingEvents(job, ['created'], createdAt), tasks };
}

async function write(target: LifecycleRecords, { job, tasks }: { job: Job; tasks: Task[] }): Promise<void> {
  await target.createTasks(tasks);
  await target.createJob(job);
}

/** Returns a record with sorted sets, and without empty ones, which a table cannot hold. */
function normalized<T extends Task | Job>(record: T | undefined): object | undefined {
  return (
    record &&
    Object.fromEntries(
      Object.entries(record)
        .filter(([, value]) => value !== undefined && !(Array.isArray(value) && value.length === 0))
        .map(([name, value]) => [
          name,
          ['open', 'gone', 'pendingEvents', 'dependents'].includes(name) ? value.toSorted() : value,
        ]),
    )
  );
}

describe('a group', () => {
  test.each([1, 30])('of a job with %i last tasks is read whole by the id of any of them', async (count) => {
    const plan = planOf(count);
    const other = planOf(1);
    await write(records, plan);
    await write(records, other);

    for (const id of [plan.job.id, plan.tasks[0]?.id ?? '', plan.tasks.at(-1)?.id ?? '']) {
      const group = await records.group(id);
      expect(normalized(group.job)).toEqual(normalized(plan.job));
      expect(group.tasks.map(normalized)).toEqual(plan.tasks.map(normalized));
    }
  });

  test('is read in part: its job, and the tasks that are named, which may be of other groups', async () => {
    const [plan, other] = [planOf(3), planOf(1)];
    await write(records, plan);
    await write(records, other);
    const [first, second] = [plan.tasks[0]?.id ?? '', other.tasks[1]?.id ?? ''];

    const group = await records.groupPart(first, [first, second, newId()]);

    expect(group.job?.id).toBe(plan.job.id);
    expect(group.tasks.map(({ id }) => id).sort()).toEqual([first, second].sort());
  });

  test('is read at once if it is small, and otherwise not at all', async () => {
    const [small, large] = [planOf(20), planOf(40)];
    await write(records, small);
    await write(records, large);

    expect((await records.smallGroup(small.tasks[3]?.id ?? ''))?.tasks).toHaveLength(21);
    expect(await records.smallGroup(large.tasks[3]?.id ?? '')).toBeUndefined();
  });

  test('is in each index once, by its first record', async () => {
    const plan = planOf(30);
    await write(records, plan);
    const [alone] = planOf(0).tasks;
    if (!alone) throw new Error('The plan has no task.');
    const { job: _job, ...task } = { ...alone, id: newId(), user: plan.job.user, dueAt: createdAt + 60_000 };
    await records.createTasks([task]);

    const { name: index } = tableSchema.byOwner;
    const owned = (kind: string) =>
      query({
        index,
        keys: '#owner = :owner',
        names: { '#owner': 'owner' },
        values: { ':owner': `${kind}#${task.user}` },
      });
    expect((await owned('jobs')).map(({ id }) => id)).toEqual([plan.job.id]);
    expect((await owned('tasks')).map(({ id }) => id)).toEqual([task.id]);
    const { heads } = await records.due(createdAt + 600_000, 100_000);
    const found = heads.filter(({ user }) => user === task.user).map(({ id }) => id);
    expect(found.sort()).toEqual([plan.job.id, task.id].sort());
  });
});

const pick = fc.nat(40);
const now = createdAt + 60_000;
const failure = { errorCode: 'task_failed', msg: 'why' } as const;

/** A change of a job or its tasks; callers may hold the job as of that many steps ago. */
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ type: fc.constant('close' as const), pick }) },
  fc.record({
    type: fc.constant('published' as const),
    back: fc.nat(3),
    events: fc.subarray<JobEventType>(['created', 'started', 'ended'], { minLength: 1 }),
  }),
  fc.record({
    type: fc.constant('looked' as const),
    back: fc.nat(2),
    dueAt: fc.option(fc.integer({ min: now, max: now + 600_000 }), { nil: undefined }),
  }),
  fc.record({
    type: fc.constant('job' as const),
    event: fc.constantFrom<JobEvent>(
      { type: 'started' },
      { type: 'allTasksEnded' },
      { type: 'failed', failure, isOver: true },
      { type: 'deleted' },
    ),
  }),
  fc.record({
    type: fc.constant('task' as const),
    pick,
    event: fc.constantFrom<TaskEvent>(
      { type: 'started' },
      { type: 'progressed', attempt: 1, percent: 50 },
      { type: 'completed', attempt: 1, files: [] },
      { type: 'canceled' },
      { type: 'deleted' },
    ),
  }),
  fc.record({ type: fc.constant('linked' as const), pick, dependent: pick }),
  fc.record({ type: fc.constant('removed' as const), pick }),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

function at<T>(items: T[], index: number): T {
  const found = items.at(index % items.length);
  if (found === undefined) throw new Error('There is nothing to pick from.');
  return found;
}

function take(one: Step, target: LifecycleRecords, tasks: Task[], seen: Job[]): Promise<unknown> {
  switch (one.type) {
    case 'close':
      return target.closeTask(at(tasks, one.pick));
    case 'published':
      return target.markPublished(at(seen.toReversed(), one.back), one.events);
    case 'looked':
      return target.reschedule(at(seen.toReversed(), one.back), one.dueAt, now);
    case 'job':
      return target.changeJob(at(seen, 0).id, (job) => decideJob(job, one.event, now));
    case 'task':
      return target.changeTask(at(tasks, one.pick).id, (task) => decide(task, one.event, now));
    case 'linked':
      return target.addDependent(at(tasks, one.pick).id, `dependent${one.dependent}`);
    case 'removed':
      return target.deleteTask(at(tasks, one.pick));
  }
}

describe('whether an account has subscribers', () => {
  /** Loads the modules as another function would, without cached values. */
  async function anotherFunction() {
    vi.resetModules();
    const [{ records: itsRecords }, subscribers] = await Promise.all([
      import('../../shared/aws/stores/records.ts'),
      import('../../shared/aws/stores/account-subscribers.ts'),
    ]);
    return { ...subscribers, records: itsRecords };
  }

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('is passed with a new job to a function that reads it at once, and read from the table after that', async () => {
    const plan = planOf(1);
    const { user, id } = plan.job;
    expect(await hasSubscribers(user)).toBe(false);
    await write(records, plan);
    const [reader, other] = [await anotherFunction(), await anotherFunction()];
    await other.addConnectedSubscriber(user);

    expect(normalized((await reader.records.smallGroup(id))?.job)).toEqual(normalized(plan.job));
    expect(await reader.hasSubscribers(user)).toBe(false);
    expect(await other.hasSubscribers(user)).toBe(true);
    vi.setSystemTime(Date.now() + reader.subscribersKnownMs);
    expect(await reader.hasSubscribers(user)).toBe(true);
  });

  test('is read from the table if the account has subscribers, or the job is no longer new', async () => {
    const [watched, old] = [planOf(1), planOf(1)];
    const other = await anotherFunction();
    await other.addConnectedSubscriber(watched.job.user);
    for (const plan of [watched, old]) {
      await hasSubscribers(plan.job.user);
      await write(records, plan);
    }
    await other.addConnectedSubscriber(old.job.user);
    vi.setSystemTime(Date.now() + other.subscribersKnownMs - 50);

    for (const { job } of [watched, old]) {
      await other.records.smallGroup(job.id);
      expect(await other.hasSubscribers(job.user)).toBe(true);
    }
  });
});

describe('the records in memory, on which histories run,', () => {
  test.each([2, 30])('equal those in the table after every step, for a job with %i last tasks', async (count) => {
    const steps = fc.array(step, { minLength: 1, maxLength: 30, size: 'max' });
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const plan = planOf(count);
        const memory = new MemoryService(createdAt);
        await write(memory.records(), plan);
        await write(records, plan);
        const seen = [plan.job];
        for (const one of all) {
          await take(one, memory.records(), plan.tasks, seen);
          await take(one, records, plan.tasks, seen);
          const job = memory.jobs.get(plan.job.id);
          expect(normalized(await records.job(plan.job.id))).toEqual(normalized(job));
          if (job) seen.push(job);
        }
        const { tasks } = await records.group(plan.job.id);
        expect(tasks.map(normalized)).toEqual([...memory.tasks.values()].map(normalized));
        const { heads } = await records.due(createdAt + 86_400_000, 100_000);
        const due = new Set(heads.map(({ id }) => id));
        for (const { id, dueAt } of [...memory.tasks.values(), ...memory.jobs.values()])
          expect(due.has(id), id).toBe(dueAt !== undefined);
      }),
      { numRuns: 15 },
    );
  });
});
