import { describe, expect, it } from 'vitest';
import { planTasks, type TaskRequest, withFile } from '../../../functions/api/creation/plan.ts';
import { Catalogue } from '../../../shared/catalogue/catalogue.ts';
import type { Group, Plan } from '../../../shared/lifecycle/dependencies.ts';
import { workersLost } from '../../../shared/lifecycle/ends.ts';
import type { PostedFiles } from '../../../shared/lifecycle/recover.ts';
import { checkDelayMs, maxRecoveries, nextCheck } from '../../../shared/tasks/due.ts';
import type { Task } from '../../../shared/tasks/task.ts';
import { heartbeatWindowMs, maxAttempts, queueTimeoutMs, type TaskEvent } from '../../../shared/tasks/transitions.ts';
import { createdAt, makeRequest } from '../tasks/factory.ts';
import {
  CallFailed,
  Crash,
  countCalls,
  crashAfter,
  failOnce,
  fileOf,
  type Gate,
  MemoryService,
} from './memory-records.ts';

/** A change of a record that the caller does not know: a read and a conditional write. */
const callsOfChange = 2;

const uploadSeconds = 3_600;
const damaged = { errorCode: 'processing_failed', msg: 'The file is damaged.' } as const;

/** Plans tasks from their names and inputs: `{ merge: ['a', 'b'] }`. A name that starts with `upload` is an upload. */
function planOf(graph: Record<string, string[]>, options: { alone?: boolean; outside?: Task[] } = {}): Plan {
  const requests = Object.entries(graph).map(
    ([name, inputs]): TaskRequest =>
      makeRequest(name, { inputs, operation: name.startsWith('upload') ? 'import/upload' : 'export/url' }),
  );
  const planned = planTasks(requests, {
    user: 'f'.repeat(24),
    now: createdAt,
    recordSeconds: 86_400,
    uploadSeconds,
    catalogue: new Catalogue([]),
    outside: new Map((options.outside ?? []).map((task) => [task.id, task])),
    ...(options.alone ? {} : { job: {} }),
  });
  if ('errors' in planned) throw new Error(JSON.stringify(planned.errors));
  const tasks = planned.plan.tasks.map((task) =>
    task.operation === 'import/upload' ? { ...task, form: { url: 'https://form', parameters: {} } } : task,
  );
  return { ...planned.plan, tasks };
}

/** A service on which a plan was created, addressed by the names of its tasks. */
async function createdService(plan: Plan, service = new MemoryService(createdAt)) {
  await service.lifecycle().create(plan);
  return on(service, plan);
}

function on(service: MemoryService, plan: Plan) {
  const lifecycle = service.lifecycle();
  const id = (name: string) => plan.tasks.find((task) => task.name === name)?.id ?? name;
  const nameOf = (taskId: string) => plan.tasks.find((task) => task.id === taskId)?.name ?? taskId;
  const begin = async (name: string) => {
    const { dependsOn = [], dependents = [] } = service.tasks.get(id(name)) ?? {};
    const started = await lifecycle.start(id(name), { near: [...dependsOn, ...dependents] });
    if (!('group' in started)) throw new Error(`${name} did not start: ${JSON.stringify(started)}`);
    return started;
  };
  const start = async (name: string): Promise<number> => (await begin(name)).task.attempt;
  return {
    service,
    lifecycle,
    id,
    task: (name: string) => service.tasks.get(id(name)),
    status: (name: string) => service.tasks.get(id(name))?.status ?? 'gone',
    job: () => service.jobs.get(plan.job?.id ?? ''),
    /** Takes everything from the queue and says whose it was. */
    takeQueue: () => service.queue.splice(0).map(nameOf),
    begin,
    start,
    complete: async (name: string) => {
      const { task, group } = await begin(name);
      const { attempt } = task;
      const event: TaskEvent = { type: 'completed', attempt, files: [fileOf(id(name), attempt)] };
      await lifecycle.apply(id(name), event, task, group);
    },
    fail: async (name: string) => {
      const { task, group } = await begin(name);
      await lifecycle.apply(id(name), { type: 'failed', attempt: task.attempt, failure: damaged }, task, group);
    },
    upload: (name: string) => lifecycle.apply(id(name), { type: 'uploaded', file: fileOf(id(name), 0) }),
    cancel: (name: string) => lifecycle.apply(id(name), { type: 'canceled' }),
    remove: (name: string) => lifecycle.apply(id(name), { type: 'deleted' }),
    deleteJob: () => lifecycle.deleteJob(plan.job?.id ?? ''),
  };
}

/** Sweeps in each minute of a time, and returns the names of the tasks that were late. */
async function sweepEachMinute(service: MemoryService, ms: number, gate?: Gate): Promise<string[]> {
  const lifecycle = service.lifecycle(gate);
  const late: string[] = [];
  for (const end = service.now + ms; service.now < end; ) {
    service.now += 60_000;
    for (const record of service.due()) {
      const recovery = await lifecycle.recover(record);
      expect(recovery.errors).toEqual([]);
      late.push(...recovery.late.map(({ name }) => name));
    }
  }
  return late;
}

/** Lists the records that are on the schedule of the sweep. */
function dueLater({ tasks, jobs }: MemoryService): string[] {
  return [...tasks.values(), ...jobs.values()].filter(({ dueAt }) => dueAt !== undefined).map(({ id }) => id);
}

const diamond = { top: [], left: ['top'], right: ['top'], bottom: ['left', 'right'] };

describe('creating', () => {
  it('queues the tasks that wait for nothing, and only those', async () => {
    const { takeQueue } = await createdService(planOf({ a: [], b: ['a'], c: [], upload: [] }));

    expect(takeQueue()).toEqual(['a', 'c']);
  });

  it('writes the job after all its tasks and before anything is queued', async () => {
    const { gate, calls } = countCalls();

    await new MemoryService(createdAt).lifecycle(gate).create(planOf({ a: [], b: ['a'] }));

    const writes = calls.filter((call) => call.startsWith('create') || call.startsWith('enqueue'));
    expect(writes).toEqual(['createTasks', 'createTasks', 'createJob', 'enqueue transfer']);
  });

  it('queues a job before it publishes it', async () => {
    const { gate, calls } = countCalls();

    await new MemoryService(createdAt).lifecycle(gate).create(planOf({ a: [], upload: [] }));

    const effects = calls.filter((call) => call === 'publish' || call.startsWith('enqueue'));
    expect(effects).toEqual(['enqueue transfer', 'publish']);
  });

  it('creates and queues a job that cannot be published, and leaves its events to the start of a task', async () => {
    const service = new MemoryService(createdAt);
    const plan = planOf({ a: [], b: ['a'], upload: [] });
    const errors: unknown[] = [];
    const refusesEvents: Gate = async (call) => {
      if (call === 'publish') throw new CallFailed();
    };

    await service.lifecycle(refusesEvents).create(plan, (error) => errors.push(error));

    const { takeQueue, start } = on(service, plan);
    expect(errors).toEqual([expect.any(CallFailed)]);
    expect(takeQueue()).toEqual(['a']);
    expect(service.published).toEqual([]);
    await start('a');
    expect(service.published[0]).toMatchObject({ job: { id: plan.job?.id }, events: ['created', 'started'] });
  });

  it('leaves the events of a job that cannot be published, and that no worker starts, to the sweep', async () => {
    const service = new MemoryService(createdAt);
    const plan = planOf({ upload: [] });
    let refused = 0;
    const refusesEvents: Gate = async (call) => {
      if (call === 'publish' && refused++ === 0) throw new CallFailed();
    };

    await service.lifecycle(refusesEvents).create(plan, () => undefined);
    service.now = nextCheck(createdAt);
    await service.sweep();

    expect(service.published[0]).toMatchObject({ job: { id: plan.job?.id }, events: ['created', 'started'] });
    expect(service.jobs.get(plan.job?.id ?? '')?.pendingEvents).toEqual([]);
    expect(service.due()).toEqual([]);
  });

  it('starts a job as processing when a client can upload at once, and else as created', async () => {
    const uploading = await createdService(planOf({ upload: [] }));
    const queued = await createdService(planOf({ a: [] }));

    expect(uploading.job()?.status).toBe('processing');
    expect(queued.job()?.status).toBe('created');
  });

  it('runs a task at once whose file came with the request of its input', async () => {
    const plan = planOf({ a: [], b: ['a'] });
    const [first] = plan.tasks;
    const ready = withFile(plan, first?.id ?? '', fileOf(first?.id ?? '', 0), createdAt);

    const { takeQueue, status, job } = await createdService(ready);

    expect(takeQueue()).toEqual(['b']);
    expect(status('a')).toBe('completed');
    expect(job()).toMatchObject({ status: 'processing', open: [ready.tasks[1]?.id] });
  });
});

