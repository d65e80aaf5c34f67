import { describe, expect, it } from 'vitest';
import { takenBy } from '../../../shared/tasks/charges.ts';
import { nextCheck } from '../../../shared/tasks/due.ts';
import type { Task, TaskStatus } from '../../../shared/tasks/task.ts';
import { taskStatuses } from '../../../shared/tasks/task.ts';
import {
  type Decision,
  decide,
  heartbeatWindowMs,
  isExhausted,
  maxAttempts,
  type TaskEvent,
} from '../../../shared/tasks/transitions.ts';
import { fileOf } from '../lifecycle/memory-records.ts';
import { createdAt, iso, makeTask } from './factory.ts';

const beganAt = createdAt + 10_000;
const endedAt = createdAt + 20_000;
const now = createdAt + 100_000;
const file = fileOf('a'.repeat(24), 1);
const failure = { errorCode: 'processing_failed', msg: 'The file is damaged.' } as const;
const form = { url: 'https://bucket.example', parameters: { signature: 'x' } };

/** Each state a record can be in, as the events see it. */
const states = {
  created: makeTask(),
  'created, waiting': makeTask({ dependsOn: ['c'.repeat(24)] }),
  'processing, alive': makeTask({
    status: 'processing',
    attempt: 1,
    startedAt: iso(beganAt),
    heartbeatAt: now - 1_000,
    version: 2,
  }),
  'processing, silent': makeTask({
    status: 'processing',
    attempt: 1,
    startedAt: iso(beganAt),
    heartbeatAt: now - heartbeatWindowMs,
    version: 2,
  }),
  'processing, given back': makeTask({
    status: 'processing',
    attempt: 1,
    returns: 1,
    startedAt: iso(beganAt),
    version: 3,
  }),
  'processing (import/upload)': makeTask({
    operation: 'import/upload',
    status: 'processing',
    startedAt: iso(createdAt),
    form,
  }),
  completed: endedTask('completed', { files: [file], attempt: 1, startedAt: iso(beganAt) }),
  canceled: endedTask('canceled'),
  failed: endedTask('failed', { failure, attempt: 1, startedAt: iso(beganAt) }),
  deleted: endedTask('deleted'),
} satisfies Record<string, Task>;
type State = keyof typeof states;

function endedTask(status: TaskStatus, change: Partial<Task> = {}): Task {
  return makeTask({ status, endedAt: iso(endedAt), version: 3, ...change });
}

const events = {
  started: { type: 'started' },
  progressed: { type: 'progressed', attempt: 1, percent: 40 },
  'progressed by another attempt': { type: 'progressed', attempt: 7 },
  completed: { type: 'completed', attempt: 1, files: [file] },
  'completed by another attempt': { type: 'completed', attempt: 7, files: [file] },
  failed: { type: 'failed', attempt: 1, failure },
  'failed by another attempt': { type: 'failed', attempt: 7, failure },
  'failed without a run': { type: 'failed', attempt: 0, failure },
  returned: { type: 'returned', attempt: 1 },
  'returned by another attempt': { type: 'returned', attempt: 7 },
  uploaded: { type: 'uploaded', file },
  performed: { type: 'performed', files: [file] },
  expired: { type: 'expired', failure },
  inputEnded: { type: 'inputEnded', failure, input: 'a' },
  canceled: { type: 'canceled' },
  deleted: { type: 'deleted' },
} satisfies Record<string, TaskEvent>;
type EventName = keyof typeof events;

type Outcome = TaskStatus | 'refused: ended' | 'refused: owned' | 'refused: waiting' | 'refused: not-started';

const ended = 'refused: ended';
const owned = 'refused: owned';
const waiting = 'refused: waiting';
const notStarted = 'refused: not-started';

