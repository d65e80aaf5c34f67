import { describe, expect, it } from 'vitest';
import {
  outsideInputs,
  type PlanContext,
  planTasks,
  type TaskRequest,
  withFile,
} from '../../../functions/api/creation/plan.ts';
import { Catalogue } from '../../../shared/catalogue/catalogue.ts';
import { groupOfId, isId } from '../../../shared/ids.ts';
import type { Plan } from '../../../shared/lifecycle/dependencies.ts';
import type { FieldErrors } from '../../../shared/operations/problems.ts';
import { nextCheck } from '../../../shared/tasks/due.ts';
import type { Task } from '../../../shared/tasks/task.ts';
import { fileOf } from '../lifecycle/memory-records.ts';
import { createdAt, iso, makeRequest, makeTask } from '../tasks/factory.ts';

const catalogue = new Catalogue([
  {
    engine: 'image',
    summary: 'Converts images.',
    resources: {
      packaging: 'worker',
      memoryMegabytes: 512,
      diskMegabytes: 512,
      timeoutSeconds: 60,
      typicalSeconds: 1,
      maxConcurrency: 1,
    },
    formats: [
      { ext: 'png', mediaType: 'image/png' },
      { ext: 'webp', mediaType: 'image/webp' },
    ],
    capabilities: [{ operation: 'convert', from: ['png'], to: ['webp'], options: [] }],
  },
]);

function contextOf(change: Partial<PlanContext> = {}): PlanContext {
  return {
    user: 'f'.repeat(24),
    now: createdAt,
    recordSeconds: 86_400,
    uploadSeconds: 3_600,
    catalogue,
    outside: new Map(),
    job: {},
    ...change,
  };
}

function outsideOf(...tasks: Task[]): Map<string, Task> {
  return new Map(tasks.map((task) => [task.id, task]));
}

function planned(requests: TaskRequest[], context = contextOf()): Plan {
  const result = planTasks(requests, context);
  if ('errors' in result) throw new Error(JSON.stringify(result.errors));
  return result.plan;
}

function refused(requests: TaskRequest[], context = contextOf()): FieldErrors {
  const result = planTasks(requests, context);
  if ('plan' in result) throw new Error('The request was accepted.');
  return result.errors;
}

const graph = (inputs: Record<string, string[]>) =>
  Object.entries(inputs).map(([name, names]) => makeRequest(name, { inputs: names }));