describe('completing', () => {
  it('runs a chain one task after the other and then completes the job', async () => {
    const { takeQueue, complete, job } = await createdService(planOf({ a: [], b: ['a'], c: ['b'] }));

    expect(takeQueue()).toEqual(['a']);
    await complete('a');
    expect(takeQueue()).toEqual(['b']);
    await complete('b');
    expect(job()?.status).toBe('processing');
    expect(takeQueue()).toEqual(['c']);
    await complete('c');

    expect(takeQueue()).toEqual([]);
    expect(job()).toMatchObject({ status: 'completed', open: [] });
  });

  it('releases a task with several inputs after the last of them', async () => {
    const { takeQueue, complete } = await createdService(planOf({ a: [], b: [], c: [], all: ['a', 'b', 'c'] }));
    takeQueue();

    await complete('c');
    await complete('a');
    expect(takeQueue()).toEqual([]);
    await complete('b');

    expect(takeQueue()).toEqual(['all']);
  });

  it('releases every dependent of a task', async () => {
    const dependents = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`d${index}`, ['a']]));
    const { takeQueue, complete } = await createdService(planOf({ a: [], ...dependents }));
    takeQueue();

    await complete('a');

    expect(takeQueue().sort()).toEqual(Object.keys(dependents).sort());
  });

  it('runs the bottom of a diamond once', async () => {
    const { takeQueue, complete, job } = await createdService(planOf(diamond));
    takeQueue();

    await complete('top');
    expect(takeQueue().sort()).toEqual(['left', 'right']);
    await complete('left');
    await complete('right');
    expect(takeQueue()).toEqual(['bottom']);
    await complete('bottom');

    expect(job()?.status).toBe('completed');
  });

  it('takes the same input twice as one', async () => {
    const { takeQueue, complete } = await createdService(planOf({ a: [], twice: ['a', 'a'] }));
    takeQueue();

    await complete('a');

    expect(takeQueue()).toEqual(['twice']);
  });

  it('completes an upload when its file is there, and releases what waits for it', async () => {
    const { takeQueue, upload, task } = await createdService(planOf({ upload: [], b: ['upload'] }));

    await upload('upload');

    expect(task('upload')).toMatchObject({ status: 'completed' });
    expect(task('upload')).not.toHaveProperty('form');
    expect(takeQueue()).toEqual(['b']);
  });

  it('hands the router the inputs in the order in which they were named', async () => {
    const service = new MemoryService(createdAt);
    const seen: string[][] = [];
    service.route = (_task, inputs) => {
      seen.push(inputs.map(({ name }) => name));
      return { engine: 'transfer' };
    };
    const { complete } = await createdService(planOf({ a: [], b: [], merge: ['b', 'a'] }), service);

    await complete('a');
    await complete('b');

    expect(seen.at(-1)).toEqual(['b', 'a']);
  });

  it('fails a task that no engine can do once its file is known, with the reason', async () => {
    const service = new MemoryService(createdAt);
    const failure = { errorCode: 'processing_failed', msg: 'Cannot convert "png" to "mp3".' } as const;
    service.route = (task) => (task.name === 'b' ? { failure } : { engine: 'transfer' });
    const { complete, task, job } = await createdService(planOf({ a: [], b: ['a'], c: ['b'] }), service);

    await complete('a');

    expect(task('b')).toMatchObject({ status: 'failed', failure });
    expect(task('c')).toMatchObject({ status: 'failed' });
    expect(job()).toMatchObject({ status: 'failed', failure: { errorCode: 'task_failed' } });
  });
});

describe('what a job costs', () => {
  const isWrite = (call: string) =>
    /^(create|change|add|close|mark|delete|reschedule)/.test(call) && !call.endsWith(' read');
  const isRead = (call: string) => /^(task|tasks|group|groupPart|job)$/.test(call) || call.endsWith(' read');

  it.each([
    ['with subscribers is twelve writes', { hasSubscribers: true, performs: false, writes: 12 }],
    ['without subscribers is eleven', { hasSubscribers: false, performs: false, writes: 11 }],
    ['whose export takes no worker is ten', { hasSubscribers: false, performs: true, writes: 10 }],
  ])(
    'of an upload, a conversion and an export %s, and four reads',
    async (_what, { hasSubscribers, performs, writes }) => {
      const { gate, calls } = countCalls();
      const service = new MemoryService(createdAt);
      Object.assign(service, { hasSubscribers, performs });
      const plan = planOf({ upload: [], convert: ['upload'], export: ['convert'] });
      await service.lifecycle(gate).create(plan);
      const { id, job } = on(service, plan);
      const group = await service.records(gate).group(id('upload'));
      const upload = group.tasks.find((task) => task.id === id('upload'));
      const uploaded: TaskEvent = { type: 'uploaded', file: fileOf(id('upload'), 0) };
      await service.lifecycle(gate).apply(id('upload'), uploaded, upload, group);
      const lifecycle = service.lifecycle(gate, { isWorker: true });
      for (const name of performs ? ['convert'] : ['convert', 'export']) {
        const { dependsOn = [], dependents = [] } = service.tasks.get(id(name)) ?? {};
        const started = await lifecycle.start(id(name), { near: [...dependsOn, ...dependents] });
        if (!('group' in started)) throw new Error(`${name} did not start.`);
        const event: TaskEvent = { type: 'completed', attempt: 1, files: [fileOf(id(name), 1)] };
        await lifecycle.apply(id(name), event, started.task, started.group);
      }

      expect(job()).toMatchObject({ status: 'completed', open: [] });
      expect(job()).not.toHaveProperty('dueAt');
      expect(calls.filter(isWrite).length, calls.join()).toBe(writes);
      expect(calls.filter(isRead).length, calls.join()).toBeLessThanOrEqual(4);
    },
  );

  it('does not grow with the inputs of a task when one of the first of them ends', async () => {
    const inputs = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`i${index}`, []]));
    const { service, start, id } = await createdService(planOf({ ...inputs, merge: Object.keys(inputs) }));
    const attempt = await start('i0');
    const { gate, calls } = countCalls();

    await service.lifecycle(gate).apply(id('i0'), { type: 'completed', attempt, files: [] });

    expect(calls.filter(isRead)).toEqual(['changeTask read', 'tasks', 'tasks']);
  });
});

describe('a job with more last tasks than its record holds', () => {
  const names = Array.from({ length: 60 }, (_, index) => `last${index}`);
  const wide = { first: [], ...Object.fromEntries(names.map((name) => [name, ['first']])) };
  const ends = (service: MemoryService) =>
    service.published.filter((change) => 'job' in change && change.events.includes('ended'));

  it.each([
    ['in their order', names],
    ['from the last', names.toReversed()],
    ['in turns of the parts', names.toSorted((left, right) => indexOf(left) - indexOf(right))],
  ])('completes exactly once, after the last of them, when they end %s', async (_order, order) => {
    const { service, complete, job } = await createdService(planOf(wide));
    await complete('first');

    for (const name of order) {
      expect(job()?.status).toBe('processing');
      await complete(name);
    }

    expect(job()).toMatchObject({ status: 'completed', open: [] });
    expect(ends(service)).toHaveLength(1);
    expect(dueLater(service)).toEqual([]);
  });

  it('writes its record once for each part, and not for each task', async () => {
    const { complete, job } = await createdService(planOf(wide));
    await complete('first');
    const before = job()?.version ?? 0;

    for (const name of names.slice(0, 24)) await complete(name);
    expect(job()?.version).toBe(before);
    for (const name of names.slice(24, 50)) await complete(name);

    expect(job()?.open).toEqual(['open#2']);
    expect((job()?.version ?? 0) - before).toBe(2);
  });

  it('is not completed by ends that are delivered again', async () => {
    const { service, complete, lifecycle, id, job } = await createdService(planOf(wide));
    await complete('first');
    for (const name of names.slice(0, 59)) await complete(name);
    for (const name of names.slice(0, 59)) await lifecycle.start(id(name));
    expect(job()).toMatchObject({ status: 'processing', open: ['open#2'] });

    await complete('last59');
    for (const name of names) await lifecycle.start(id(name));

    expect(job()).toMatchObject({ status: 'completed', open: [] });
    expect(ends(service)).toHaveLength(1);
  });

  it('completes after the sweep if the function that closed a part died between any two calls', async () => {
    const prepare = async () => {
      const created = await createdService(planOf(wide));
      await created.complete('first');
      for (const name of names.slice(0, 59)) await created.complete(name);
      return { ...created, attempt: await created.start('last59') };
    };
    const event = (attempt: number): TaskEvent => ({ type: 'completed', attempt, files: [] });
    const { gate, calls } = countCalls();
    const counted = await prepare();
    await counted.service.lifecycle(gate).apply(counted.id('last59'), event(counted.attempt));

    for (let made = callsOfChange; made < calls.length; made++) {
      const { service, id, job, attempt } = await prepare();
      const dying = service.lifecycle(crashAfter(made));
      await expect(dying.apply(id('last59'), event(attempt))).rejects.toThrow(Crash);
      service.now = nextCheck(createdAt);
      await service.sweep();
      expect(job(), `after ${made} of ${calls.length} calls`).toMatchObject({ status: 'completed', open: [] });
      expect(ends(service).length).toBeGreaterThan(0);
    }
    expect(calls.length).toBeGreaterThan(6);
  });

  it('fails by the first that fails, and is empty after the others', async () => {
    const { service, complete, fail, remove, job } = await createdService(planOf(wide));
    await complete('first');

    await fail('last30');
    await remove('last31');
    for (const name of names) if (name !== 'last30' && name !== 'last31') await complete(name);

    expect(job()).toMatchObject({ status: 'failed', failure: { errorCode: 'task_failed' }, open: [] });
    expect(ends(service)).toHaveLength(1);
    await sweepEachMinute(service, 2 * checkDelayMs);
    expect(dueLater(service)).toEqual([]);
  });

  it('is deleted with all of them', async () => {
    const { service, complete, deleteJob } = await createdService(planOf(wide));
    await complete('first');
    await complete('last0');

    await deleteJob();

    expect([service.tasks.size, service.jobs.size]).toEqual([0, 0]);
  });

  /** Orders names such that those of all parts take turns. */
  function indexOf(name: string): number {
    const at = names.indexOf(name);
    return (at % 25) * 3 + Math.floor(at / 25);
  }
});

