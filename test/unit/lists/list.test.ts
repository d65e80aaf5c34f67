import { expect, test } from 'vitest';
import type { ListFilter } from '../../../shared/lists/group-summary.ts';
import { listJobs, listTasks, listTasksOfJob, newestJobs, newestTasks } from '../../../shared/lists/list.ts';
import {
  dayMs,
  makeAlone,
  makeBusyOwner,
  makeCompleted,
  makeFailed,
  makeGroup,
  makeRunning,
  start,
  windowOf,
} from './factory.ts';
import { MemoryOwned } from './memory-owned.ts';

const minuteMs = 60_000;
const idsOf = (records: { id: string }[]) => records.map(({ id }) => id);
const taskFilters: ListFilter[] = [
  {},
  { operation: 'convert' },
  ...['created', 'processing', 'completed', 'failed', 'canceled'].map((status) => ({ status })),
  { status: 'failed', operation: 'convert' },
  { status: 'completed', operation: 'export/url' },
];

/** Returns the ids of the tasks that a list has to show. */
function expectedTasks(owned: MemoryOwned, { status, operation }: ListFilter): string[] {
  const matches = owned
    .all()
    .tasks.filter(
      (task) => (status ?? task.status) === task.status && (operation ?? task.operation) === task.operation,
    );
  return idsOf(matches);
}

test.each(taskFilters)('a list of tasks has the total and the pages of all that match %j', async (filter) => {
  const owned = makeBusyOwner();
  owned.write(makeRunning(owned.now - 30 * minuteMs));
  owned.write(makeRunning(owned.now - minuteMs));
  owned.write(makeAlone(owned.now - minuteMs, 'canceled'));
  const expected = expectedTasks(owned, filter);
  // The first list counts, and the others use that.
  for (const skip of [0, 50, 1_000, Math.max(0, expected.length - 20), expected.length]) {
    const { docs, total } = await listTasks(owned, filter, windowOf(owned, skip));
    expect(total).toBe(expected.length);
    expect(idsOf(docs)).toEqual(expected.slice(skip, skip + 50));
  }
});

test.each([undefined, 'created', 'processing', 'completed', 'failed'])(
  'a list of jobs has the total and the pages of all with the status %s',
  async (status) => {
    const owned = makeBusyOwner();
    owned.write(makeRunning(owned.now - 30 * minuteMs));
    owned.write(makeRunning(owned.now - minuteMs));
    const expected = idsOf(owned.all().jobs.filter((job) => (status ?? job.status) === job.status));
    for (const skip of [0, 50, 700]) {
      const { docs, total } = await listJobs(owned, { status }, windowOf(owned, skip));
      expect(total).toBe(expected.length);
      expect(idsOf(docs)).toEqual(expected.slice(skip, skip + 50));
    }
  },
);

test('a list with a tag shows the jobs that contain it, and keeps no counts', async () => {
  const owned = makeBusyOwner();
  const tagged = [200, 100, 1].map((minutes) => {
    const { job, tasks } = makeCompleted(owned.now - minutes * minuteMs);
    owned.write({ job: { ...job, tag: 'for the press' }, tasks });
    return job.id;
  });
  const { docs, total } = await listJobs(owned, { tag: 'press' }, windowOf(owned));
  expect(total).toBe(3);
  expect(idsOf(docs)).toEqual(tagged.reverse());
  expect(owned.saves).toBe(0);
});

test('no list shows deleted tasks, whatever its status', async () => {
  const owned = makeBusyOwner();
  expect(await listTasks(owned, { status: 'deleted' }, windowOf(owned))).toEqual({ docs: [], total: 0 });
});

test.each(taskFilters)('a list %j reads little if everything was counted before', async (filter) => {
  const owned = makeBusyOwner();
  for (let first = 0; first < 2; first++) await listTasks(owned, filter, windowOf(owned));
  owned.reads = { groups: 0, queries: 0, tasks: 0, jobs: 0 };
  owned.saves = 0;
  await listTasks(owned, filter, windowOf(owned));
  expect(owned.saves).toBe(0);
  expect(owned.reads.groups).toBeLessThan(400);
  expect(owned.reads.tasks).toBeLessThan(250);
});

test('an owner of few records has nothing kept', async () => {
  const owned = new MemoryOwned(start + 12 * 60 * minuteMs);
  for (let index = 0; index < 20; index++) owned.write(makeFailed(start + index * 10 * minuteMs));
  for (const filter of taskFilters) await listTasks(owned, filter, windowOf(owned));
  expect(owned.saves).toBe(0);
});

test('records that expire leave the list one after the other', async () => {
  const owned = makeBusyOwner();
  await listTasks(owned, {}, windowOf(owned));
  for (const after of [0, 1, 29, 60, 299, 300, 301, 4_000]) {
    owned.now = start + dayMs + after * 1000;
    const expected = expectedTasks(owned, { status: 'completed' });
    const { total } = await listTasks(owned, { status: 'completed' }, windowOf(owned));
    expect(total).toBe(expected.length);
  }
});