/** Every event in every state. The rows of the spec's table are the ones that change the status; no others do. */
const expected: Record<EventName, Record<State, Outcome>> = {
  started: row('processing', 'processing', owned, 'processing', 'processing', waiting, ended, ended, ended, ended),
  progressed: row(notStarted, notStarted, 'processing', 'processing', notStarted, owned, ended, ended, ended, ended),
  'progressed by another attempt': row(notStarted, notStarted, owned, owned, owned, owned, ended, ended, ended, ended),
  completed: row(notStarted, notStarted, 'completed', 'completed', notStarted, owned, ended, ended, ended, ended),
  'completed by another attempt': row(notStarted, notStarted, owned, owned, owned, owned, ended, ended, ended, ended),
  failed: row(notStarted, notStarted, 'failed', 'failed', notStarted, owned, ended, ended, ended, ended),
  'failed by another attempt': row(notStarted, notStarted, owned, owned, owned, owned, ended, ended, ended, ended),
  'failed without a run': row(notStarted, notStarted, owned, owned, owned, 'failed', ended, ended, ended, ended),
  returned: row(notStarted, notStarted, 'processing', 'processing', notStarted, owned, ended, ended, ended, ended),
  'returned by another attempt': row(notStarted, notStarted, owned, owned, owned, owned, ended, ended, ended, ended),
  uploaded: row(notStarted, notStarted, notStarted, notStarted, notStarted, 'completed', ended, ended, ended, ended),
  performed: row('completed', 'completed', owned, owned, owned, owned, ended, ended, ended, ended),
  expired: row('failed', 'failed', 'failed', 'failed', 'failed', 'failed', ended, ended, ended, ended),
  inputEnded: row('failed', 'failed', 'failed', 'failed', 'failed', 'failed', ended, ended, ended, ended),
  canceled: row('canceled', 'canceled', 'canceled', 'canceled', 'canceled', 'canceled', ended, ended, ended, ended),
  deleted: row(
    'deleted',
    'deleted',
    'deleted',
    'deleted',
    'deleted',
    'deleted',
    'deleted',
    'deleted',
    'deleted',
    ended,
  ),
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

function next(decision: Decision): Task {
  if (decision.outcome !== 'changed') throw new Error(`refused: ${decision.reason}`);
  return decision.task;
}

describe('every event in every state', () => {
  it.each(combinations)('$event when $state gives $outcome', ({ given, happening, outcome }) => {
    const before = structuredClone(given);

    const decision = decide(given, happening, now);

    const got = decision.outcome === 'changed' ? decision.task.status : `refused: ${decision.reason}`;
    expect(got).toBe(outcome);
    expect(given).toEqual(before);
  });

  it('covers every status of the spec', () => {
    const covered = new Set(Object.values(states).map(({ status }) => status));

    expect([...covered].sort()).toEqual([...taskStatuses].sort());
  });

  const changing = combinations.filter(({ outcome }) => !outcome.startsWith('refused'));

  it.each(changing)('$event when $state raises the version and dates the change', ({ given, happening }) => {
    const task = next(decide(given, happening, now));

    expect(task.version).toBe(given.version + 1);
    expect(task.updatedAt).toBe(iso(now));
    expect(task.createdAt).toBe(given.createdAt);
    expect(task.expiresAt).toBe(given.expiresAt);
  });

  const ending = changing.filter(({ outcome }) => outcome !== 'processing');

  it.each(ending)(
    '$event when $state leaves an end, and the time of the next check',
    ({ given, happening, outcome }) => {
      const task = next(decide(given, happening, now));

      expect(task.endedAt).toBe(given.endedAt ?? iso(now));
      expect(task.startedAt).toBe(happening.type === 'performed' ? iso(now) : given.startedAt);
      // A tombstone schedules itself, because its job may be off the schedule.
      expect(task.dueAt).toBe(outcome === 'deleted' ? nextCheck(now) : given.dueAt);
      expect(task).not.toHaveProperty('form');
      expect(task).not.toHaveProperty('heartbeatAt');
    },
  );
});

describe("the rows of the spec's table", () => {
  it.each(['created', 'created, waiting', 'processing, alive', 'processing (import/upload)'] as const)(
    'Task, created or processing, cancel: a task that is %s becomes canceled',
    (state) => {
      const task = next(decide(states[state], events.canceled, now));

      expect(task).toMatchObject({ status: 'canceled', endedAt: iso(now), files: [] });
      expect(task).not.toHaveProperty('failure');
    },
  );

  it('Task, processing (import/upload), file upload finishes: the task becomes completed with the file', () => {
    const task = next(decide(states['processing (import/upload)'], events.uploaded, now));

    expect(task).toMatchObject({ status: 'completed', files: [file], progress: 100, startedAt: iso(createdAt) });
  });

  it.each(['created', 'created, waiting', 'processing, alive'] as const)(
    'Task, any, dependency task canceled: a task that is %s becomes failed with the reason',
    (state) => {
      const task = next(decide(states[state], events.inputEnded, now));

      expect(task).toMatchObject({ status: 'failed', failure, failedBy: 'a', endedAt: iso(now) });
    },
  );

  it.each(['created', 'processing, alive', 'completed', 'canceled', 'failed'] as const)(
    'Task, any, delete: a task that is %s becomes deleted',
    (state) => {
      const task = next(decide(states[state], events.deleted, now));

      expect(task.status).toBe('deleted');
    },
  );
});

describe('started', () => {
  it('gives the task to a first attempt, dated, and leaves it due when it was', () => {
    const task = next(decide(states.created, events.started, now));

    expect(task).toMatchObject({
      status: 'processing',
      attempt: 1,
      startedAt: iso(now),
      heartbeatAt: now,
      dueAt: states.created.dueAt,
    });
    expect(task).not.toHaveProperty('endedAt');
  });

  it('takes a task over only once its worker has been silent for the whole heartbeat window', () => {
    const task = makeTask({ status: 'processing', attempt: 1, startedAt: iso(beganAt), heartbeatAt: now });

    expect(decide(task, events.started, now + heartbeatWindowMs - 1)).toEqual({ outcome: 'refused', reason: 'owned' });
    expect(next(decide(task, events.started, now + heartbeatWindowMs))).toMatchObject({ attempt: 2 });
  });

  it('keeps the time of the first start when a later attempt takes over', () => {
    const task = next(decide(states['processing, silent'], events.started, now));

    expect(task).toMatchObject({ attempt: 2, startedAt: iso(beganAt), heartbeatAt: now });
  });

  it.each([events.progressed, events.completed, events.failed])(
    "refuses the earlier attempt's $type after a takeover",
    (event) => {
      const takenOver = next(decide(states['processing, silent'], events.started, now));

      expect(decide(takenOver, event, now)).toEqual({ outcome: 'refused', reason: 'owned' });
    },
  );
});

describe('returned', () => {
  const given = next(decide(states['processing, alive'], events.returned, now));

  it('releases the task, which stays in processing to a reader, for the next attempt', () => {
    expect(given).toMatchObject({ status: 'processing', attempt: 1, returns: 1, startedAt: iso(beganAt) });
    expect(given).not.toHaveProperty('heartbeatAt');
    expect(next(decide(given, events.started, now))).toMatchObject({ attempt: 2, heartbeatAt: now });
  });

  it.each([events.progressed, events.completed, events.failed, events.returned])(
    'refuses what is left of the run: its $type',
    (event) => {
      expect(decide(given, event, now)).toEqual({ outcome: 'refused', reason: 'not-started' });
    },
  );

  it('counts as no lost run, however often it happens', () => {
    let task: Task = states.created;
    for (let run = 0; run < 3 * maxAttempts; run++) {
      const started = next(decide(task, events.started, now));
      task = next(decide(started, { type: 'returned', attempt: started.attempt }, now));
      expect(isExhausted(task)).toBe(false);
    }
    expect(isExhausted({ ...task, attempt: task.attempt + maxAttempts - 1 })).toBe(false);
    expect(isExhausted({ ...task, attempt: task.attempt + maxAttempts })).toBe(true);
  });

  it('keeps the engine time that is set aside, and charges none for the run', () => {
    const meter = { limits: { account: 60_000 }, month: '2026-01', since: beganAt, reservedMs: 10_000 };
    const task = next(decide({ ...states['processing, alive'], meter }, events.returned, now));

    expect(task.meter).toEqual({ limits: { account: 60_000 }, month: '2026-01', reservedMs: 10_000 });
    expect(takenBy(next(decide(task, events.canceled, now)))).toBe(0);
    expect(next(decide(task, events.started, now)).meter).toMatchObject({ since: now, reservedMs: 10_000 });
  });

  it('starts no run before the next one is due, so that a message that is delivered twice does no harm', () => {
    const resumesAt = now + 20_000;
    const task = next(decide(states['processing, alive'], { type: 'returned', attempt: 1, resumesAt }, now));

    expect(decide(task, events.started, now + 10_000)).toEqual({ outcome: 'refused', reason: 'owned' });
    expect(next(decide(task, events.started, resumesAt))).not.toHaveProperty('resumesAt');
    expect(next(decide(task, events.canceled, now))).not.toHaveProperty('resumesAt');
  });

  it('charges the time of work that goes on without the run', () => {
    const meter = { limits: { account: 600_000 }, month: '2026-01', since: beganAt, reservedMs: 500_000 };
    const returned = { type: 'returned', attempt: 1, goesOn: true } as const;
    const task = next(decide({ ...states['processing, alive'], meter }, returned, now));

    expect(takenBy(next(decide(task, events.canceled, now + 5_000)))).toBe(Math.min(500_000, now + 5_000 - beganAt));
  });
});

describe('a task of a job', () => {
  const { dueAt: _dueAt, ...created } = makeTask({ job: 'b'.repeat(24) });

  it('is never due while it lives, since its job is', () => {
    const started = next(decide(created, events.started, now));
    const alive = next(decide(started, events.progressed, now));

    for (const task of [
      started,
      alive,
      next(decide(alive, events.completed, now)),
      next(decide(created, events.canceled, now)),
    ])
      expect(task).not.toHaveProperty('dueAt');
  });

  it('is due when it is deleted, so that its tombstone goes whatever became of its job', () => {
    expect(next(decide(created, events.deleted, now)).dueAt).toBe(nextCheck(now));
  });
});

describe('progressed', () => {
  it('is a sign of life that puts off the takeover', () => {
    const alive = next(decide(states['processing, silent'], { type: 'progressed', attempt: 1 }, now));

    expect(alive).toMatchObject({ heartbeatAt: now, dueAt: states['processing, silent'].dueAt });
    expect(alive).not.toHaveProperty('progress');
    expect(decide(alive, events.started, now + 1)).toEqual({ outcome: 'refused', reason: 'owned' });
  });

  it('never goes back', () => {
    const task = { ...states['processing, alive'], progress: 60 };

    expect(next(decide(task, events.progressed, now)).progress).toBe(60);
    expect(next(decide(task, { type: 'progressed', attempt: 1, percent: 80 }, now)).progress).toBe(80);
  });
});

describe('completed', () => {
  it('keeps the files and details of the attempt that owns the task', () => {
    const event: TaskEvent = { type: 'completed', attempt: 1, files: [file], details: { saved: 12 } };

    const task = next(decide(states['processing, alive'], event, now));

    expect(task).toMatchObject({ files: [file], details: { saved: 12 }, progress: 100, startedAt: iso(beganAt) });
  });
});

describe('performed', () => {
  it('starts and completes the task in one write, which are two changes to a reader', () => {
    const task = next(decide(states.created, events.performed, now));

    expect(task).toMatchObject({
      files: [file],
      progress: 100,
      attempt: 0,
      startedAt: iso(now),
      endedAt: iso(now),
      version: states.created.version + 1,
      revision: 3,
    });
  });
});

describe('deleted', () => {
  it('keeps the end that the task had', () => {
    const task = next(decide(states.completed, events.deleted, now));

    expect(task).toMatchObject({ status: 'deleted', endedAt: iso(endedAt), startedAt: iso(beganAt) });
  });
});

describe('settled', () => {
  it('takes the settled task off the schedule, and changes nothing that a reader sees', () => {
    const { dueAt: _dueAt, ...rest } = states.completed;

    const decision = decide(states.completed, { type: 'settled', status: 'completed' }, now);

    expect(next(decision)).toEqual({ ...rest, version: 4 });
  });

  it('leaves the debt of a task that was deleted since, so that a broken-off deletion is finished', () => {
    const deleted = next(decide(states.completed, events.deleted, now));

    const decision = decide(deleted, { type: 'settled', status: 'completed' }, now);

    expect(decision).toEqual({ outcome: 'refused', reason: 'ended' });
  });

  it('writes nothing if the task is not on the schedule', () => {
    const { dueAt: _dueAt, ...settled } = states.failed;

    expect(decide(settled, { type: 'settled', status: 'failed' }, now).outcome).toBe('refused');
  });
});