/** Returns the events that subscribers process. They ignore versions of a task that they have seen. */
function heardIn({ published }: MemoryService): string[] {
  const revisions = new Map<string, number>();
  return published.flatMap((change) => {
    if ('job' in change) return `job ${change.events}`;
    const { id, name, status, revision = 1 } = change.task;
    if (revision <= (revisions.get(id) ?? 0)) return [];
    revisions.set(id, revision);
    return `${name} ${status}`;
  });
}

describe('an account without subscribers', () => {
  async function unsubscribed(graph: Record<string, string[]>) {
    const service = new MemoryService(createdAt);
    service.hasSubscribers = false;
    return createdService(planOf(graph), service);
  }

  it('has the ends of its jobs published, and nothing else, and its outbox is empty after that', async () => {
    const { service, complete, job } = await unsubscribed({ a: [], b: ['a'] });
    expect(job()?.pendingEvents).toEqual(['created']);

    await complete('a');
    expect(heardIn(service)).toEqual([]);
    await complete('b');

    expect(service.published).toHaveLength(1);
    expect(service.published[0]).toMatchObject({ job: { status: 'completed' }, events: ['ended'] });
    expect(job()?.pendingEvents ?? []).toEqual([]);
    expect(dueLater(service)).toEqual([]);
  });

  it('receives the end of a failed job, too', async () => {
    const { service, cancel } = await unsubscribed({ a: [], b: ['a'] });

    await cancel('a');

    expect(service.published).toMatchObject([{ job: { status: 'failed' }, events: ['ended'] }]);
    await sweepEachMinute(service, 2 * checkDelayMs);
    expect(dueLater(service)).toEqual([]);
  });

  it('receives all pending events once there is a subscriber', async () => {
    const { service, complete } = await unsubscribed({ a: [], b: ['a'] });
    await complete('a');
    service.hasSubscribers = true;

    await complete('b');

    expect(heardIn(service)).toEqual([
      'job created,started',
      'a completed',
      'b processing',
      'b completed',
      'job ended',
    ]);
  });
});

describe('a task that is performed by the function that completes its inputs', () => {
  async function performing(graph: Record<string, string[]>) {
    const service = new MemoryService(createdAt);
    service.performs = true;
    const plan = planOf(graph);
    const created = await createdService(plan, service);
    const worker = service.lifecycle(undefined, { isWorker: true });
    const completeAs = async (lifecycle: typeof worker, name: string) => {
      const attempt = await created.start(name);
      const event: TaskEvent = { type: 'completed', attempt, files: [fileOf(created.id(name), attempt)] };
      await lifecycle.apply(created.id(name), event);
    };
    return { ...created, worker, completeAs };
  }

  it('is completed in one write, without a message, and so is its job', async () => {
    const { service, worker, completeAs, takeQueue, task, job } = await performing({ a: [], b: ['a'] });
    takeQueue();

    await completeAs(worker, 'a');

    expect(takeQueue()).toEqual([]);
    expect(task('b')).toMatchObject({ status: 'completed', version: 2, progress: 100 });
    expect(task('b')?.startedAt).toBe(task('b')?.endedAt);
    expect(job()).toMatchObject({ status: 'completed', open: [] });
    expect(dueLater(service)).toEqual([]);
  });

  it('is followed by a worker, since a chain of them could be published in another order', async () => {
    const { worker, completeAs, takeQueue, status } = await performing({ a: [], b: ['a'], c: ['b'] });
    takeQueue();

    await completeAs(worker, 'a');

    expect(status('b')).toBe('completed');
    expect(takeQueue()).toEqual(['c']);
  });

  it('is published with a start that it never had, in the order of the others', async () => {
    const { service, worker, completeAs } = await performing({ a: [], b: ['a'] });
    service.published.length = 0;

    await completeAs(worker, 'a');

    expect(heardIn(service)).toEqual([
      'job started',
      'a processing',
      'a completed',
      'b processing',
      'b completed',
      'job ended',
    ]);
  });

  it('is left as it is if it was canceled meanwhile', async () => {
    const { service, completeAs, cancel, status } = await performing({ a: [], b: ['a'] });
    const cancelsFirst = service.lifecycle(
      async (call) => {
        if (call === 'perform') await cancel('b');
      },
      { isWorker: true },
    );

    await completeAs(cancelsFirst, 'a');

    expect([status('a'), status('b')]).toEqual(['completed', 'canceled']);
  });

  it('is queued by a function that is no worker', async () => {
    const { lifecycle, completeAs, takeQueue } = await performing({ a: [], b: ['a'] });
    takeQueue();

    await completeAs(lifecycle, 'a');

    expect(takeQueue()).toEqual(['b']);
  });

  it('is ended by the sweep or another worker if the first died between any two calls', async () => {
    const { gate, calls } = countCalls();
    const counted = await performing({ a: [], b: ['a'], c: ['b'] });
    await counted.completeAs(counted.service.lifecycle(gate, { isWorker: true }), 'a');

    for (let made = callsOfChange; made < calls.length; made++) {
      const created = await performing({ a: [], b: ['a'], c: ['b'] });
      const dying = created.service.lifecycle(crashAfter(made), { isWorker: true });
      await expect(created.completeAs(dying, 'a')).rejects.toThrow(Crash);
      expect(await finish(created), `after ${made} of ${calls.length} calls`).toBe('completed');
    }
    expect(calls.length).toBeGreaterThan(8);
  });
});

describe('telling', () => {
  /** Returns the published events by the names of tasks, one list per call. */
  async function publishedBy(
    graph: Record<string, string[]>,
    act: (on: Awaited<ReturnType<typeof createdService>>) => Promise<void>,
  ) {
    const plan = planOf(graph);
    const service = new MemoryService(createdAt);
    const on = await createdService(plan, service);
    service.published.length = 0;
    await act(on);
    return heardIn(service);
  }

  it('names the start of a job before that of its first task, and its end after that of its last', async () => {
    const published = await publishedBy({ first: [], last: ['first'] }, async ({ complete }) => {
      await complete('first');
      await complete('last');
    });
    expect(published).toEqual([
      'job started',
      'first processing',
      'first completed',
      'last processing',
      'last completed',
      'job ended',
    ]);
  });

  it('includes every end of a failed job, after the next check of the sweep at the latest', async () => {
    const plan = planOf({ a: [], b: [], c: ['b'] });
    const { service, start, fail, id } = await createdService(plan);
    const attempt = await start('b');
    await fail('a');
    service.published.length = 0;
    const event: TaskEvent = { type: 'failed', attempt, failure: damaged };
    await expect(service.lifecycle(crashAfter(callsOfChange)).apply(id('b'), event)).rejects.toThrow(Crash);

    await sweepEachMinute(service, checkDelayMs);

    const published = service.published.flatMap((change) =>
      'task' in change ? `${change.task.name} ${change.task.status}` : [],
    );
    expect(published).toEqual(expect.arrayContaining(['b failed', 'c failed']));
  });

  it('takes one announcement for the end of a job and of its last task', async () => {
    const plan = planOf({ only: [] });
    const on = await createdService(plan);
    const attempt = await on.start('only');
    const calls: string[] = [];
    const lifecycle = on.service.lifecycle(async (call) => void calls.push(call));
    await lifecycle.apply(on.id('only'), { type: 'completed', attempt, files: [] });
    expect(calls.filter((call) => call === 'publish')).toHaveLength(1);
    expect(on.job()?.status).toBe('completed');
  });

  it('returns to a job whose end was written but not published, with its tasks before it', async () => {
    const plan = planOf({ only: [] });
    const service = new MemoryService(createdAt);
    const { start, id } = await createdService(plan, service);
    const attempt = await start('only');
    service.published.length = 0;
    const dying = service.lifecycle(async (call) => {
      if (call === 'publish') throw new Crash();
    });
    await expect(dying.apply(id('only'), { type: 'completed', attempt, files: [] })).rejects.toThrow(Crash);
    expect(service.published).toEqual([]);
    service.now += queueTimeoutMs;
    await service.sweep();
    const published = service.published.map((change) =>
      'job' in change ? `job ${change.events}` : change.task.status,
    );
    expect([...new Set(published)]).toEqual(['completed', 'job ended']);
  });
});

