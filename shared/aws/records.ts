import { isJobEventType, type Job, type JobEventType } from '../jobs/job.ts';
import { changeRecord, type RecordAccess } from '../lifecycle/change-record.ts';
import type { LifecycleRecords } from '../lifecycle/lifecycle.ts';
import type { Task } from '../tasks/task.ts';
import { type Decision, taskOf } from '../tasks/transitions.ts';
import type { DeliveryRef } from '../webhooks/deliveries.ts';
import {
  backOff,
  batchGet,
  batchWrite,
  get,
  type Item,
  itemExists,
  type Key,
  put,
  putIf,
  query,
  remove,
  update,
} from './table.ts';
import { indexPartitions, partitions, tableSchema } from './table-schema.ts';

/** Shards of the index of overdue records: one partition takes 1,000 writes a second, and every task writes it. */
const dueShards = 8;

const taskKey = (id: string): Key => ({ pk: `${partitions.task}${id}`, sk: 'task' });
const jobKey = (id: string): Key => ({ pk: `${partitions.job}${id}`, sk: 'job' });

/** The records of tasks and jobs in DynamoDB: each change is one conditional write on one item. */
export const records = {
  task: (id: string) => read(taskKey(id), toTask),

  async tasks(ids: string[]): Promise<Task[]> {
    return (await batchGet(ids.map(taskKey))).map(toTask);
  },

  createTasks: (tasks: Task[]) => batchWrite(tasks.map(fromTask)),

  changeTask: (id: string, decision: (task: Task) => Decision, known?: Task) =>
    changeRecord(access(taskKey(id), toTask, fromTask), decision, taskOf, known),

  addDependent: (id: string, dependent: string) => alterSet(taskKey(id), 'ADD', 'dependents', dependent, toTask),

  removeWait: (id: string, input: string) => alterSet(taskKey(id), 'DELETE', 'waitsFor', input, toTask),

  setDue,

  deleteTask: (id: string) => remove(taskKey(id)),

  job: (id: string) => read(jobKey(id), toJob),

  async jobs(ids: string[]): Promise<Job[]> {
    return (await batchGet(ids.map(jobKey))).map(toJob);
  },

  createJob: (job: Job) => put(fromJob(job)),

  async changeJob(id: string, decision: (job: Job) => Job | undefined, known?: Job): Promise<Job | undefined> {
    const made = await changeRecord(
      access(jobKey(id), toJob, fromJob),
      (job) => ({ job: decision(job) }),
      (result) => result.job,
      known,
    );
    return 'job' in made ? made.job : undefined;
  },

  closeTask: (id: string, task: string) => alterSet(jobKey(id), 'DELETE', 'open', task, toJob),

  markPublished,

  deleteJob: (id: string) => remove(jobKey(id)),

  /** Returns up to `limit` tasks, jobs and deliveries that are due at that time, the longest overdue first. */
  async due(now: number, limit: number): Promise<{ tasks: Task[]; jobs: Job[]; deliveries: DeliveryRef[] }> {
    const found = await Promise.all(
      Array.from({ length: dueShards }, (_, shard) =>
        query({
          index: tableSchema.byDue.name,
          keys: 'dueShard = :shard AND dueAt <= :now',
          values: { ':shard': `${indexPartitions.due}${shard}`, ':now': now },
          limit: Math.ceil(limit / dueShards),
        }),
      ),
    );
    const items = await batchGet(found.flat().map(({ pk, sk }) => ({ pk: String(pk), sk: String(sk) })));
    return {
      tasks: items.filter((item) => item.sk === 'task').map(toTask),
      jobs: items.filter((item) => item.sk === 'job').map(toJob),
      deliveries: items
        .filter((item) => String(item.sk).startsWith('delivery#'))
        .map(({ webhook, id }) => ({ webhook: String(webhook), delivery: String(id) })),
    };
  },
} satisfies LifecycleRecords & Record<string, unknown>;

async function read<T>(key: Key, parse: (item: Item) => T): Promise<T | undefined> {
  const item = await get(key);
  return item && parse(item);
}

