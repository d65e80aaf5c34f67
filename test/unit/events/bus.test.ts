import { describe, expect, it } from 'vitest';
import { type BusScope, busEventsOf, parseBusScope } from '../../../shared/aws/bus-events.ts';
import type { ChangeEvent } from '../../../shared/events/change-event.ts';
import { createdAt, iso, makeJob, makeTask } from '../tasks/factory.ts';

const at = iso(createdAt);
const job = makeJob();

const changes: ChangeEvent[] = [
  { type: 'job', job, events: ['created'] },
  { type: 'job', job: { ...job, status: 'processing' }, events: ['started'] },
  { type: 'task', task: makeTask({ status: 'processing' }) },
  { type: 'task', task: makeTask({ status: 'processing', progress: 50 }) },
  { type: 'task', task: makeTask({ status: 'completed', endedAt: at }) },
  { type: 'task', task: makeTask({ status: 'failed', endedAt: at }) },
  { type: 'job', job: { ...job, status: 'failed', endedAt: at }, events: ['ended'] },
  { type: 'job', job: { ...job, status: 'completed', endedAt: at }, events: ['created', 'started'] },
  { type: 'job', job: { ...job, status: 'completed', endedAt: at }, events: ['ended'] },
  { type: 'job', job: { ...job, status: 'deleted', endedAt: at }, events: ['ended'] },
];

describe('the bus', () => {
  it.for<[BusScope, string[]]>([
    ['jobs', ['job_failed', 'job_completed']],
    ['tasks', ['task_completed', 'task_failed', 'job_failed', 'job_completed']],
    [
      'all',
      [
        'job_created',
        'job_started',
        'task_started',
        'task_updated',
        'task_completed',
        'task_failed',
        'job_failed',
        'job_created',
        'job_started',
        'job_completed',
      ],
    ],
  ])('receives for %s what it is asked for', ([scope, names]) => {
    expect(changes.flatMap((change) => busEventsOf(change, scope)).map(({ name }) => name)).toEqual(names);
  });

  it('receives the ends of jobs unless it is asked for more, and refuses what it does not know', () => {
    expect([undefined, '', 'tasks'].map(parseBusScope)).toEqual(['jobs', 'jobs', 'tasks']);
    expect(() => parseBusScope('some')).toThrow('Expected jobs, tasks or all for LATHE_BUS_EVENTS but received some.');
  });
});