describe('inputs of earlier requests', () => {
  it('hold a task back until they complete', async () => {
    const earlier = planOf({ a: [] }, { alone: true });
    const { service, complete, takeQueue } = await createdService(earlier);
    const later = planOf({ b: [earlier.tasks[0]?.id ?? ''] }, { outside: earlier.tasks });
    takeQueue();

    await service.lifecycle().create(later);
    expect(service.queue).toEqual([]);
    await complete('a');

    expect(service.queue).toEqual([later.tasks[0]?.id]);
  });

  it('keep their secrets to themselves, which the creator of a dependent may not be allowed to delete', async () => {
    const earlier = planOf({ a: [] }, { alone: true });
    const [input] = earlier.tasks;
    if (input) input.hasSecrets = true;
    const { service, complete, takeQueue } = await createdService(earlier);
    takeQueue();
    await complete('a');

    const later = planOf({ b: [input?.id ?? ''] }, { outside: earlier.tasks });
    const calls: string[] = [];
    await service.lifecycle(async (call) => void calls.push(call)).create(later);

    expect(calls).not.toContain('deleteSecrets');
    expect(service.queue).toEqual([later.tasks[0]?.id]);
  });

  it('release a task at once when they completed before', async () => {
    const earlier = planOf({ a: [] }, { alone: true });
    const { service, complete, takeQueue } = await createdService(earlier);
    takeQueue();
    await complete('a');

    const later = planOf({ b: [earlier.tasks[0]?.id ?? ''] }, { outside: earlier.tasks });
    await service.lifecycle().create(later);

    expect(service.queue).toEqual([later.tasks[0]?.id]);
  });

  it.each(['canceled', 'failed'] as const)(
    'that were %s before fail the task, its dependents and its job without waiting for the sweep',
    async (end) => {
      const earlier = planOf({ a: [] }, { alone: true });
      const first = await createdService(earlier);
      await (end === 'canceled' ? first.cancel('a') : first.fail('a'));
      const later = planOf({ b: [earlier.tasks[0]?.id ?? ''], c: ['b'] }, { outside: earlier.tasks });

      const { task, job, service } = await createdService(later, first.service);

      const why = end === 'canceled' ? 'was canceled.' : 'failed: The file is damaged.';
      const msg = `The input task "a" (${earlier.tasks[0]?.id}) ${why}`;
      expect(task('b')).toMatchObject({ status: 'failed', failure: { errorCode: 'processing_failed', msg } });
      expect(task('c')).toMatchObject({ status: 'failed' });
      expect(job()).toMatchObject({ status: 'failed', failure: { errorCode: 'task_failed' } });
      expect([...service.tasks.values()].filter(({ dueAt }) => dueAt !== undefined)).toEqual([]);
    },
  );

  it('are read by the worker in the order in which they were named, whether the message names them or not', async () => {
    const earlier = planOf({ a: [] }, { alone: true });
    const { service, complete } = await createdService(earlier);
    const a = earlier.tasks[0]?.id ?? '';
    const plan = planOf({ inside: [], merge: ['inside', a, 'inside'] }, { outside: earlier.tasks });
    const { complete: completeInside, id } = await createdService(plan, service);
    await complete('a');
    await completeInside('inside');

    const inputsFor = async (near: string[]) => {
      const started = await service.lifecycle().start(id('merge'), { near });
      if (!('group' in started)) throw new Error('The task did not start.');
      return started.inputs.map((input) => input.id);
    };

    expect(await inputsFor([])).toEqual([id('inside'), a, id('inside')]);
    service.now += heartbeatWindowMs;
    expect(await inputsFor([a, id('inside')])).toEqual([id('inside'), a, id('inside')]);
  });

  it('that are gone fail the task and say so', async () => {
    const earlier = planOf({ a: [] }, { alone: true });
    const first = await createdService(earlier);
    const later = planOf({ b: [earlier.tasks[0]?.id ?? ''] }, { outside: earlier.tasks });
    await first.remove('a');

    const { task, job } = await createdService(later, first.service);

    const msg = `The input task ${earlier.tasks[0]?.id} no longer exists.`;
    expect(task('b')).toMatchObject({ status: 'failed', failure: { errorCode: 'processing_failed', msg } });
    expect(job()?.status).toBe('failed');
  });
});

describe('canceling', () => {
  it('fails all that depend on the task, each naming its input and why, and the job with task_canceled', async () => {
    const { cancel, task, job, id, takeQueue } = await createdService(planOf({ a: [], b: ['a'], c: ['b'] }));
    takeQueue();

    const decision = await cancel('a');

    expect(decision).toMatchObject({ outcome: 'changed', task: { status: 'canceled' } });
    expect(task('b')?.failure).toEqual({
      errorCode: 'processing_failed',
      msg: `The input task "a" (${id('a')}) was canceled.`,
    });
    expect(task('c')?.failure?.msg).toBe(
      `The input task "b" (${id('b')}) failed: The input task "a" (${id('a')}) was canceled.`,
    );
    expect(job()).toMatchObject({
      status: 'failed',
      open: [],
      failure: { errorCode: 'task_canceled', msg: `task "a" (${id('a')}) was canceled.` },
    });
    expect(takeQueue()).toEqual([]);
  });

  it('lets independent branches of the job go on', async () => {
    const { cancel, complete, status, job, takeQueue } = await createdService(
      planOf({ a: [], b: ['a'], other: [], another: ['other'] }),
    );
    await cancel('a');
    takeQueue();

    await complete('other');
    expect(takeQueue()).toEqual(['another']);
    await complete('another');

    expect([status('b'), status('other'), status('another')]).toEqual(['failed', 'completed', 'completed']);
    expect(job()).toMatchObject({ status: 'failed', open: [], failure: { errorCode: 'task_canceled' } });
  });

  it('wins over a worker that is at it', async () => {
    const { cancel, start, lifecycle, id, status } = await createdService(planOf({ a: [] }));
    const attempt = await start('a');

    await cancel('a');
    const decision = await lifecycle.apply(id('a'), { type: 'completed', attempt, files: [fileOf(id('a'), attempt)] });

    expect(decision).toEqual({ outcome: 'refused', reason: 'ended' });
    expect(status('a')).toBe('canceled');
  });

  it('is refused for a task that has ended', async () => {
    const { cancel, complete, status } = await createdService(planOf({ a: [] }));
    await complete('a');

    expect(await cancel('a')).toEqual({ outcome: 'refused', reason: 'ended' });
    expect(status('a')).toBe('completed');
  });

  it('reaches through 500 tasks in a row', async () => {
    const chain = Object.fromEntries(
      Array.from({ length: 500 }, (_, index) => [`t${index}`, index === 0 ? [] : [`t${index - 1}`]]),
    );
    const { cancel, status, job } = await createdService(planOf(chain));

    await cancel('t0');

    expect(status('t499')).toBe('failed');
    expect(job()).toMatchObject({ status: 'failed', open: [] });
  });
});

describe('failing', () => {
  it('fails the dependents and the job with task_failed and the reason', async () => {
    const { fail, task, job, id } = await createdService(planOf({ a: [], b: ['a'] }));

    await fail('a');

    expect(task('a')?.failure).toEqual(damaged);
    expect(task('b')?.failure?.msg).toBe(`The input task "a" (${id('a')}) failed: The file is damaged.`);
    expect(job()?.failure).toEqual({
      errorCode: 'task_failed',
      msg: `task "a" (${id('a')}) failed: The file is damaged.`,
    });
  });

  it('keeps the first reason of a job', async () => {
    const { fail, cancel, job } = await createdService(planOf({ a: [], b: [] }));

    await fail('a');
    await cancel('b');

    expect(job()).toMatchObject({ failure: { errorCode: 'task_failed' }, open: [] });
  });

  it('does not complete a task that still waits for another input', async () => {
    const { fail, complete, status, takeQueue } = await createdService(planOf({ a: [], b: [], merge: ['a', 'b'] }));
    takeQueue();

    await fail('a');
    await complete('b');

    expect(status('merge')).toBe('failed');
    expect(takeQueue()).toEqual([]);
  });
});

