import { groupOfId } from '../../../shared/ids.ts';
import type { Job } from '../../../shared/jobs/job.ts';
import { changeRecord, type RecordAccess } from '../../../shared/lifecycle/change-record.ts';
import type {
  Group,
  Change as LifecycleChange,
  LifecycleDependencies,
  LifecycleRecords,
} from '../../../shared/lifecycle/dependencies.ts';
import { createLifecycle } from '../../../shared/lifecycle/lifecycle.ts';
import { chargesOf, usageOf } from '../../../shared/tasks/charges.ts';
import type { LongRuns } from '../../../shared/tasks/long-runs.ts';
import { isTask, type StoredFile, type Task } from '../../../shared/tasks/task.ts';
import { taskOf } from '../../../shared/tasks/transitions.ts';

/** A change of one record: `before` is absent when it was made, `after` when it was removed. */
export interface Change<T> {
  before: T | undefined;
  after: T | undefined;
}

/** What every call into the records, queues and files passes before it takes effect; a test stops or breaks it there. */
export type Gate = (call: string) => Promise<void>;

export interface Observer {
  taskChanged?(change: Change<Task>): void;
  jobChanged?(change: Change<Job>): void;
  enqueued?(taskId: string): void;
}

const open: Gate = () => Promise.resolve();

/**
 * The state that survives every crash: records, queue and files. Records are never changed in place, so what a reader
 * holds stays as it was when read, as with a real table; each write is atomic on one record, and none is on two.
 */
export class MemoryService {
  readonly tasks = new Map<string, Task>();
  readonly jobs = new Map<string, Job>();
  /** Messages in the order sent; the same task may be there many times. */
  readonly queue: string[] = [];
  /** What was published, in the order sent. */
  readonly published: LifecycleChange[] = [];
  readonly filesDeletedOf: string[] = [];
  readonly partsAbortedOf: string[] = [];
  /** Tasks whose secrets are stored. */
  readonly secretsOf = new Set<string>();
  /** What is taken of the account's engine time, by months and keys. */
  readonly charged = new Map<string, number>();
  /** The usage of the account, of all days. */
  usedMs = 0;
  now: number;
  /** Whether there are subscribers to more than the ends of jobs. */
  hasSubscribers = true;
  /** Whether workers perform the dependents of the tasks that they have completed. */
  performs = false;
  /** The long runs of the account. */
  longRuns: LongRuns = {};
  route: LifecycleDependencies['route'] = () => ({ engine: 'transfer' });
  /** The parts of large jobs' open sets. */
  readonly #parts = new Map<string, Set<string>>();
  readonly #observer: Observer;

  constructor(now: number, observer: Observer = {}) {
    this.now = now;
    this.#observer = observer;
  }

  /** Makes the lifecycle of one process, whose every call passes the gate. */
  lifecycle(gate: Gate = open, { isWorker = false }: { isWorker?: boolean } = {}) {
    return createLifecycle({
      records: this.records(gate),
      enqueue: async (engine, { id }) => {
        await gate(`enqueue ${engine}`);
        this.#observer.enqueued?.(id);
        this.queue.push(id);
      },
      deleteFiles: async ({ id }) => {
        await gate('deleteFiles');
        this.filesDeletedOf.push(id);
      },
      abortParts: async ({ id }) => {
        await gate('abortParts');
        this.partsAbortedOf.push(id);
      },
      deleteSecrets: async ({ id }) => {
        await gate('deleteSecrets');
        this.secretsOf.delete(id);
      },
      route: (task, inputs) => this.route(task, inputs),
      publish: async (changes) => {
        await gate('publish');
        const received = changes.filter(
          (change) => this.hasSubscribers || ('job' in change && change.events.includes('ended')),
        );
        this.published.push(...received);
        return received.length > 0;
      },
      hasSubscribers: async () => this.hasSubscribers,
      now: () => this.now,
      perform: async (task) => {
        if (!isWorker || !this.performs || task.dependsOn.length === 0) return undefined;
        await gate('perform');
        return [fileOf(task.id, 0)];
      },
    });
  }