describe('planning a job', () => {
  it('turns names into ids, and each input knows its dependents', () => {
    const { tasks } = planned(graph({ a: [], b: ['a'], c: ['a', 'b'] }));

    const [a, b, c] = tasks;
    expect(a).toMatchObject({ dependsOn: [], dependents: [b?.id, c?.id] });
    expect(b).toMatchObject({ dependsOn: [a?.id], dependents: [c?.id] });
    expect(c).toMatchObject({ dependsOn: [a?.id, b?.id], dependents: [] });
  });

  it('keeps the order of the request, and ids in that order after the id of the job', () => {
    const names = Array.from({ length: 200 }, (_, index) => `task${(index * 7) % 200}`);

    const { job, tasks } = planned(names.map((name) => makeRequest(name)));

    const ids = [job?.id ?? '', ...tasks.map(({ id }) => id)];
    expect(tasks.map(({ name }) => name)).toEqual(names);
    expect(ids.every(isId)).toBe(true);
    expect(ids).toEqual([...new Set(ids)].sort());
    expect(job?.tasks).toEqual(ids.slice(1));
    expect(new Set(ids.map(groupOfId))).toEqual(new Set([job?.id]));
  });

  it('gives a job of 500 tasks one group, and no id of it to another', () => {
    const requests = Array.from({ length: 500 }, (_, index) => makeRequest(`task${index}`));

    const [first, second] = [planned(requests), planned(requests)];

    for (const { job, tasks } of [first, second])
      expect(new Set(tasks.map(({ id }) => groupOfId(id)))).toEqual(new Set([job?.id]));
    expect(first.job?.id).not.toBe(second.job?.id);
  });

  it('counts its tasks by their operations, for lists that do not read them', () => {
    const requests = [
      makeRequest('up', { operation: 'import/upload' }),
      makeRequest('a', { inputs: ['up'] }),
      makeRequest('b', { inputs: ['up'] }),
    ];

    expect(planned(requests).job?.operations).toEqual({ 'import/upload': 1, 'export/url': 2 });
  });

  it('is complete with its last tasks, for which no other waits', () => {
    const { job, tasks } = planned(graph({ a: [], b: ['a'], c: ['a'], d: ['b'], alone: [] }));

    const open = tasks.filter(({ name }) => ['c', 'd', 'alone'].includes(name));
    expect(job?.open).toEqual(open.map(({ id }) => id));
    expect(tasks.filter(({ openIn }) => openIn !== undefined)).toEqual([]);
  });

  it('keeps up to 25 last tasks in its record, and more in parts of 25', () => {
    const lastTasks = (count: number) =>
      planned(
        graph({ first: [], ...Object.fromEntries(Array.from({ length: count }, (_, at) => [`t${at}`, ['first']])) }),
      );

    expect(lastTasks(25).job?.open).toHaveLength(25);
    expect(lastTasks(25).tasks.filter(({ openIn }) => openIn !== undefined)).toEqual([]);

    const { job, tasks } = lastTasks(60);
    const [first, ...last] = tasks;
    expect(job?.open).toEqual(['open#0', 'open#1', 'open#2']);
    expect(first).not.toHaveProperty('openIn');
    expect(last.map(({ openIn }) => openIn)).toEqual(last.map((_, index) => `open#${Math.floor(index / 25)}`));
  });

  it('accepts a task before the task it takes input from', () => {
    const { tasks } = planned(graph({ last: ['first'], first: [] }));

    expect(tasks[0]?.dependsOn).toEqual([tasks[1]?.id]);
  });

  it('keeps an input named twice, in order, which knows its dependent once', () => {
    const { tasks } = planned(graph({ a: [], b: [], merge: ['b', 'a', 'b'] }));

    const [a, b, merge] = tasks;
    expect(merge?.dependsOn).toEqual([b?.id, a?.id, b?.id]);
    expect(b?.dependents).toEqual([merge?.id]);
  });

  it('dates every record and lets it expire with the others', () => {
    const { job, tasks } = planned(graph({ a: [] }));

    const dates = { createdAt: iso(createdAt), updatedAt: iso(createdAt), expiresAt: iso(createdAt + 86_400_000) };
    expect(job).toMatchObject({ ...dates, status: 'created', version: 1, dueAt: nextCheck(createdAt) });
    expect(tasks[0]).toMatchObject({ ...dates, status: 'created', version: 1 });
    expect(tasks[0]).not.toHaveProperty('startedAt');
    expect(tasks[0]).not.toHaveProperty('dueAt');
  });

  it('starts an upload as processing until its form runs out, and its job with it', () => {
    const { job, tasks } = planned([makeRequest('up', { operation: 'import/upload' })]);

    expect(tasks[0]).toMatchObject({
      status: 'processing',
      startedAt: iso(createdAt),
      formUntil: createdAt + 3_600_000,
    });
    expect(job).toMatchObject({ status: 'processing', startedAt: iso(createdAt) });
  });

  it('marks a task whose secrets lie elsewhere, and holds none of them', () => {
    const { tasks } = planned([
      makeRequest('a', { parameters: { password: '***' }, secrets: { password: 'hunter2' } }),
    ]);

    expect(tasks[0]?.hasSecrets).toBe(true);
    expect(JSON.stringify(tasks)).not.toContain('hunter2');
  });

  it('plans a single task without a job', () => {
    const { job: _job, ...alone } = contextOf();

    const plan = planned([makeRequest('export/url', { path: '' })], alone);

    expect(plan).not.toHaveProperty('job');
    expect(plan.tasks[0]).not.toHaveProperty('job');
    expect(plan.tasks[0]?.dueAt).toBe(nextCheck(createdAt));
  });

  it.each(['constructor', 'toString', '__proto__', 'hasOwnProperty', 'valueOf'])(
    'takes a task named %s as any other',
    (name) => {
      const { tasks } = planned(graph({ a: [name], ...Object.fromEntries([[name, []]]) }));

      expect(tasks.map((task) => task.name)).toEqual(['a', name]);
      expect(tasks[0]?.dependsOn).toEqual([tasks[1]?.id]);
    },
  );

  it.each(['constructor', 'toString', '__proto__', 'hasOwnProperty', 'valueOf'])(
    'refuses %s as an input when no task has that name',
    (name) => {
      const errors = refused(graph({ a: [name] }));

      expect(errors).toEqual({
        'tasks.a.input': [`There is no task named "${name}" in this job. It has no other task.`],
      });
    },
  );
});