describe('a job ends after its tasks', () => {
  const graph = { a: [], b: ['a'], c: ['a'], d: ['b'], e: ['b', 'c'], f: ['e'] };
  const events: Record<string, (attempt: number) => TaskEvent> = {
    fails: (attempt) => ({ type: 'failed', attempt, failure: damaged }),
    'is canceled': () => ({ type: 'canceled' }),
    'is deleted': () => ({ type: 'deleted' }),
  };

  /** Reads a job and its tasks before every call that another process makes, and collects what no reader may see. */
  function readerOf({ service, job }: Awaited<ReturnType<typeof createdService>>) {
    const seen: string[] = [];
    const read = () => {
      const open = [...service.tasks.values()].filter(({ endedAt }) => endedAt === undefined).map(({ name }) => name);
      if ((job()?.status === 'failed' || job()?.endedAt !== undefined) && open.length > 0) seen.push(open.join());
    };
    return { seen, read, gate: async () => read() };
  }

  it.each(Object.entries(events))('if the first of a chain %s', async (_how, eventOf) => {
    const created = await createdService(planOf(graph));
    const { task, group } = await created.begin('a');
    const reader = readerOf(created);

    await created.service.lifecycle(reader.gate).apply(created.id('a'), eventOf(task.attempt), task, group);
    reader.read();

    expect(reader.seen).toEqual([]);
    expect(created.job()).toMatchObject({ status: 'failed', open: [], endedAt: expect.any(String) });
  });

  it.each(Object.entries(events))(
    'also if the function that settles that the first %s dies at any call',
    async (_how, eventOf) => {
      for (let calls = 1; ; calls++) {
        const created = await createdService(planOf(graph));
        const { task, group } = await created.begin('a');
        const reader = readerOf(created);
        const dying = created.service.lifecycle(crashAfter(calls));
        const outcome = await dying.apply(created.id('a'), eventOf(task.attempt), task, group).catch((error) => error);
        reader.read();
        if (created.status('a') !== 'processing') await sweepEachMinute(created.service, 10 * 60_000, reader.gate);
        expect(reader.seen).toEqual([]);
        if (created.status('a') !== 'processing')
          expect(created.job()).toMatchObject({ status: 'failed', endedAt: expect.any(String) });
        if (!(outcome instanceof Crash)) break;
      }
    },
  );

  it('and so after the branches that do not depend on the task which failed it', async () => {
    const { fail, complete, job } = await createdService(planOf({ a: [], b: ['a'], other: [], last: ['other'] }));
    await fail('a');
    expect(job()).toMatchObject({ status: 'failed', failure: { errorCode: 'task_failed' } });
    expect(job()).not.toHaveProperty('endedAt');
    const { revision = 1 } = job() ?? {};
    await complete('other');
    expect(job()).not.toHaveProperty('endedAt');
    await complete('last');
    expect(job()).toMatchObject({ status: 'failed', endedAt: expect.any(String), revision: revision + 1 });
  });

  it.each(['complete', 'fail', 'cancel'] as const)(
    'and so after an input that is of no use any more: %s',
    async (end) => {
      const service = await createdService(planOf({ a: [], b: [], merge: ['a', 'b'] }));
      const known = await service.begin('b');
      await service.fail('a');
      expect([service.status('merge'), service.job()?.status, service.job()?.endedAt]).toEqual([
        'failed',
        'failed',
        undefined,
      ]);
      const { attempt } = known.task;
      const ends: Record<typeof end, TaskEvent> = {
        complete: { type: 'completed', attempt, files: [] },
        fail: { type: 'failed', attempt, failure: damaged },
        cancel: { type: 'canceled' },
      };
      await service.lifecycle.apply(service.id('b'), ends[end], known.task, known.group);
      expect(service.job()).toMatchObject({
        endedAt: expect.any(String),
        failure: { msg: expect.stringContaining('"a"') },
      });
    },
  );

  it('which takes no further read of a worker that knows all of them', async () => {
    const created = await createdService(planOf({ upload: [], convert: ['upload'], export: ['convert'] }));
    await created.upload('upload');
    const { task, group } = await created.begin('convert');
    const { gate, calls } = countCalls();
    const event: TaskEvent = { type: 'failed', attempt: task.attempt, failure: damaged };
    await created.service.lifecycle(gate).apply(created.id('convert'), event, task, group);
    expect(created.job()).toMatchObject({ status: 'failed', endedAt: expect.any(String) });
    expect(calls.filter((call) => ['task', 'tasks', 'job', 'group'].includes(call))).toEqual([]);
  });
});

describe('deleting a task', () => {
  it('removes its record and files, fails its dependents, and its job with task_deleted', async () => {
    const { remove, status, task, job, id, service } = await createdService(planOf({ a: [], b: ['a'] }));

    await remove('a');

    expect(status('a')).toBe('gone');
    expect(job()?.gone).toEqual([`export/url ${id('a')}`]);
    expect(service.filesDeletedOf).toEqual([id('a')]);
    expect(task('b')?.failure).toEqual({
      errorCode: 'user_deleted_task',
      msg: `The input task "a" (${id('a')}) was deleted.`,
    });
    expect(job()?.failure).toEqual({ errorCode: 'task_deleted', msg: `task "a" (${id('a')}) was deleted.` });
  });

  it('of a completed job leaves the job completed', async () => {
    const { remove, complete, job } = await createdService(planOf({ a: [] }));
    await complete('a');

    await remove('a');

    expect(job()?.status).toBe('completed');
  });

  it('that broke off while its end was being settled is finished by the sweep', async () => {
    const { service, id, complete, status, lifecycle } = await createdService(planOf({ a: [] }, { alone: true }));
    await complete('a');
    const completed = service.tasks.get(id('a'));
    if (!completed) throw new Error('the task is gone');

    await expect(service.lifecycle(crashAfter(callsOfChange)).apply(id('a'), { type: 'deleted' })).rejects.toThrow(
      Crash,
    );
    await lifecycle.settle(completed);
    expect(status('a')).toBe('deleted');
    service.now += queueTimeoutMs;
    await service.sweep();

    expect(status('a')).toBe('gone');
  });

  it('deletes its secrets, as every end does', async () => {
    const plan = planOf({ a: [], b: [], c: [] });
    const withSecrets = { ...plan, tasks: plan.tasks.map((task) => ({ ...task, hasSecrets: true })) };
    const { service, id, remove, complete, cancel } = await createdService(withSecrets);
    for (const name of ['a', 'b', 'c']) service.secretsOf.add(id(name));

    await remove('a');
    await complete('b');
    await cancel('c');

    expect([...service.secretsOf]).toEqual([]);
  });
});

describe('deleting a job', () => {
  it('removes it with all its tasks and files', async () => {
    const plan = planOf(diamond);
    const { deleteJob, complete, service } = await createdService(plan);
    await complete('top');

    await deleteJob();

    expect(service.tasks.size).toBe(0);
    expect(service.jobs.size).toBe(0);
    expect(new Set(service.filesDeletedOf)).toEqual(new Set(plan.tasks.map(({ id }) => id)));
  });

  it('fails tasks of other requests that wait for one of its tasks', async () => {
    const plan = planOf({ a: [] });
    const { deleteJob, service } = await createdService(plan);
    const later = planOf({ b: [plan.tasks[0]?.id ?? ''] }, { outside: plan.tasks });
    const other = await createdService(later, service);

    await deleteJob();

    expect(other.task('b')).toMatchObject({ status: 'failed', failure: { errorCode: 'user_deleted_task' } });
    expect(other.job()?.status).toBe('failed');
  });

  it('is harmless a second time', async () => {
    const { deleteJob, service } = await createdService(planOf({ a: [] }));

    await deleteJob();
    await deleteJob();

    expect(service.jobs.size).toBe(0);
  });
});