  /** Makes the records as one process sees them. */
  records(gate: Gate = open): LifecycleRecords {
    return {
      task: async (id) => {
        await gate('task');
        return this.tasks.get(id);
      },
      tasks: async (ids) => {
        await gate('tasks');
        return [...new Set(ids)].flatMap((id) => this.tasks.get(id) ?? []);
      },
      group: async (id) => {
        await gate('group');
        return this.#groupOf(
          id,
          [...this.tasks.values()].filter((task) => groupOfId(task.id) === groupOfId(id)),
        );
      },
      groupPart: async (id, ids, account) => {
        await gate('groupPart');
        const tasks = [...new Set(ids)].flatMap((one) => this.tasks.get(one) ?? []);
        return { ...this.#groupOf(id, tasks), ...(account ? { longRuns: this.longRuns } : {}) };
      },
      createTasks: async (tasks) => {
        // A batch write is many writes: it may break off between any two.
        for (const task of tasks) {
          await gate('createTasks');
          this.putTask(task);
          if (task.openIn !== undefined) this.#part(task).add(task.id);
        }
      },
      changeTask: (id, decision, known) => {
        const access = accessTo(
          gate,
          'changeTask',
          () => this.tasks.get(id),
          (task, before) => this.#charge(before, task) && this.putTask(task),
        );
        return changeRecord(access, decision, taskOf, known);
      },
      addDependent: async (id, dependent) => {
        await gate('addDependent');
        return this.#alterTask(id, (task) => ({ dependents: [...new Set([...task.dependents, dependent])] }));
      },
      deleteTask: async (task) => {
        if (task.job !== undefined) {
          await gate('deleteTask of job');
          const job = this.jobs.get(task.job);
          const gone = `${task.operation} ${task.id}`;
          if (job) this.putJob({ ...job, gone: [...new Set([...(job.gone ?? []), gone])], version: job.version + 1 });
        }
        await gate('deleteTask');
        const before = this.tasks.get(task.id);
        this.tasks.delete(task.id);
        if (before) this.#observer.taskChanged?.({ before, after: undefined });
      },
      job: async (id) => {
        await gate('job');
        return this.jobs.get(id);
      },
      createJob: async (job) => {
        await gate('createJob');
        this.putJob(job);
      },
      changeJob: async (id, decision, known) => {
        const access = accessTo(
          gate,
          'changeJob',
          () => this.jobs.get(id),
          (job) => this.putJob(job),
        );
        const made = await changeRecord(
          access,
          (job) => ({ job: decision(job) }),
          ({ job }) => job,
          known,
        );
        return 'job' in made ? made.job : undefined;
      },
      closeTask: async (task) => {
        if (task.openIn !== undefined) {
          await gate('closeTask in part');
          const part = this.#part(task);
          part.delete(task.id);
          if (part.size > 0) return undefined;
        }
        await gate('closeTask');
        const job = this.jobs.get(task.job ?? '');
        if (!job) return undefined;
        const closed = task.openIn ?? task.id;
        return this.putJob({ ...job, open: job.open.filter((other) => other !== closed), version: job.version + 1 });
      },
      markPublished: async ({ id, status }, events) => {
        const update = async (condition: (job: Job) => boolean, change: (job: Job) => Job) => {
          await gate('markPublished');
          const job = this.jobs.get(id);
          return job && condition(job) ? this.putJob({ ...change(job), version: job.version + 1 }) : undefined;
        };
        const isCompleted = (job: Job) => job.status === 'completed';
        const left = ({ pendingEvents = [] }: Job) => pendingEvents.filter((event) => !events.includes(event));
        const isAll = (job: Job) => left(job).length === 0 && job.pendingEvents?.length === events.length;
        const forget = ({ pendingEvents: _pending, dueAt: _dueAt, ...rest }: Job): Job => rest;
        if (status === 'completed' && (await update((job) => isCompleted(job) && isAll(job), forget))) return;
        const latest = await update(
          () => true,
          (job) => ({ ...job, pendingEvents: left(job) }),
        );
        if (latest && isCompleted(latest) && !latest.pendingEvents?.length)
          await update((job) => isCompleted(job) && !job.pendingEvents?.length, forget);
      },
      reschedule: async (due, dueAt, now) => {
        await gate('reschedule');
        const record = this.tasks.get(due.id) ?? this.jobs.get(due.id);
        if (!record || (dueAt === undefined ? record.version !== due.version : record.dueAt === undefined)) return;
        const looked = <T extends Task | Job>({ dueAt: _dueAt, failedRecoveries: _failed, ...rest }: T) => ({
          ...rest,
          lookedAt: now,
          ...(dueAt === undefined ? {} : { dueAt }),
          version: record.version + 1,
        });
        if (isTask(record)) this.putTask(looked(record));
        else this.putJob(looked(record));
      },
      deleteJob: async (id) => {
        await gate('deleteJob');
        const before = this.jobs.get(id);
        this.jobs.delete(id);
        if (before) this.#observer.jobChanged?.({ before, after: undefined });
      },
    };
  }

