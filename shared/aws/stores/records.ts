import { randomBytes } from 'node:crypto';
import { groupOfId } from '../../ids.ts';
import { isJobEventType, type Job, type JobEventType } from '../../jobs/job.ts';
import { changeRecord, type RecordAccess, type Replacement } from '../../lifecycle/change-record.ts';
import type { Group, LifecycleRecords, WorkerAccount } from '../../lifecycle/dependencies.ts';
import { hasEnded, isTask, type Task } from '../../tasks/task.ts';
import { type Decision, taskOf } from '../../tasks/transitions.ts';
import type { DeliveryRef } from '../../webhooks/deliveries.ts';
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
  queryPartition,
  remove,
  storedIn,
  type TransactionWrite,
  transact,
  update,
} from '../table.ts';
import { indexPartitions, partitions, tableSchema } from '../table-schema.ts';
import { noSubscribersAt, rememberNoSubscribers, rememberSubscribers, subscribersKey } from './account-subscribers.ts';
import { announceDeletion } from './counted-hours.ts';
import { longRunsKey, toLongRuns } from './long-runs.ts';
import { chargeWrites } from './minutes.ts';

/**
 * Shards of the due index. A partition takes 1,000 writes a second and a job writes twice, so these serve 8,000 jobs a
 * second. The sweep reads all of them every minute.
 */
const dueShards = 16;
/** Groups up to this size are read whole: one query is cheaper than two reads. */
const maxSmallGroup = 25;
const jobSortKey = 'job';
const taskPrefix = 'task#';

// A job and its tasks share a partition key, derived from each of their ids, so that one query reads them all.
const groupKey = (id: string) => `${partitions.group}${groupOfId(id)}`;
const taskKey = (id: string): Key => ({ pk: groupKey(id), sk: `${taskPrefix}${id}` });
const jobKey = (id: string): Key => ({ pk: groupKey(id), sk: jobSortKey });

