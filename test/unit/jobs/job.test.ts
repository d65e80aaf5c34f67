import { describe, expect, it } from 'vitest';
import {
  decideJob,
  initialEvents,
  type Job,
  type JobEvent,
  jobStatuses,
  withPendingEvents,
} from '../../../shared/jobs/job.ts';
import { createdAt, iso, makeJob } from '../tasks/factory.ts';

const startedAt = iso(createdAt + 10_000);
const endedAt = iso(createdAt + 20_000);
const now = createdAt + 100_000;
const failure = { errorCode: 'task_failed', msg: 'task "work" failed.' } as const;

const states = {
  created: makeJob(),
  'created, all ended': makeJob({ open: [] }),
  processing: makeJob({ status: 'processing', startedAt }),
  'processing, all ended': makeJob({ status: 'processing', startedAt, open: [] }),
  completed: makeJob({ status: 'completed', startedAt, endedAt, open: [] }),
  failed: makeJob({ status: 'failed', startedAt, endedAt, failure: { errorCode: 'task_canceled', msg: 'canceled' } }),
  deleted: makeJob({ status: 'deleted', startedAt, dueAt: now }),
} satisfies Record<string, Job>;
type State = keyof typeof states;

const events = {
  started: { type: 'started' },
  allTasksEnded: { type: 'allTasksEnded' },
  failed: { type: 'failed', failure, isOver: true },
  deleted: { type: 'deleted' },
} satisfies Record<string, JobEvent>;
type EventName = keyof typeof events;

type Outcome = Job['status'] | 'no change';
const same = 'no change';

const expected: Record<EventName, Record<State, Outcome>> = {
  started: row('processing', 'processing', same, same, same, same, same),
  allTasksEnded: row(same, 'completed', same, 'completed', same, same, same),
  failed: row('failed', 'failed', 'failed', 'failed', same, same, same),
  deleted: row('deleted', 'deleted', 'deleted', 'deleted', 'deleted', 'deleted', same),
};

function row(...outcomes: Outcome[]): Record<State, Outcome> {
  const entries = Object.keys(states).map((state, index) => [state, outcomes[index]]);
  return Object.fromEntries(entries);
}

const combinations = Object.entries(expected).flatMap(([event, byState]) =>
  Object.entries(byState).map(([state, outcome]) => ({
    event,
    state,
    outcome,
    given: states[state as State],
    happening: events[event as EventName],
  })),
);

describe('every event in every state of a job', () => {
  it.each(combinations)('$event when $state gives $outcome', ({ given, happening, outcome }) => {
    const before = structuredClone(given);

    const job = decideJob(given, happening, now);

    expect(job?.status ?? 'no change').toBe(outcome);
    expect(given).toEqual(before);
  });

  const changing = combinations.filter(({ outcome }) => outcome !== 'no change');

  it.each(changing)('$event when $state raises the version and dates the change', ({ given, happening }) => {
    const job = decideJob(given, happening, now);

    expect(job).toMatchObject({ version: given.version + 1, updatedAt: iso(now), expiresAt: given.expiresAt });
  });

  it('covers every status of the spec', () => {
    const covered = new Set(Object.values(states).map(({ status }) => status));

    expect([...covered].sort()).toEqual([...jobStatuses, 'deleted'].sort());
  });
});

describe("the rows of the spec's table for jobs", () => {
  it.each(['task_failed', 'task_canceled', 'task_deleted'] as const)(
    'Job, created or processing, one of its tasks ends badly: the job fails with %s',
    (errorCode) => {
      const event: JobEvent = { type: 'failed', failure: { errorCode, msg: 'why' }, isOver: true };

      const fromCreated = decideJob(states.created, event, now);
      const fromProcessing = decideJob(states.processing, event, now);

      expect(fromCreated).toMatchObject({ status: 'failed', failure: { errorCode, msg: 'why' }, endedAt: iso(now) });
      expect(fromProcessing).toMatchObject({ status: 'failed', failure: { errorCode, msg: 'why' }, startedAt });
    },
  );

  it('keeps the first reason when another task ends badly later', () => {
    expect(decideJob(states.failed, events.failed, now)).toBeUndefined();
  });

  it('Job, any, delete: the job becomes a tombstone that the sweep finishes', () => {
    expect(decideJob(states.completed, events.deleted, now)).toMatchObject({
      status: 'deleted',
      dueAt: createdAt + 240_000,
    });
  });
});