describe('the sweep', () => {
  it('never sees the tasks of a job that was not committed, which expire', async () => {
    const service = new MemoryService(createdAt);
    const plan = planOf({ a: [], b: ['a'], upload: [] });
    await expect(service.lifecycle(crashAfter(3)).create(plan)).rejects.toThrow(Crash);
    expect(service.tasks.size).toBe(3);

    service.now += 24 * 3_600_000;

    expect(service.due()).toEqual([]);
    expect(service.queue).toEqual([]);
    expect(service.published).toEqual([]);
    for (const { expiresAt } of service.tasks.values()) expect(Date.parse(expiresAt)).toBe(service.now);
  });

  it('fails a job whose task was canceled while the job was not written yet', async () => {
    const service = new MemoryService(createdAt);
    const plan = planOf({ a: [], b: [] });
    const { cancel, job, complete } = on(service, plan);
    await service.records().createTasks(plan.tasks);
    await cancel('a');
    if (plan.job) await service.records().createJob(plan.job);
    await complete('b');
    expect(job()?.status).toBe('processing');

    service.now = nextCheck(createdAt);
    await service.sweep();

    expect(job()).toMatchObject({ status: 'failed', open: [], failure: { errorCode: 'task_canceled' } });
  });

  it('fails a task whose input expired while it waited for another one', async () => {
    const { service, id, complete, task } = await createdService(planOf({ a: [], b: [], merge: ['a', 'b'] }));
    await complete('a');
    service.tasks.delete(id('a'));

    await complete('b');

    const msg = `The input task ${id('a')} no longer exists.`;
    expect(task('merge')).toMatchObject({ status: 'failed', failure: { errorCode: 'processing_failed', msg } });
  });

  it('queues a committed task whose message was never sent', async () => {
    const service = new MemoryService(createdAt);
    await expect(service.lifecycle(crashAfter(2)).create(planOf({ a: [] }))).rejects.toThrow(Crash);
    expect(service.queue).toEqual([]);

    await sweepEachMinute(service, queueTimeoutMs + checkDelayMs);

    expect(service.queue).toHaveLength(1);
  });

  it('calls a task late, and queues it again, in every quarter of an hour that it is in its queue', async () => {
    const { service, takeQueue } = await createdService(planOf({ a: [], b: ['a'] }));
    takeQueue();

    expect(await sweepEachMinute(service, queueTimeoutMs)).toEqual([]);
    expect(await sweepEachMinute(service, checkDelayMs)).toEqual(['a']);
    expect(await sweepEachMinute(service, 4 * queueTimeoutMs)).toEqual(['a', 'a', 'a', 'a']);
    expect(takeQueue()).toEqual(['a', 'a', 'a', 'a', 'a']);
  });

  it('counts from the end of its last input', async () => {
    const { service, complete, takeQueue } = await createdService(planOf({ a: [], b: ['a'] }));
    await sweepEachMinute(service, 10 * 60_000);
    await complete('a');
    takeQueue();

    expect(await sweepEachMinute(service, queueTimeoutMs - 60_000)).toEqual([]);
    expect(await sweepEachMinute(service, checkDelayMs)).toEqual(['b']);
    expect(takeQueue()).toEqual(['b']);
  });

  it('checks a task without a job like a job', async () => {
    const { service, takeQueue, complete, task } = await createdService(planOf({ a: [] }, { alone: true }));
    takeQueue();

    expect(await sweepEachMinute(service, queueTimeoutMs + checkDelayMs)).toEqual(['a']);
    expect(takeQueue()).toEqual(['a']);
    await complete('a');

    expect(task('a')).not.toHaveProperty('dueAt');
  });

  it('checks every two minutes while a task runs or is queued, and every quarter of an hour while only forms wait', async () => {
    const checksIn = async (graph: Record<string, string[]>, ms: number) => {
      const { service } = await createdService(planOf(graph));
      let checks = 0;
      await sweepEachMinute(service, ms, async (call) => {
        if (call === 'group') checks += 1;
      });
      return checks;
    };

    expect(await checksIn({ a: [] }, 20 * 60_000)).toBe(10);
    expect(await checksIn({ upload: [] }, 50 * 60_000)).toBe(4);
    expect(await checksIn({ upload: [], a: [] }, 20 * 60_000)).toBe(10);
  });

  it('checks a failed job once if no work is pending, and a completed job never', async () => {
    const failed = await createdService(planOf({ a: [], b: ['a'] }));
    await failed.fail('a');
    expect(failed.job()?.dueAt).toBe(nextCheck(createdAt));
    failed.service.now = nextCheck(createdAt);
    await failed.service.sweep();
    expect(failed.job()).not.toHaveProperty('dueAt');

    const completed = await createdService(planOf({ a: [], b: ['a'] }));
    await completed.complete('a');
    await completed.complete('b');
    expect(completed.job()).not.toHaveProperty('dueAt');
  });

  it('keeps checking a failed job while others of its tasks run', async () => {
    const { service, fail, start, takeQueue, job } = await createdService(planOf({ a: [], b: [] }));
    await fail('a');
    takeQueue();
    await start('b');

    await sweepEachMinute(service, 3 * checkDelayMs);

    expect(takeQueue()).toEqual(['b']);
    expect(job()?.dueAt).toBeGreaterThan(service.now);
  });

  it('links a task whose input does not know of it', async () => {
    const earlier = planOf({ a: [] }, { alone: true });
    const { service, complete } = await createdService(earlier);
    const later = planOf({ b: [earlier.tasks[0]?.id ?? ''] }, { outside: earlier.tasks });
    await expect(service.lifecycle(crashAfter(2)).create(later)).rejects.toThrow(Crash);
    service.queue.length = 0;

    await complete('a');
    expect(service.queue).toEqual([]);
    service.now += queueTimeoutMs;
    await service.sweep();

    expect(service.queue).toEqual([later.tasks[0]?.id]);
  });

  it('links it at the first check if the input has not ended, so that the end releases it', async () => {
    const earlier = planOf({ a: [] }, { alone: true });
    const { service, complete } = await createdService(earlier);
    const later = planOf({ b: [earlier.tasks[0]?.id ?? ''] }, { outside: earlier.tasks });
    await expect(service.lifecycle(crashAfter(2)).create(later)).rejects.toThrow(Crash);
    service.queue.length = 0;

    service.now = nextCheck(createdAt);
    await service.sweep();
    await complete('a');

    expect(service.queue).toEqual([later.tasks[0]?.id]);
  });

  it('fails a task at the first check if an input is gone or ended badly', async () => {
    const earlier = planOf({ a: [] }, { alone: true });
    const { service, cancel } = await createdService(earlier);
    const later = planOf({ b: [earlier.tasks[0]?.id ?? ''], c: ['b'] }, { outside: earlier.tasks });
    await expect(service.lifecycle(crashAfter(3)).create(later)).rejects.toThrow(Crash);
    await cancel('a');

    service.now = nextCheck(createdAt);
    await service.sweep();

    const { status, job } = on(service, later);
    expect([status('b'), status('c'), job()?.status]).toEqual(['failed', 'failed', 'failed']);
  });

  it('has a file imported whose notification was lost, and fails its task only once the file is gone', async () => {
    const { service, lifecycle, id, task, upload, job } = await createdService(planOf({ upload: [] }));
    const imported: string[] = [];
    let isThere = true;
    const posted: PostedFiles = {
      exists: async () => isThere,
      importAgain: async ({ id: taskId }) => void imported.push(taskId),
    };
    const recover = async () => {
      for (const due of service.due()) expect((await lifecycle.recover(due, posted)).errors).toEqual([]);
    };

    service.now += uploadSeconds * 1000;
    await recover();
    expect(imported).toEqual([id('upload')]);
    expect(task('upload')?.status).toBe('processing');
    expect(job()?.dueAt).toBe(service.now + queueTimeoutMs);
    await recover();
    expect(imported).toHaveLength(1);

    await upload('upload');
    expect(job()?.status).toBe('completed');

    const other = await createdService(planOf({ upload: [] }), service);
    service.now += uploadSeconds * 1000;
    await recover();
    isThere = false;
    service.now += queueTimeoutMs;
    await recover();
    expect(imported).toEqual([id('upload'), other.id('upload')]);
    expect(other.task('upload')).toMatchObject({ status: 'failed', failure: { errorCode: 'upload_timeout' } });
  });

  it('fails an upload that never came with upload_timeout', async () => {
    const { service, task, job } = await createdService(planOf({ upload: [], b: ['upload'] }));

    service.now += uploadSeconds * 1000 - 1;
    await service.sweep();
    expect(task('upload')?.status).toBe('processing');
    service.now += 1;
    await service.sweep();

    expect(task('upload')).toMatchObject({ status: 'failed', failure: { errorCode: 'upload_timeout' } });
    expect(task('b')?.status).toBe('failed');
    expect(job()?.failure?.errorCode).toBe('task_failed');
  });

  it('queues a task again whose worker fell silent, and another attempt takes it over', async () => {
    const { service, start, takeQueue, complete, task } = await createdService(planOf({ a: [] }));
    takeQueue();
    await start('a');

    service.now = nextCheck(createdAt);
    await service.sweep();
    expect(takeQueue()).toEqual(['a']);
    await complete('a');

    expect(task('a')).toMatchObject({ status: 'completed', attempt: 2 });
  });

  it('queues a task once if its worker has sent no heartbeat within a minute, and not before', async () => {
    const { service, start, takeQueue, lifecycle, id } = await createdService(planOf({ a: [] }));
    takeQueue();
    const attempt = await start('a');
    for (let beat = 0; beat < 200; beat++) {
      service.now += heartbeatWindowMs / 3;
      await lifecycle.apply(id('a'), { type: 'progressed', attempt });
      await service.sweep();
    }
    expect(takeQueue()).toEqual([]);

    await sweepEachMinute(service, 60_000 + checkDelayMs);
    expect(takeQueue()).toEqual(['a']);
    await sweepEachMinute(service, 12 * 60_000);
    expect(takeQueue()).toEqual([]);
    await sweepEachMinute(service, checkDelayMs + 60_000);
    expect(takeQueue()).toEqual(['a']);
  });

  it('gives a task up that no worker survived', async () => {
    const { service, start, task, job } = await createdService(planOf({ a: [] }));
    for (let attempt = 1; attempt <= maxAttempts; attempt++) {
      await start('a');
      service.now += 2 * heartbeatWindowMs;
    }

    await service.sweep();

    expect(task('a')).toMatchObject({ status: 'failed', failure: workersLost });
    expect(job()?.status).toBe('failed');
  });

  it('finishes the consequences of an end that were not drawn', async () => {
    const { service, start, takeQueue, id, job } = await createdService(planOf({ a: [], b: ['a'] }));
    takeQueue();
    const attempt = await start('a');
    const event: TaskEvent = { type: 'completed', attempt, files: [fileOf(id('a'), attempt)] };
    await expect(service.lifecycle(crashAfter(callsOfChange)).apply(id('a'), event)).rejects.toThrow(Crash);
    service.published.length = 0;

    await sweepEachMinute(service, queueTimeoutMs + checkDelayMs);

    expect(takeQueue()).toEqual(['b']);
    expect(service.published).toEqual([{ task: expect.objectContaining({ id: id('a'), status: 'completed' }) }]);
    expect(job()?.open).toEqual([id('b')]);
  });

  it('completes a job at the first check if its last task ended unnoticed', async () => {
    const { service, start, id, job } = await createdService(planOf({ a: [], b: [] }));
    for (const name of ['a', 'b']) {
      const attempt = await start(name);
      const event: TaskEvent = { type: 'completed', attempt, files: [] };
      await expect(service.lifecycle(crashAfter(callsOfChange)).apply(id(name), event)).rejects.toThrow(Crash);
    }
    expect(job()?.status).toBe('processing');

    service.now = nextCheck(createdAt);
    await service.sweep();

    expect(job()).toMatchObject({ status: 'completed', open: [] });
    expect(job()).not.toHaveProperty('dueAt');
  });

  it('deletes the secrets of a task whose end was not settled', async () => {
    const plan = planOf({ a: [], b: ['a'], upload: [] });
    const withSecrets = { ...plan, tasks: plan.tasks.map((task) => ({ ...task, hasSecrets: true })) };
    const { service, start, id } = await createdService(withSecrets);
    service.secretsOf.add(id('a'));
    const attempt = await start('a');
    const event: TaskEvent = { type: 'completed', attempt, files: [] };
    await expect(service.lifecycle(crashAfter(callsOfChange)).apply(id('a'), event)).rejects.toThrow(Crash);

    service.now = nextCheck(createdAt);
    await service.sweep();

    expect([...service.secretsOf]).toEqual([]);
  });

  it('leaves alone what is not due', async () => {
    const { service, start, takeQueue } = await createdService(planOf({ a: [], upload: [] }));
    await start('a');
    takeQueue();
    const before = new Map(service.tasks);

    service.now += heartbeatWindowMs;
    await service.sweep();

    expect(service.tasks).toEqual(before);
    expect(takeQueue()).toEqual([]);
  });
});