describe('inputs', () => {
  const earlier = makeTask({ id: 'e'.repeat(24), name: 'earlier' });

  it('may be ids of earlier tasks, which are waited for like others', () => {
    const { tasks } = planned(graph({ a: [], b: ['a', earlier.id] }), contextOf({ outside: outsideOf(earlier) }));

    expect(tasks[1]?.dependsOn).toEqual([tasks[0]?.id, earlier.id]);
  });

  it('are names first: a task named like an id is that task', () => {
    const requests = graph({ [earlier.id]: [], b: [earlier.id] });

    const { tasks } = planned(requests, contextOf({ outside: outsideOf(earlier) }));

    expect(outsideInputs(requests)).toEqual([]);
    expect(tasks[1]?.dependsOn).toEqual([tasks[0]?.id]);
  });

  it('that must be looked up are the ids that are no names, each once', () => {
    const requests = graph({ a: [earlier.id, 'b'], b: [earlier.id, 'unknown'] });

    expect(outsideInputs(requests)).toEqual([earlier.id]);
  });

  it('that nobody has, or another user has, are refused by id', () => {
    expect(refused(graph({ a: [earlier.id] }))).toEqual({ 'tasks.a.input': [`There is no task ${earlier.id}.`] });
  });

  it('with an unknown name are refused with the names there are', () => {
    expect(refused(graph({ a: ['c'], b: [], d: [] }))).toEqual({
      'tasks.a.input': ['There is no task named "c" in this job. Its other tasks: b, d.'],
    });
  });

  it('of a single task must be ids', () => {
    const { job: _job, ...alone } = contextOf();

    expect(refused([makeRequest('convert', { path: '', inputs: ['a'] })], alone)).toEqual({
      input: ['Expected the id of a task but received "a".'],
    });
  });

  it('are all reported at once, by task and field', () => {
    expect(Object.keys(refused(graph({ a: ['x'], b: ['a', 'y'], c: ['c'] })))).toEqual([
      'tasks.a.input',
      'tasks.b.input',
      'tasks.c.input',
    ]);
  });

  it('that are wrong by the hundred thousand get a response that fits', () => {
    const unknown = Array.from({ length: 1_000 }, (_, index) => `unknown${index}`);
    const requests = Array.from({ length: 500 }, (_, index) => makeRequest(`task${index}`, { inputs: unknown }));

    const errors = refused(requests);

    expect(JSON.stringify(errors).length).toBeLessThan(1_000_000);
    expect(errors['tasks.task0.input']?.[0]).toContain('"unknown0"');
  });
});

describe('cycles', () => {
  it('of one task are refused', () => {
    expect(refused(graph({ a: ['a'] }))).toEqual({ 'tasks.a.input': ['Task "a" depends on itself: a → a.'] });
  });

  it('of several tasks are refused with the way round', () => {
    expect(refused(graph({ a: ['b'], b: ['c'], c: ['a'], d: ['a'] }))).toEqual({
      'tasks.c.input': ['Task "c" depends on itself: c → a → b → c.'],
    });
  });

  it('are found beside tasks that are right, and each is named', () => {
    const errors = refused(graph({ fine: [], x: ['fine', 'y'], y: ['x'], p: ['q', 'fine'], q: ['p'] }));

    expect(errors).toEqual({
      'tasks.y.input': ['Task "y" depends on itself: y → x → y.'],
      'tasks.q.input': ['Task "q" depends on itself: q → p → q.'],
    });
  });

  it('are not seen where two ways lead to the same task', () => {
    expect(planned(graph({ top: [], left: ['top'], right: ['top'], bottom: ['left', 'right'] })).tasks).toHaveLength(4);
  });

  const chain = Array.from({ length: 500 }, (_, index) => `t${index}`);

  it('are not seen in 500 tasks in a row, in either order of the request', () => {
    const requests = chain.map((name, index) => makeRequest(name, { inputs: index === 0 ? [] : [`t${index - 1}`] }));

    expect(planned(requests).tasks).toHaveLength(500);
    expect(planned(requests.toReversed()).tasks).toHaveLength(500);
  });

  it('of 500 tasks are refused with both ends of the way round', () => {
    const requests = chain.map((name, index) => makeRequest(name, { inputs: [`t${(index + 1) % 500}`] }));

    const [message] = Object.values(refused(requests)).flat();

    expect(message).toMatch(/^Task "t499" depends on itself: t499 → t0 → t1 → .* → … 481 more … → .* → t499\.$/);
  });

  it('are looked for in a time that does not grow with the number of ways, of which a client may give millions', () => {
    const requests = chain.map((name, index) => makeRequest(name, { inputs: chain.slice(0, index) }));

    const { tasks } = planned(requests);

    expect(tasks[499]?.dependsOn).toHaveLength(499);
  });
});

