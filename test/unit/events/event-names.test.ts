import { describe, expect, test } from 'vitest';
import { channelsOf, parseChannel } from '../../../functions/events/websocket/channel.ts';
import { encode, maxMessageBytes } from '../../../functions/events/websocket/dialect.ts';
import { type Cursor, type EventName, eventFor, jobAt, phases, taskAt } from '../../../shared/events/event-names.ts';
import type { Job } from '../../../shared/jobs/job.ts';
import type { Task, TaskStatus } from '../../../shared/tasks/task.ts';

const id = '6af9126cc0830000f25c62d1';
const user = '6af9126cc0830000f25c62d2';
const times = { createdAt: '', updatedAt: '', expiresAt: '2099-01-01T00:00:00.000Z' };

function taskIn(status: TaskStatus, version: number): Task {
  return {
    id,
    user,
    name: 'a',
    operation: 'convert',
    status,
    payload: {},
    dependsOn: [],
    dependents: [],
    job: user,
    files: [],
    attempt: 1,
    ...times,
    version: 99,
    revision: version,
  };
}

function jobIn(status: Job['status'], version: number): Job {
  return { id, user, status, tasks: [], operations: {}, open: [], ...times, version: 99, revision: version };
}

describe('the name of a change', () => {
  test.each<[TaskStatus, Cursor | undefined, EventName | undefined]>([
    ['created', undefined, undefined],
    ['processing', undefined, 'task_started'],
    ['processing', { version: 1, phase: phases.created }, 'task_started'],
    ['processing', { version: 4, phase: phases.started }, 'task_updated'],
    ['processing', { version: 5, phase: phases.started }, undefined],
    ['processing', { version: 6, phase: phases.started }, undefined],
    ['processing', { version: 4, phase: phases.ended }, undefined],
    ['completed', undefined, 'task_completed'],
    ['completed', { version: 4, phase: phases.started }, 'task_completed'],
    ['completed', { version: 4, phase: phases.ended }, undefined],
    ['failed', { version: 4, phase: phases.created }, 'task_failed'],
    ['canceled', { version: 4, phase: phases.started }, 'task_canceled'],
    ['deleted', { version: 4, phase: phases.ended }, 'task_deleted'],
    ['deleted', { version: 4, phase: phases.deleted }, undefined],
  ])('of a task that is %s to somebody who was shown %j is %s', (status, shown, event) => {
    expect(eventFor(taskIn(status, 5), shown)).toBe(event);
  });

  test.each<[Job['status'], Cursor | undefined, EventName | undefined]>([
    ['created', undefined, undefined],
    ['processing', undefined, 'job_started'],
    ['processing', { version: 4, phase: phases.started }, undefined],
    ['completed', { version: 4, phase: phases.started }, 'job_completed'],
    ['failed', undefined, 'job_failed'],
    ['failed', { version: 4, phase: phases.ended }, undefined],
    ['deleted', { version: 4, phase: phases.ended }, undefined],
  ])('of a job that is %s to somebody who was shown %j is %s', (status, shown, event) => {
    expect(eventFor(jobIn(status, 5), shown)).toBe(event);
  });
});

describe('what somebody was shown before', () => {
  test('is a running task again, where the task has ended since', () => {
    const ended = {
      ...taskIn('failed', 5),
      endedAt: 'then',
      failure: { errorCode: 'processing_failed', msg: '' },
    } as const;
    const { endedAt, failure, ...shown } = taskAt(ended, { version: 2, phase: phases.started });
    expect([endedAt, failure]).toEqual([undefined, undefined]);
    expect(shown).toEqual(taskIn('processing', 2));
    expect(taskAt(ended, { version: 5, phase: phases.ended })).toBe(ended);
  });

  test('is a running job again, where the job has ended since', () => {
    expect(jobAt(jobIn('completed', 5), { version: 2, phase: phases.started })).toEqual(jobIn('processing', 2));
    expect(jobAt(jobIn('created', 1), { version: 1, phase: phases.created })).toEqual(jobIn('created', 1));
  });
});

describe('channels', () => {
  test('are read from their names', () => {
    expect(parseChannel(`job.${id}`)).toEqual({ kind: 'job', id });
    expect(parseChannel(`task.${id}`)).toEqual({ kind: 'task', id });
    expect(parseChannel(`user.${id}.jobs`)).toEqual({ kind: 'jobs', user: id });
    expect(parseChannel(`user.${id}.tasks`)).toEqual({ kind: 'tasks', user: id });
  });

  test.each(['', 'job', 'job.1', `job.${id}.tasks`, `user.${id}`, `user.${id}.x`, `jobs.${id}`, `user.${id}.jobs.x`])(
    '%j names none',
    (name) => {
      expect(parseChannel(name)).toBeUndefined();
    },
  );

  test('carry the changes of a task to whoever follows it, its job or its owner', () => {
    expect(channelsOf(taskIn('created', 1))).toEqual([`task.${id}`, `job.${user}`, `user.${user}.tasks`]);
    expect(channelsOf(jobIn('created', 1))).toEqual([`job.${id}`, `user.${user}.jobs`]);
  });
});

describe('messages', () => {
  test('are JSON in the plain dialect and an event packet in that of Socket.IO', () => {
    const message = { event: 'job_started', channel: 'job.1', data: { id: '1', version: 2 } };
    expect(JSON.parse(encode('plain', message))).toEqual(message);
    expect(encode('socket.io', message)).toBe('42["job_started",{"id":"1","version":2}]');
  });

  test.each(['plain', 'socket.io'] as const)('that are too large lose their bulk in the %s dialect', (dialect) => {
    const payload = { text: 'x'.repeat(1_000) };
    const task = { id: '2', version: 3, name: 'a', operation: 'convert', status: 'failed', payload };
    const data = { id: '1', version: 3, status: 'failed', tasks: Array.from({ length: 500 }, () => task) };
    const text = encode(dialect, { event: 'job_failed', data });
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(maxMessageBytes);
    expect(text).toContain('"truncated":true');
    expect(text).not.toContain('xxx');
    expect(text.match(/"status":"failed"/g)).toHaveLength(501);
    expect(text.match(/"version":3/g)).toHaveLength(501);
  });

  test('that are too large whatever is left out still say what became of what', () => {
    const data = { id: '1', status: 'failed', result: { msg: 'x'.repeat(200_000) } };
    const text = encode('plain', { event: 'task_failed', data });
    expect(JSON.parse(text)).toEqual({ event: 'task_failed', data: { id: '1', status: 'failed', truncated: true } });
  });
});