function access<T>(key: Key, parse: (item: Item) => T, format: (record: T) => Key & Item): RecordAccess<T> {
  return {
    read: () => read(key, parse),
    replace: (record, version) => putIf(format(record), 'version = :version', { ':version': version }),
    backOff,
  };
}

async function alterSet<T>(
  key: Key,
  verb: 'ADD' | 'DELETE',
  attribute: string,
  member: string,
  parse: (item: Item) => T,
): Promise<T | undefined> {
  const expression = verb === 'ADD' ? 'ADD version :one, #set :member' : 'ADD version :one DELETE #set :member';
  const item = await update(key, expression, {
    condition: itemExists,
    names: { '#set': attribute },
    values: { ':one': 1, ':member': new Set([member]) },
    returns: 'ALL_NEW',
  });
  return item && parse(item);
}

async function setDue(id: string, dueAt: number | undefined): Promise<void> {
  const values = { ':one': 1, ...(dueAt === undefined ? {} : { ':due': dueAt, ':shard': shardOf(id) }) };
  const change = dueAt === undefined ? 'REMOVE dueAt, dueShard' : 'SET dueAt = :due, dueShard = :shard';
  await update(taskKey(id), `ADD version :one ${change}`, { condition: itemExists, values });
}

async function markPublished(id: string, events: JobEventType[]): Promise<void> {
  const key = jobKey(id);
  const names = { '#status': 'status' };
  const values = { ':one': 1, ':deleted': 'deleted' };
  // A deleted job stays due until its record is removed, and so does one that has further events by now.
  const isLive = `${itemExists} AND #status <> :deleted`;
  if (events.length > 0) {
    const published = { ':events': new Set(events) };
    const isDone = await update(key, 'ADD version :one REMOVE pendingEvents, dueAt, dueShard', {
      condition: `${isLive} AND pendingEvents = :events`,
      names,
      values: { ...values, ...published },
    });
    if (isDone) return;
    await update(key, 'ADD version :one DELETE pendingEvents :events', {
      condition: itemExists,
      values: { ':one': 1, ...published },
    });
  }
  const condition = `${isLive} AND attribute_not_exists(pendingEvents)`;
  await update(key, 'ADD version :one REMOVE dueAt, dueShard', { condition, names, values });
}

/** Returns the partition of the index of what is due that a record with this id belongs to. */
export function shardOf(id: string): string {
  return `${indexPartitions.due}${Number.parseInt(id.slice(-2), 16) % dueShards}`;
}

function fromTask(task: Task): Key & Item {
  return {
    ...taskKey(task.id),
    owner: `${indexPartitions.ownedTask}${task.user}`,
    ...bookkeeping(task),
    ...task,
    waitsFor: setOf(task.waitsFor),
    dependents: setOf(task.dependents),
  };
}

function fromJob(job: Job): Key & Item {
  return {
    ...jobKey(job.id),
    owner: `${indexPartitions.ownedJob}${job.user}`,
    ...bookkeeping(job),
    ...job,
    open: setOf(job.open),
    pendingEvents: setOf(job.pendingEvents ?? []),
  };
}

function bookkeeping(record: { id: string; expiresAt: string; dueAt?: number }) {
  return {
    ttl: Math.ceil(Date.parse(record.expiresAt) / 1000),
    dueShard: record.dueAt === undefined ? undefined : shardOf(record.id),
  };
}

// DynamoDB has no empty set: an attribute that is not there is one.
function setOf(members: string[]): Set<string> | undefined {
  return members.length > 0 ? new Set(members) : undefined;
}

function membersOf(set: unknown): string[] {
  return set instanceof Set ? [...set] : [];
}

function toTask(record: Item): Task {
  const { pk: _pk, sk: _sk, owner: _owner, ttl: _ttl, dueShard: _shard, ...task } = record;
  return {
    ...(task as unknown as Task),
    waitsFor: membersOf(record.waitsFor),
    dependents: membersOf(record.dependents),
  };
}

function toJob(record: Item): Job {
  const { pk: _pk, sk: _sk, owner: _owner, ttl: _ttl, dueShard: _shard, ...job } = record;
  return {
    ...(job as unknown as Job),
    open: membersOf(record.open),
    pendingEvents: membersOf(record.pendingEvents).filter(isJobEventType),
  };
}