describe('a record that the sweep cannot recover', () => {
  const hourMs = 3_600_000;
  /** A gate that refuses every call of a kind. */
  const refuse = (kind: string) => async (call: string) => {
    if (call.startsWith(kind)) throw new CallFailed();
  };

  /** Sweeps every minute for hours; returns what was given up and how often a call of the kind was attempted. */
  async function sweepForHours(service: MemoryService, kind: string) {
    const gate = refuse(kind);
    const givenUp: string[] = [];
    let attempts = 0;
    const counting = async (call: string) => {
      if (call.startsWith(kind)) attempts += 1;
      await gate(call);
    };
    for (const end = service.now + 3 * hourMs; service.now < end; service.now += 60_000)
      givenUp.push(...(await service.sweepAndCount(counting)));
    return { givenUp, attempts };
  }

  it('is failed after five attempts and given up once, when no queue takes its message', async () => {
    const { service, takeQueue, task, job } = await createdService(planOf({ a: [], b: ['a'] }));
    takeQueue();

    const { givenUp, attempts } = await sweepForHours(service, 'enqueue');

    expect(attempts).toBe(maxRecoveries);
    expect(givenUp).toEqual([job()?.id]);
    expect(task('a')).toMatchObject({ status: 'failed', failure: { errorCode: 'processing_failed' } });
    expect(task('b')?.status).toBe('failed');
    expect(job()).toMatchObject({ status: 'failed', open: [] });
    expect(dueLater(service)).toEqual([]);
  });

  it.each([
    ['b waits for a', { a: [], b: ['a'] }],
    ['it is the only task', { a: [] }],
  ])('is settled except for its events if publishing fails and %s', async (_what, graph: Record<string, string[]>) => {
    const { service, start, task, status, job, id } = await createdService(planOf(graph));
    const attempt = await start('a');
    const event: TaskEvent = { type: 'failed', attempt, failure: damaged };
    await expect(service.lifecycle(refuse('publish')).apply(id('a'), event)).rejects.toThrow(CallFailed);

    const { givenUp } = await sweepForHours(service, 'publish');

    // Once for the end of the task, and once for that of the job which follows from it.
    expect(givenUp.length).toBeLessThanOrEqual(2);
    expect(task('a')).toMatchObject({ status: 'failed', failure: damaged });
    if ('b' in graph) expect(status('b')).toBe('failed');
    expect(job()).toMatchObject({ status: 'failed', open: [] });
    expect(dueLater(service)).toEqual([]);
  });

  it('is settled except for its events if it completed next to others, so that its job completes', async () => {
    const { service, start, complete, job, id } = await createdService(planOf({ a: [], b: [] }));
    const attempt = await start('a');
    const event: TaskEvent = { type: 'completed', attempt, files: [] };
    await expect(service.lifecycle(refuse('publish')).apply(id('a'), event)).rejects.toThrow(CallFailed);
    await complete('b');

    await sweepForHours(service, 'publish');

    expect(job()).toMatchObject({ status: 'completed', open: [] });
  });

  it('does not keep the sweep from the others of its job, before and after it is given up', async () => {
    const { service, takeQueue, start, fail, status, job, id } = await createdService(
      planOf({ first: [], stuck: [], running: [] }),
    );
    takeQueue();
    // The job has failed before, so that the end of the stuck task does not make it due.
    await fail('first');
    await start('running');
    const refusesStuck: Gate = async (call) => {
      if (call === 'enqueue stuck') throw new CallFailed();
    };
    service.route = (task) => ({ engine: task.name });

    for (const end = service.now + 3 * hourMs; service.now < end; service.now += 60_000)
      await service.sweepAndCount(refusesStuck);

    expect(status('stuck')).toBe('failed');
    expect(new Set(takeQueue())).toEqual(new Set(['running']));
    expect(job()?.dueAt).toBeGreaterThanOrEqual(service.now);
    await service.lifecycle().apply(id('running'), { type: 'canceled' });
    await sweepEachMinute(service, hourMs);
    expect(dueLater(service)).toEqual([]);
  });

  it('can be deleted, and so can its job, while publishing fails', async () => {
    const { service, id, status } = await createdService(planOf({ a: [], b: ['a'] }));
    const lifecycle = service.lifecycle(refuse('publish'));
    const errors: unknown[] = [];

    const decision = await lifecycle.commit(id('a'), { type: 'deleted' }, (error) => errors.push(error));
    expect(decision.outcome).toBe('changed');
    expect(status('a')).toBe('deleted');
    await lifecycle.deleteJob(service.jobs.keys().next().value ?? '', (error) => errors.push(error));
    expect(errors.length).toBeGreaterThan(0);
    await sweepForHours(service, 'publish');

    expect(status('a')).toBe('gone');
    expect(status('b')).toBe('gone');
    expect(service.jobs.size).toBe(0);
  });

  it('starts to count anew once it was recovered', async () => {
    const { service, takeQueue, task, job } = await createdService(planOf({ a: [] }));
    takeQueue();
    service.now += queueTimeoutMs;
    for (let round = 0; round < maxRecoveries - 1; round++) {
      expect(await service.sweepAndCount(refuse('enqueue'))).toEqual([]);
      service.now = job()?.dueAt ?? 0;
    }
    expect(job()?.failedRecoveries).toBe(maxRecoveries - 1);

    await service.sweepAndCount();

    expect(takeQueue()).toEqual(['a']);
    expect(job()?.failedRecoveries).toBeUndefined();
    expect(task('a')?.status).toBe('created');
  });
});