/** The records of tasks and jobs. Each change is one conditional write, in a transaction with its charges, if any. */
export const records = {
  task: (id: string) => read(taskKey(id), toTask),

  async tasks(ids: string[]): Promise<Task[]> {
    return (await batchGet(ids.map(taskKey))).map(toTask);
  },

  async group(id: string): Promise<Group> {
    return toGroup(await queryPartition(groupKey(id)));
  },

  async groupPart(id: string, tasks: string[], account?: WorkerAccount): Promise<Group> {
    const ofAccount = account ? [subscribersKey(account.user), longRunsKey(account.user, account.engine)] : [];
    const items = await batchGet([jobKey(id), ...tasks.map(taskKey), ...ofAccount]);
    if (!account) return toGroup(items);
    rememberSubscribers(account.user, items.find(isKind('accountSubscribers')));
    return { ...toGroup(items), longRuns: toLongRuns(items.find(isKind('longRuns'))) };
  },

  async smallGroup(id: string): Promise<Group | undefined> {
    const items = await query({ keys: 'pk = :pk', values: { ':pk': groupKey(id) }, limit: maxSmallGroup + 1 });
    const { user, noSubscribersAt: seen } = items.find(isJobItem) ?? {};
    if (typeof user === 'string' && typeof seen === 'number') rememberNoSubscribers(user, seen);
    return items.length > maxSmallGroup ? undefined : toGroup(items);
  },

  createTasks: (tasks: Task[]) => batchWrite([...tasks.map(fromTask), ...openSets(tasks)]),

  changeTask: (id: string, decision: (task: Task) => Decision, known?: Task) =>
    changeRecord(access(taskKey(id), toTask, fromTask), decision, taskOf, known),

  addDependent: (id: string, dependent: string) => alterSet(taskKey(id), 'ADD', 'dependents', dependent, toTask),

  async deleteTask(task: Task): Promise<void> {
    // Lists count the tasks of a job by its record.
    if (task.job !== undefined) {
      await announceDeletion(task.user, task.id);
      await alterSet(jobKey(task.job), 'ADD', 'gone', `${task.operation} ${task.id}`, toJob);
    }
    await remove(taskKey(task.id));
  },

  job: (id: string) => read(jobKey(id), toJob),

  async jobs(ids: string[]): Promise<Job[]> {
    return (await batchGet(ids.map(jobKey))).map(toJob);
  },

  /** Creates a job, with the time its account was last seen without subscribers, which saves a read. */
  createJob: (job: Job) => put({ ...fromJob(job), noSubscribersAt: noSubscribersAt(job.user) }),

  async changeJob(id: string, decision: (job: Job) => Job | undefined, known?: Job): Promise<Job | undefined> {
    const made = await changeRecord(
      access(jobKey(id), toJob, fromJob),
      (job) => ({ job: decision(job) }),
      (result) => result.job,
      known,
    );
    return 'job' in made ? made.job : undefined;
  },

  async closeTask({ id, openIn }: Task): Promise<Job | undefined> {
    if (openIn !== undefined) {
      const left = await alterSet({ pk: groupKey(id), sk: openIn }, 'DELETE', 'open', id, ({ open }) =>
        membersOf(open),
      );
      if (left && left.length > 0) return undefined;
    }
    return alterSet(jobKey(id), 'DELETE', 'open', openIn ?? id, toJob);
  },

  markPublished,

  reschedule,

  // The items of its open set expire with it.
  deleteJob: (id: string) => remove(jobKey(id)),

  /** Returns up to `limit` groups and deliveries that are due, the longest overdue first. */
  async due(now: number, limit: number): Promise<{ heads: (Task | Job)[]; deliveries: DeliveryRef[] }> {
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
      heads: items.flatMap((item): (Task | Job)[] =>
        isJobItem(item) ? [toJob(item)] : isTaskItem(item) ? [toTask(item)] : [],
      ),
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

function access<T extends Task | Job>(
  key: Key,
  parse: (item: Item) => T,
  format: (record: T) => Key & Item,
): RecordAccess<T> {
  return {
    read: () => read(key, parse),
    async replace(record, previous) {
      if (record.status === 'deleted' && isHead(record)) await announceDeletion(record.user, record.id);
      const charged = isTask(record) && isTask(previous) ? chargeWrites(previous, record) : [];
      return replaceIf(format(record), previous.version, charged);
    },
    backOff,
  };
}

function isHead(record: Task | Job): boolean {
  return !isTask(record) || record.job === undefined;
}

/**
 * Writes a record, with its charges, if the stored one has a version or is the result of this same write: the SDK
 * repeats a request whose response was lost, and must not mistake its own effect for that of another writer.
 */
async function replaceIf(item: Key & Item, version: number, charges: TransactionWrite[]): Promise<Replacement> {
  const writer = randomBytes(6).toString('base64url');
  const write = {
    item: { ...item, writer },
    condition: 'version = :version OR (version = :next AND writer = :writer)',
    values: { ':version': version, ':next': item.version, ':writer': writer },
  };
  if (charges.length === 0) return (await putIf(write.item, write.condition, write.values)) ? 'written' : 'stale';
  const failed = await transact([write, ...charges]);
  if (failed.length === 0) return 'written';
  return failed.includes(0) ? 'stale' : 'overdrawn';
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

async function reschedule(head: Task | Job, dueAt: number | undefined, now: number): Promise<void> {
  const key = isTask(head) ? taskKey(head.id) : jobKey(head.id);
  const values = { ':one': 1, ':now': now };
  if (dueAt === undefined) {
    // Changes since the group was read may have left work pending.
    await update(key, 'ADD version :one SET lookedAt = :now REMOVE dueAt, dueShard, failedRecoveries', {
      condition: 'version = :version',
      values: { ...values, ':version': head.version },
    });
    return;
  }
  await update(key, 'ADD version :one SET lookedAt = :now, dueAt = :due REMOVE failedRecoveries', {
    condition: 'attribute_exists(dueAt)',
    values: { ...values, ':due': dueAt },
  });
}

async function markPublished({ id, status }: Job, events: JobEventType[]): Promise<void> {
  const key = jobKey(id);
  const names = { '#status': 'status' };
  const values = { ':one': 1, ':events': new Set(events) };
  const forget = 'ADD version :one REMOVE pendingEvents, dueAt, dueShard';
  // Only a completed job has no work pending: tasks of a failed one may still be running.
  const isCompleted = '#status = :completed';
  const completed = { ':completed': 'completed' };
  if (status === 'completed') {
    const condition = `${isCompleted} AND pendingEvents = :events`;
    if (await update(key, forget, { condition, names, values: { ...values, ...completed } })) return;
  }
  const expression = 'ADD version :one DELETE pendingEvents :events';
  const latest = await update(key, expression, { condition: itemExists, values, returns: 'ALL_NEW' });
  if (latest?.status !== 'completed' || latest.pendingEvents !== undefined) return;
  const condition = `${isCompleted} AND attribute_not_exists(pendingEvents)`;
  await update(key, forget, { condition, names, values: { ':one': 1, ...completed } });
}

/** Returns the partition of the due index for a record id. */
export function shardOf(id: string): string {
  return `${indexPartitions.due}${Number.parseInt(id.slice(-2), 16) % dueShards}`;
}

function fromTask(task: Task): Key & Item {
  return {
    ...taskKey(task.id),
    ...(task.job === undefined
      ? {
          owner: `${indexPartitions.ownedTask}${task.user}`,
          operations: { [task.operation]: 1 },
          endStatus: hasEnded(task) ? task.status : undefined,
        }
      : {}),
    ...bookkeeping(task),
    ...task,
    dependents: setOf(task.dependents),
  };
}

function fromJob(job: Job): Key & Item {
  return {
    ...jobKey(job.id),
    owner: `${indexPartitions.ownedJob}${job.user}`,
    endStatus: job.status === 'created' || job.status === 'processing' ? undefined : job.status,
    ...bookkeeping(job),
    ...job,
    open: setOf(job.open),
    gone: setOf(job.gone ?? []),
    pendingEvents: setOf(job.pendingEvents ?? []),
  };
}

function bookkeeping(record: { id: string; expiresAt: string; dueAt?: number }) {
  return {
    ttl: Math.ceil(Date.parse(record.expiresAt) / 1000),
    dueShard: record.dueAt === undefined ? undefined : shardOf(record.id),
  };
}

// DynamoDB has no empty sets: an empty set is an absent attribute.
function setOf(members: string[]): Set<string> | undefined {
  return members.length > 0 ? new Set(members) : undefined;
}

function membersOf(set: unknown): string[] {
  return set instanceof Set ? [...set] : [];
}

/** Returns the attributes of a record without those of the table and its indexes. */
function recordIn<T>(item: Item): T {
  const { owner: _owner, endStatus: _end, writer: _writer, noSubscribersAt: _seen, ...own } = item;
  return storedIn(own);
}

function toTask({ operations: _operations, ...item }: Item): Task {
  return { ...recordIn<Task>(item), dependents: membersOf(item.dependents) };
}

function toJob(item: Item): Job {
  return {
    ...recordIn<Job>(item),
    open: membersOf(item.open),
    gone: membersOf(item.gone),
    pendingEvents: membersOf(item.pendingEvents).filter(isJobEventType),
  };
}

function isKind(kind: keyof typeof partitions): (item: Item) => boolean {
  return ({ pk }) => String(pk).startsWith(partitions[kind]);
}

function isJobItem({ sk }: Item): boolean {
  return sk === jobSortKey;
}

function isTaskItem({ sk }: Item): boolean {
  return String(sk).startsWith(taskPrefix);
}

function toGroup(items: Item[]): Group {
  const [job] = items.filter(isJobItem);
  return { ...(job ? { job: toJob(job) } : {}), tasks: items.filter(isTaskItem).map(toTask) };
}

/** Returns the items that hold a large job's open set. */
function openSets(tasks: Task[]): (Key & Item)[] {
  const kept = tasks.filter(({ openIn }) => openIn !== undefined);
  return Object.entries(Object.groupBy(kept, ({ openIn = '' }) => openIn)).flatMap(([sk, part = []]) =>
    part.slice(0, 1).map((first) => ({
      pk: groupKey(first.id),
      sk,
      open: new Set(part.map(({ id }) => id)),
      version: 1,
      ttl: bookkeeping(first).ttl,
    })),
  );
}