  /** Lists what is due now, as the sweep reads it. */
  due(): (Task | Job)[] {
    const isDue = ({ dueAt }: { dueAt?: number }) => dueAt !== undefined && dueAt <= this.now;
    return [...this.tasks.values(), ...this.jobs.values()].filter(isDue);
  }

  /** Does what the sweep does with everything that is due now, and returns what it gave up. */
  async sweepAndCount(gate: Gate = open): Promise<string[]> {
    const lifecycle = this.lifecycle(gate);
    const givenUp: string[] = [];
    for (const due of this.due()) if ((await lifecycle.recover(due)).isGivenUp) givenUp.push(due.id);
    return givenUp;
  }

  /** Does what the sweep does with everything that is due now, and throws the first error. */
  async sweep(gate: Gate = open): Promise<void> {
    const lifecycle = this.lifecycle(gate);
    for (const due of this.due()) {
      const { errors } = await lifecycle.recover(due);
      if (errors.length > 0) throw errors[0];
    }
  }

  /** Charges a change of a task to its account, all or nothing. Returns false if that exceeds an allowance. */
  #charge(before: Task, after: Task): boolean {
    const charges = chargesOf(before, after).map((charge) => ({
      ...charge,
      name: `${charge.month} ${charge.key ?? ''}`,
    }));
    const sumOf = (name: string) => this.charged.get(name) ?? 0;
    if (charges.some(({ name, ms, max }) => ms > 0 && sumOf(name) + ms > max)) return false;
    for (const { name, ms } of charges) this.charged.set(name, sumOf(name) + ms);
    this.usedMs += usageOf(before, after)?.ms ?? 0;
    return true;
  }

  putTask(task: Task): Task {
    const before = this.tasks.get(task.id);
    this.tasks.set(task.id, task);
    this.#observer.taskChanged?.({ before, after: task });
    return task;
  }

  putJob(job: Job): Job {
    const before = this.jobs.get(job.id);
    this.jobs.set(job.id, job);
    this.#observer.jobChanged?.({ before, after: job });
    return job;
  }

  #groupOf(id: string, tasks: Task[]): Group {
    const job = this.jobs.get(groupOfId(id));
    return { ...(job ? { job } : {}), tasks };
  }

  /** Returns the part of its job's open set that holds a task. */
  #part({ job, openIn }: Task): Set<string> {
    const name = `${job} ${openIn}`;
    const part = this.#parts.get(name) ?? new Set();
    this.#parts.set(name, part);
    return part;
  }

  #alterTask(id: string, change: (task: Task) => Partial<Task>): Task | undefined {
    const task = this.tasks.get(id);
    return task && this.putTask({ ...task, ...change(task), version: task.version + 1 });
  }
}