describe('a task that is given back', () => {
  const later = { delaySeconds: 2, queuedAt: createdAt };

  it('before it is claimed has a new message, and is as it was', async () => {
    const { lifecycle, id, task, takeQueue, service } = await createdService(planOf({ a: [] }));
    takeQueue();
    const before = task('a');

    const decision = await lifecycle.start(id('a'), { share: 0 });

    if (decision.outcome !== 'postponed') throw new Error(JSON.stringify(decision));
    expect(await lifecycle.giveBack('transfer', decision.task, later)).toBe(true);
    expect(takeQueue()).toEqual(['a']);
    expect(task('a')).toEqual(before);
    expect(service.published).toHaveLength(1);
  });

  it.each<[string, Group['longRuns'], string]>([
    ['has to wait while two other tasks of its account have long runs', { 'x#1': 1, 'y#1': 1 }, 'postponed'],
    ['starts while one does', { 'x#1': 1 }, 'changed'],
    ['starts once one of them has died', { 'x#1': 1, 'y#1': 0 }, 'changed'],
  ])('%s', async (_, longRuns = {}, outcome) => {
    const { lifecycle, id, service } = await createdService(planOf({ a: [] }));
    service.longRuns = Object.fromEntries(
      Object.entries(longRuns).map(([name, lives]) => [name, service.now + 60_000 * lives]),
    );

    const decision = await lifecycle.start(id('a'), { share: 2, account: { user: 'user', engine: 'transfer' } });

    expect(decision.outcome).toBe(outcome);
  });

  it('does not have to wait if it runs, has ended or waits for its inputs: its message is of no use', async () => {
    const { lifecycle, id, start, complete, takeQueue } = await createdService(planOf({ a: [], b: [], c: ['b'] }));
    await complete('a');
    await start('b');
    takeQueue();

    for (const [name, reason] of Object.entries({ a: 'ended', b: 'owned', c: 'waiting' }))
      expect(await lifecycle.start(id(name), { share: 0 })).toEqual({ outcome: 'refused', reason });
  });

  it('by its run is started again at once, as the next attempt, and the run has lost it', async () => {
    const { lifecycle, task, begin, takeQueue } = await createdService(planOf({ a: [] }));
    const { task: started } = await begin('a');
    takeQueue();

    expect(await lifecycle.giveBack('transfer', started, later, 1)).toBe(true);

    expect(takeQueue()).toEqual(['a']);
    expect(task('a')).toMatchObject({ status: 'processing', startedAt: started.startedAt, returns: 1 });
    expect(await lifecycle.giveBack('transfer', started, later, 1)).toBe(false);
    expect(takeQueue()).toEqual([]);
    expect((await begin('a')).task.attempt).toBe(2);
  });

  it.each(['canceled', 'deleted'] as const)(
    'can be %s while it waits, and its message then does nothing',
    async (type) => {
      const { lifecycle, id, task, begin, takeQueue } = await createdService(planOf({ a: [] }));
      const { task: started } = await begin('a');
      await lifecycle.giveBack('transfer', started, later, 1);
      takeQueue();

      await lifecycle.apply(id('a'), { type });

      expect(task('a')?.status).toBe(type === 'canceled' ? 'canceled' : undefined);
      const decision = await lifecycle.start(id('a'));
      expect(decision).toEqual(type === 'canceled' ? { outcome: 'refused', reason: 'ended' } : { outcome: 'missing' });
      expect(takeQueue()).toEqual([]);
    },
  );

  it('is not given back by a run whose task was canceled meanwhile', async () => {
    const { lifecycle, id, begin, takeQueue } = await createdService(planOf({ a: [] }));
    const { task: started } = await begin('a');
    await lifecycle.apply(id('a'), { type: 'canceled' });
    takeQueue();

    expect(await lifecycle.giveBack('transfer', started, later, 1)).toBe(false);
    expect(takeQueue()).toEqual([]);
  });

  it('is found by the sweep if its message is lost, within half an hour', async () => {
    const { lifecycle, service, begin, takeQueue } = await createdService(planOf({ a: [] }));
    const { task: started } = await begin('a');
    await lifecycle.giveBack('transfer', started, later, 1);
    takeQueue();

    for (let minute = 0; minute < 30; minute++) {
      service.now += 60_000;
      await service.sweep();
    }

    expect(new Set(takeQueue())).toEqual(new Set(['a']));
  });

  it('is failed after five lost runs, however often it was given back in between', async () => {
    const { lifecycle, id, service, begin, task } = await createdService(planOf({ a: [] }));
    for (let lost = 0; lost < maxAttempts; lost++) {
      const { task: started } = await begin('a');
      await lifecycle.giveBack('transfer', started, later, started.attempt);
      await begin('a');
      service.now += heartbeatWindowMs;
    }

    await lifecycle.start(id('a'), { share: 0 });

    expect(task('a')).toMatchObject({ status: 'failed', failure: workersLost });
  });
});

describe('redelivery', () => {
  it('of a message for an ended task repeats only consequences that change nothing', async () => {
    const { service, complete, lifecycle, id, takeQueue, job } = await createdService(planOf({ a: [], b: ['a'] }));
    await complete('a');
    await complete('b');
    takeQueue();
    const before = { a: service.tasks.get(id('a'))?.status, job: job()?.status };

    const decision = await lifecycle.start(id('a'));

    expect(decision).toEqual({ outcome: 'refused', reason: 'ended' });
    expect({ a: service.tasks.get(id('a'))?.status, job: job()?.status }).toEqual(before);
    expect(takeQueue()).toEqual([]);
  });

  it('of a message whose worker died before it released what waits does so', async () => {
    const { service, start, lifecycle, id, takeQueue, job } = await createdService(planOf({ a: [], b: ['a'], c: [] }));
    takeQueue();
    for (const name of ['a', 'c']) {
      const attempt = await start(name);
      const event: TaskEvent = { type: 'completed', attempt, files: [] };
      await expect(service.lifecycle(crashAfter(callsOfChange)).apply(id(name), event)).rejects.toThrow(Crash);
      await lifecycle.start(id(name));
    }

    expect(takeQueue()).toEqual(['b']);
    expect(job()?.open).toEqual([id('b')]);
  });

  it('of a message for a task that still waits for an input does not start it', async () => {
    const { lifecycle, id, status, cancel } = await createdService(planOf({ upload: [], a: ['upload'] }));

    expect(await lifecycle.start(id('a'))).toEqual({ outcome: 'refused', reason: 'waiting' });
    expect(status('a')).toBe('created');
    await cancel('upload');
    expect(status('a')).toBe('failed');
  });

  it('of a message for a task of a deleted job deletes the task', async () => {
    const { service, lifecycle, id, job } = await createdService(planOf({ a: [], b: [] }));
    await expect(service.lifecycle(crashAfter(callsOfChange)).deleteJob(job()?.id ?? '')).rejects.toThrow(Crash);

    expect(await lifecycle.start(id('a'))).toEqual({ outcome: 'missing' });

    expect(service.tasks.has(id('a'))).toBe(false);
    expect(service.filesDeletedOf).toEqual([id('a')]);
  });

  it('of a message for a task that another worker holds is refused', async () => {
    const { start, lifecycle, id } = await createdService(planOf({ a: [] }));
    await start('a');

    expect(await lifecycle.start(id('a'))).toEqual({ outcome: 'refused', reason: 'owned' });
  });

  it('of a message for a task that is gone does nothing', async () => {
    const { remove, lifecycle, id, service } = await createdService(planOf({ a: [] }, { alone: true }));
    await remove('a');

    expect(await lifecycle.start(id('a'))).toEqual({ outcome: 'missing' });
    await lifecycle.settleAgain(id('a'));
    expect(service.tasks.size).toBe(0);
  });

  it('of an upload event is harmless', async () => {
    const { upload, lifecycle, id, takeQueue, task } = await createdService(planOf({ upload: [], b: ['upload'] }));
    await upload('upload');
    const files = task('upload')?.files;

    expect(await upload('upload')).toEqual({ outcome: 'refused', reason: 'ended' });
    await lifecycle.settleAgain(id('upload'));

    expect(task('upload')?.files).toEqual(files);
    expect(new Set(takeQueue())).toEqual(new Set(['b']));
  });
});

type Service = Awaited<ReturnType<typeof createdService>>;
type Act = (lifecycle: ReturnType<MemoryService['lifecycle']>, on: Service) => Promise<unknown>;

const acts: Record<string, { act: Act; end: string }> = {
  cancel: { act: (lifecycle, { id }) => lifecycle.apply(id('left'), { type: 'canceled' }), end: 'task_canceled' },
  delete: { act: (lifecycle, { id }) => lifecycle.apply(id('left'), { type: 'deleted' }), end: 'task_deleted' },
  fail: {
    act: async (lifecycle, { id, start }) => {
      const attempt = await start('left');
      return lifecycle.apply(id('left'), { type: 'failed', attempt, failure: damaged });
    },
    end: 'task_failed',
  },
  complete: {
    act: async (lifecycle, { id, start }) => {
      const attempt = await start('left');
      return lifecycle.apply(id('left'), { type: 'completed', attempt, files: [fileOf(id('left'), attempt)] });
    },
    end: 'completed',
  },
  'delete job': { act: (lifecycle, { job }) => lifecycle.deleteJob(job()?.id ?? ''), end: 'gone' },
};

/** Lets the sweep and workers finish everything, and says how the job ended. */
async function finish({ service, takeQueue, complete, status, job }: Service): Promise<string> {
  for (let round = 0; round < 6; round++) {
    service.now += queueTimeoutMs;
    await service.sweep();
    for (const name of new Set(takeQueue())) {
      if (status(name) === 'created' || status(name) === 'processing') await complete(name);
    }
  }
  expect(dueLater(service)).toEqual([]);
  return job()?.failure?.errorCode ?? job()?.status ?? 'gone';
}

describe.each(Object.entries(acts))('breaking off a %s', (_name, { act, end }) => {
  async function prepare(): Promise<Service> {
    const created = await createdService(planOf(diamond));
    await created.complete('top');
    created.takeQueue();
    return created;
  }

  async function countCallsOf(): Promise<number> {
    const created = await prepare();
    const { gate, calls } = countCalls();
    await act(created.service.lifecycle(gate), created);
    return calls.length;
  }

  it('before any of its calls comes to the same end after the sweep', async () => {
    const total = await countCallsOf();

    for (let calls = callsOfChange; calls < total; calls++) {
      const created = await prepare();
      await expect(act(created.service.lifecycle(crashAfter(calls)), created)).rejects.toThrow(Crash);
      expect(await finish(created), `after ${calls} of ${total} calls`).toBe(end);
    }
    expect(total).toBeGreaterThan(2);
  });

  it('by a call that fails comes to the same end after the sweep', async () => {
    const total = await countCallsOf();

    for (let call = callsOfChange; call < total; call++) {
      const created = await prepare();
      await expect(act(created.service.lifecycle(failOnce(call)), created)).rejects.toThrow(CallFailed);
      expect(await finish(created), `at call ${call} of ${total}`).toBe(end);
    }
  });
});