describe('formats', () => {
  it('are checked where the input is known before it is there', () => {
    const png = makeTask({ id: 'e'.repeat(24), status: 'completed', files: [fileOf('e'.repeat(24), 0)] });
    const request = (output_format: string) =>
      makeRequest('a', { operation: 'convert', inputs: [png.id], parameters: { output_format } });

    expect(planned([request('webp')], contextOf({ outside: outsideOf(png) })).tasks).toHaveLength(1);
    expect(Object.keys(refused([request('mp3')], contextOf({ outside: outsideOf(png) })))).toEqual([
      'tasks.a.output_format',
    ]);
  });

  it('of an upload are not known yet and pass for now', () => {
    const requests = [
      makeRequest('up', { operation: 'import/upload' }),
      makeRequest('a', { operation: 'convert', inputs: ['up'], parameters: { output_format: 'webp' } }),
    ];

    expect(planned(requests).tasks).toHaveLength(2);
  });
});

describe('a file that came with the request', () => {
  const base64 = { operation: 'import/base64', parameters: { filename: 'a.png' } } as const;

  it('completes its task before it is written, so that its dependents can run at once', () => {
    const plan = planned([makeRequest('a', base64), makeRequest('b', { inputs: ['a'] })]);
    const [a, b] = plan.tasks;
    const file = fileOf(a?.id ?? '', 0);

    const ready = withFile(plan, a?.id ?? '', file, createdAt);

    expect(ready.tasks[0]).toMatchObject({
      status: 'completed',
      files: [file],
      progress: 100,
      startedAt: iso(createdAt),
      endedAt: iso(createdAt),
      dependents: [b?.id],
    });
    expect(ready.tasks[0]).not.toHaveProperty('dueAt');
    expect(ready.tasks[1]).toMatchObject({ status: 'created', dependsOn: [a?.id] });
    expect(ready.job).toMatchObject({ status: 'processing', startedAt: iso(createdAt), open: [b?.id] });
  });

  it('is one of its part where others of the same part are open', () => {
    const count = 30;
    const plan = planned(Array.from({ length: count }, (_, index) => makeRequest(`t${index}`, base64)));
    const complete = (from: number, to: number) =>
      plan.tasks.slice(from, to).reduce((next, { id }) => withFile(next, id, fileOf(id, 0), createdAt), plan);

    expect(complete(0, 1).job?.open).toEqual(['open#0', 'open#1']);
    expect(complete(0, 1).tasks.filter(({ openIn }) => openIn === 'open#0')).toHaveLength(24);
    expect(complete(25, count).job?.open).toEqual(['open#0']);
    expect(complete(0, count).job).toMatchObject({ status: 'completed', open: [] });
  });

  it('completes the job when all its files came with it', () => {
    const plan = planned([makeRequest('a', base64), makeRequest('b', base64)]);

    const ready = plan.tasks.reduce((next, { id }) => withFile(next, id, fileOf(id, 0), createdAt), plan);

    expect(ready.job).toMatchObject({ status: 'completed', open: [], endedAt: iso(createdAt) });
    expect(ready.tasks.map(({ status }) => status)).toEqual(['completed', 'completed']);
  });

  it('completes a single task', () => {
    const { job: _job, ...alone } = contextOf();
    const plan = planned([makeRequest('import/base64', { ...base64, path: '' })], alone);

    const ready = withFile(plan, plan.tasks[0]?.id ?? '', fileOf('x', 0), createdAt);

    expect(ready).toEqual({ tasks: [expect.objectContaining({ status: 'completed' })] });
  });
});

describe('planning a task whose input is there already', () => {
  const request = makeRequest('work', {
    operation: 'convert',
    inputs: ['d'.repeat(24)],
    parameters: { output_format: 'webp' },
  });
  const input = (size: number) =>
    makeTask({
      id: 'd'.repeat(24),
      status: 'completed',
      files: [{ ...fileOf('d'.repeat(24), 1), format: 'png', size }],
    });

  it('refuses what its engine has no room for', () => {
    const context = contextOf({ outside: outsideOf(input(256 * 1024 * 1024 + 1)) });
    expect(refused([request], context)).toEqual({
      'tasks.work.input': [
        'The input has 268,435,457 bytes; this operation takes at most 268,435,456 bytes in one task. Split the input or make it smaller first.',
      ],
    });
  });

  it('takes what fits', () => {
    expect(planned([request], contextOf({ outside: outsideOf(input(256 * 1024 * 1024)) })).tasks).toHaveLength(1);
  });
});