/** Makes the access to one record as a table gives it: a read and a conditional write are two calls. */
function accessTo<T extends { version: number }>(
  gate: Gate,
  call: string,
  get: () => T | undefined,
  put: (record: T, before: T) => T | false,
): RecordAccess<T> {
  return {
    read: async () => {
      await gate(`${call} read`);
      return get();
    },
    replace: async (record, { version }) => {
      await gate(call);
      const stored = get();
      if (stored?.version !== version) return 'stale';
      return put(record, stored) ? 'written' : 'overdrawn';
    },
    backOff: () => Promise.resolve(),
  };
}

/** The end of a process between two of its calls. */
export class Crash extends Error {
  override name = 'Crash';
}

/** A call that failed although its process lives on; its effect may have happened or not. */
export class CallFailed extends Error {
  override name = 'CallFailed';
}

/** Lets a number of calls through. After that the process is dead and makes no further call. */
export function crashAfter(calls: number): Gate {
  let left = calls;
  return async () => {
    if (left <= 0) throw new Crash();
    left -= 1;
  };
}

/** Counts the calls that pass. */
export function countCalls(): { gate: Gate; calls: string[] } {
  const calls: string[] = [];
  return {
    calls,
    gate: async (call) => {
      calls.push(call);
    },
  };
}

/** Breaks the n-th call once, before it takes effect. */
export function failOnce(call: number): Gate {
  let seen = 0;
  return async () => {
    if (seen++ === call) throw new CallFailed();
  };
}

interface PendingCall {
  process: Process;
  go: () => void;
  stop: (error: Error) => void;
}

export interface Process {
  name: string;
  /** Calls left until it dies, or undefined when it lives. */
  crashIn: number | undefined;
  /** Calls left until one fails although the process lives on, or undefined when none does. */
  failIn: number | undefined;
  dead: boolean;
}

export interface Faults {
  crashIn?: number | undefined;
  failIn?: number | undefined;
}

/**
 * Interleaves processes at their calls: a call waits until the chooser picks it. Nothing runs on real time, so a
 * history is the same each time it is run with the same choices.
 */
export class Interleaving {
  readonly #pending: PendingCall[] = [];
  #alive = 0;
  #failure: unknown;

  /** Starts a process; its calls then wait to be chosen. */
  start(name: string, work: (gate: Gate) => Promise<unknown>, faults: Faults = {}): Process {
    const process: Process = { name, crashIn: faults.crashIn, failIn: faults.failIn, dead: false };
    this.#alive += 1;
    work(() => this.#pass(process))
      .catch((error: unknown) => {
        if (!(error instanceof Crash || error instanceof CallFailed)) this.#failure ??= error;
      })
      .finally(() => {
        process.dead = true;
        this.#alive -= 1;
      });
    return process;
  }

  #pass(process: Process): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#pending.push({ process, go: resolve, stop: reject });
    });
  }

  get waiting(): number {
    return this.#pending.length;
  }

  get alive(): number {
    return this.#alive;
  }

  /** Lets what can run without a further call do so; then every living process stands at a call. */
  async settle(): Promise<void> {
    // A process needs a few turns from one call to its next; all are microtasks, so counting turns is enough.
    let quiet = 0;
    for (let seen = -1; quiet < 20; ) {
      await undefined;
      const now = this.#pending.length * 1000 + this.#alive;
      quiet = now === seen ? quiet + 1 : 0;
      seen = now;
    }
    if (this.#failure) throw this.#failure;
  }

  /** Lets the chosen call happen, or ends its process there. */
  step(choice: number): void {
    const [call] = this.#pending.splice(choice % this.#pending.length, 1);
    if (!call) return;
    const { process } = call;
    if (process.crashIn !== undefined && process.crashIn-- <= 0) process.dead = true;
    if (process.dead) call.stop(new Crash());
    else if (process.failIn !== undefined && process.failIn-- === 0) call.stop(new CallFailed());
    else call.go();
  }
}

/** Makes a stored file of a run. */
export function fileOf(taskId: string, attempt: number): StoredFile {
  return {
    key: `files/${taskId}/${attempt}/0`,
    name: 'output.png',
    size: 10,
    format: 'png',
    mediaType: 'image/png',
    token: `token-${attempt}`,
  };
}