test('a job that ends after it was counted is counted by its end', async () => {
  const owned = makeBusyOwner();
  const { job, tasks } = makeRunning(owned.now - 60 * minuteMs);
  owned.write({ job, tasks });
  const before = (await listTasks(owned, { status: 'completed' }, windowOf(owned))).total;
  owned.write({
    job: { ...job, status: 'completed' },
    tasks: tasks.map((task) => ({ ...task, status: 'completed' })),
  });
  expect((await listTasks(owned, { status: 'completed' }, windowOf(owned))).total).toBe(before + 2);
  expect((await listTasks(owned, { status: 'processing' }, windowOf(owned))).total).toBe(0);
});

test('a task of a failed job that goes on after it was counted is counted by its end', async () => {
  const owned = makeBusyOwner();
  const { job, tasks } = makeGroup(owned.now - 60 * minuteMs, 'failed', ['failed', 'processing']);
  owned.write({ job, tasks });
  const processing = () => listTasks(owned, { status: 'processing' }, windowOf(owned));
  expect(idsOf((await processing()).docs)).toEqual([tasks[1]?.id]);
  owned.write({ job, tasks: tasks.map((task) => ({ ...task, status: 'failed' })) });
  expect(await processing()).toEqual({ docs: [], total: 0 });
});

test('what is deleted after it was counted is counted no more', async () => {
  const owned = makeBusyOwner();
  const { job: gone, tasks: goneTasks } = makeFailed(owned.now - 60 * minuteMs);
  const { job: kept, tasks } = makeFailed(owned.now - 61 * minuteMs);
  owned.write({ job: gone, tasks: goneTasks });
  owned.write({ job: kept, tasks });
  const filter = { status: 'failed' };
  const before = (await listTasks(owned, filter, windowOf(owned))).total;
  owned.delete(gone.id);
  owned.delete(tasks[1]?.id ?? '');
  for (const minutes of [0, 3, 6]) {
    owned.now += minutes * minuteMs;
    const { docs, total } = await listTasks(owned, filter, windowOf(owned));
    expect(total).toBe(before - 3);
    expect(idsOf(docs)).toEqual(expectedTasks(owned, filter).slice(0, 50));
  }
});

test('a deletion that comes while a list counts is not lost', async () => {
  const owned = makeBusyOwner();
  const { job, tasks } = makeCompleted(owned.now - 60 * minuteMs);
  owned.write({ job, tasks });
  owned.beforeSave = () => {
    owned.beforeSave = () => {};
    owned.delete(job.id);
  };
  await listTasks(owned, {}, windowOf(owned));
  expect((await listTasks(owned, {}, windowOf(owned))).total).toBe(expectedTasks(owned, {}).length);
});

test('a slot with more open jobs than are remembered is counted all the same', async () => {
  const owned = makeBusyOwner();
  for (let index = 0; index < 120; index++) owned.write(makeRunning(owned.now - 60 * minuteMs - index * 1_000));
  for (let call = 0; call < 2; call++) {
    expect((await listTasks(owned, {}, windowOf(owned))).total).toBe(expectedTasks(owned, {}).length);
    expect((await listTasks(owned, { status: 'processing' }, windowOf(owned))).total).toBe(120);
    expect((await listJobs(owned, { status: 'processing' }, windowOf(owned))).total).toBe(120);
  }
});

test('a page within a large job reads no more tasks than it shows', async () => {
  const owned = new MemoryOwned(start + minuteMs);
  owned.write(
    makeGroup(
      start,
      'completed',
      Array.from({ length: 500 }, () => 'completed' as const),
    ),
  );
  const { docs, total } = await listTasks(owned, {}, windowOf(owned, 420, 20));
  expect(total).toBe(500);
  expect(idsOf(docs)).toEqual(expectedTasks(owned, {}).slice(420, 440));
  expect(owned.reads.tasks).toBe(20);
});

test('the newest records are those of both kinds, without what is deleted', async () => {
  const owned = makeBusyOwner();
  const { job, tasks } = makeCompleted(owned.now - 1_000);
  owned.write({ job, tasks });
  owned.write(makeAlone(owned.now - 2_000));
  owned.delete(tasks[2]?.id ?? '');
  expect(idsOf(await newestTasks(owned, windowOf(owned, 0, 25)))).toEqual(expectedTasks(owned, {}).slice(0, 25));
  expect(idsOf(await newestJobs(owned, windowOf(owned, 0, 25)))).toEqual(idsOf(owned.all().jobs).slice(0, 25));
});

test('the tasks of a job are listed to its owner only, and not by the id of another task', async () => {
  const owned = new MemoryOwned(start + minuteMs);
  const { job, tasks } = makeFailed(start);
  owned.write({ job, tasks });
  const list = (user: string, id: string, status?: string) =>
    listTasksOfJob(owned, { user, job: id, status }, windowOf(owned, 0, 2));
  expect((await list(job.user, job.id)).total).toBe(3);
  expect(idsOf((await list(job.user, job.id)).docs)).toEqual([tasks[2]?.id, tasks[1]?.id]);
  expect((await list(job.user, job.id, 'failed')).total).toBe(2);
  expect((await list('somebody else', job.id)).total).toBe(0);
  expect((await list(job.user, tasks[0]?.id ?? '')).total).toBe(0);
});