describe('the times of a job', () => {
  it('has startedAt from its first task to start, and no end', () => {
    const job = decideJob(states.created, events.started, now);

    expect(job).toMatchObject({ startedAt: iso(now) });
    expect(job).not.toHaveProperty('endedAt');
  });

  it('has endedAt when it completes, and startedAt even if no start was seen', () => {
    expect(decideJob(states['processing, all ended'], events.allTasksEnded, now)).toMatchObject({
      startedAt,
      endedAt: iso(now),
    });
    expect(decideJob(states['created, all ended'], events.allTasksEnded, now)).toMatchObject({
      startedAt: iso(now),
      endedAt: iso(now),
    });
  });
});

describe('the end of a job that failed', () => {
  const failing = decideJob(states.processing, { ...events.failed, isOver: false }, now);

  it('is not there while another task is open', () => {
    expect(failing).toMatchObject({ status: 'failed', failure });
    expect(failing).not.toHaveProperty('endedAt');
  });

  it.each([{ type: 'ended' }, { ...events.failed, isOver: true }] as const)(
    'comes with its last task, by $type',
    (event) => {
      const ended = failing && decideJob(failing, event, now + 1_000);
      expect(ended).toMatchObject({
        status: 'failed',
        failure,
        endedAt: iso(now + 1_000),
        version: (failing?.version ?? 0) + 1,
      });
      expect(ended?.pendingEvents).toEqual(failing?.pendingEvents);
      expect(ended && decideJob(ended, event, now + 2_000)).toBeUndefined();
    },
  );

  it.each(['created', 'processing', 'completed', 'deleted'] as const)('does not come to one that is %s', (state) => {
    expect(decideJob(states[state], { type: 'ended' }, now)).toBeUndefined();
  });
});

describe('the outbox of a job', () => {
  const withoutDueTime = ({ dueAt: _dueAt, ...rest }: Job): Job => rest;

  it.each([
    ['started', states.created],
    ['ended', states['processing, all ended']],
    ['ended', states.processing],
  ] as const)('holds "%s" from the write that makes it true', (event, job) => {
    const happening =
      event === 'started' ? events.started : job.open.length === 0 ? events.allTasksEnded : events.failed;

    expect(decideJob({ ...job, pendingEvents: ['created'] }, happening, now)?.pendingEvents).toEqual([
      'created',
      event,
    ]);
  });

  it('holds each event once', () => {
    expect(
      withPendingEvents(makeJob({ pendingEvents: ['created'] }), ['created', 'started'], now).pendingEvents,
    ).toEqual(['created', 'started']);
  });

  it('leaves a job due when it was, since each other time is another write to the index', () => {
    expect(decideJob(states.created, events.started, now)?.dueAt).toBe(states.created.dueAt);
    expect(decideJob(states.processing, events.failed, now)?.dueAt).toBe(states.processing.dueAt);
  });

  it('makes a job due that was not', () => {
    expect(decideJob(withoutDueTime(states.processing), events.failed, now)?.dueAt).toBe(createdAt + 240_000);
    expect(withPendingEvents(withoutDueTime(states.created), [], now)).not.toHaveProperty('dueAt');
  });

  it.each([
    ['created', states.created, ['created']],
    ['processing', states.processing, ['created', 'started']],
    ['completed', states.completed, ['created', 'started', 'ended']],
  ] as const)('begins with all that a job that is created as %s is past', (_status, job, pending) => {
    expect(initialEvents(job)).toEqual(pending);
  });
});
