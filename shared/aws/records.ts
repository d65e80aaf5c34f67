import {
  DeleteItemCommand,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { isJobNews, type Job, type JobNews } from '../jobs/job.ts';
import type { LifecycleRecords } from '../lifecycle/lifecycle.ts';
import type { Task } from '../tasks/task.ts';
import type { Decision } from '../tasks/transitions.ts';
import type { DeliveryRef } from '../webhooks/deliveries.ts';
import {
  backOff,
  dueShards,
  fromItem,
  type Item,
  isConditionFailure,
  readAll,
  table,
  toItem,
  writeAll,
} from './table.ts';
import { tableSchema } from './table-schema.ts';

/** A write loses to a concurrent one at most this often before it gives up; contention on one record is a few writers. */
const mostTries = 50;

const taskKey = (id: string): Item => ({ pk: { S: `task#${id}` }, sk: { S: 'task' } });
const jobKey = (id: string): Item => ({ pk: { S: `job#${id}` }, sk: { S: 'job' } });

/** The records of tasks and jobs in DynamoDB: each change is one conditional write on one item. */
export const records = {
  task: (id: string) => read(taskKey(id), toTask),

  async tasks(ids: string[]): Promise<Task[]> {
    const items = await readAll([...new Set(ids)].map(taskKey), true);
    return items.map((item) => toTask(fromItem(item)));
  },

  createTasks: (tasks: Task[]) => writeAll(tasks.map(fromTask)),

  changeTask: (id: string, decision: (task: Task) => Decision, known?: Task) =>
    change(
      taskKey(id),
      toTask,
      fromTask,
      decision,
      (made) => (made.outcome === 'changed' ? made.task : undefined),
      known,
    ),

  addDependent: (id: string, dependent: string) => alterSet(taskKey(id), 'ADD', 'dependents', dependent, toTask),

  removeWait: (id: string, input: string) => alterSet(taskKey(id), 'DELETE', 'waitsFor', input, toTask),

  setDue: (id: string, dueAt: number | undefined) => setDue(taskKey(id), id, dueAt),

  deleteTask: (id: string) => remove(taskKey(id)),

  job: (id: string) => read(jobKey(id), toJob),

  async jobs(ids: string[]): Promise<Job[]> {
    const items = await readAll([...new Set(ids)].map(jobKey), true);
    return items.map((item) => toJob(fromItem(item)));
  },

  async createJob(job: Job): Promise<void> {
    const { client, name } = table();
    await client.send(new PutItemCommand({ TableName: name, Item: fromJob(job) }));
  },

  async changeJob(id: string, decision: (job: Job) => Job | undefined, known?: Job): Promise<Job | undefined> {
    const made = await change(
      jobKey(id),
      toJob,
      fromJob,
      (job) => ({ job: decision(job) }),
      (result) => result.job,
      known,
    );
    return 'job' in made ? made.job : undefined;
  },

  closeTask: (id: string, task: string) => alterSet(jobKey(id), 'DELETE', 'open', task, toJob),

  told,

  deleteJob: (id: string) => remove(jobKey(id)),

  /** Returns up to `limit` tasks, jobs and deliveries that are due at that time, the longest overdue first. */
  async due(now: number, limit: number): Promise<{ tasks: Task[]; jobs: Job[]; deliveries: DeliveryRef[] }> {
    const { client, name } = table();
    const pages = await Promise.all(
      Array.from({ length: dueShards }, (_, shard) =>
        client.send(
          new QueryCommand({
            TableName: name,
            IndexName: tableSchema.byDue.name,
            KeyConditionExpression: 'dueShard = :shard AND dueAt <= :now',
            ExpressionAttributeValues: { ':shard': { S: `due#${shard}` }, ':now': { N: String(now) } },
            Limit: Math.ceil(limit / dueShards),
          }),
        ),
      ),
    );
    const keys = pages.flatMap((page) => page.Items ?? []).flatMap(({ pk, sk }) => (pk && sk ? [{ pk, sk }] : []));
    const items = (await readAll(keys, true)).map(fromItem);
    return {
      tasks: items.filter((item) => item.sk === 'task').map(toTask),
      jobs: items.filter((item) => item.sk === 'job').map(toJob),
      deliveries: items
        .filter((item) => String(item.sk).startsWith('delivery#'))
        .map(({ webhook, id }) => ({ webhook: String(webhook), delivery: String(id) })),
    };
  },
} satisfies LifecycleRecords & Record<string, unknown>;

async function read<T>(key: Item, parse: (record: Record<string, unknown>) => T): Promise<T | undefined> {
  const { client, name } = table();
  const { Item } = await client.send(new GetItemCommand({ TableName: name, Key: key, ConsistentRead: true }));
  return Item && parse(fromItem(Item));
}

async function change<T extends { version: number }, D>(
  key: Item,
  parse: (record: Record<string, unknown>) => T,
  format: (record: T) => Item,
  decide: (record: T) => D,
  next: (decision: D) => T | undefined,
  known?: T,
): Promise<D | { outcome: 'missing' }> {
  // What the caller knows saves a read where it still is so. Where it leads to no write nothing has proved that it is.
  const likely = known && decide(known);
  const likelyNext = likely && next(likely);
  if (known && likelyNext && (await replace(format(likelyNext), known.version))) return likely;
  for (let round = 0; round < mostTries; round++) {
    await backOff(round);
    const current = await read(key, parse);
    if (!current) return { outcome: 'missing' };
    const decision = decide(current);
    const changed = next(decision);
    if (!changed || (await replace(format(changed), current.version))) return decision;
  }
  throw new Error(`The record ${key.pk?.S} changed ${mostTries} times while it was being written.`);
}

/** Writes an item if it still has this version; says whether it did. */
async function replace(item: Item, version: number): Promise<boolean> {
  const { client, name } = table();
  try {
    await client.send(
      new PutItemCommand({
        TableName: name,
        Item: item,
        ConditionExpression: 'version = :version',
        ExpressionAttributeValues: { ':version': { N: String(version) } },
      }),
    );
    return true;
  } catch (error) {
    if (isConditionFailure(error)) return false;
    throw error;
  }
}

async function alterSet<T>(
  key: Item,
  verb: 'ADD' | 'DELETE',
  attribute: string,
  member: string,
  parse: (record: Record<string, unknown>) => T,
): Promise<T | undefined> {
  const { client, name } = table();
  const update = verb === 'ADD' ? 'ADD version :one, #set :member' : 'ADD version :one DELETE #set :member';
  try {
    const { Attributes } = await client.send(
      new UpdateItemCommand({
        TableName: name,
        Key: key,
        UpdateExpression: update,
        ConditionExpression: 'attribute_exists(pk)',
        ExpressionAttributeNames: { '#set': attribute },
        ExpressionAttributeValues: { ':one': { N: '1' }, ':member': { SS: [member] } },
        ReturnValues: 'ALL_NEW',
      }),
    );
    return Attributes && parse(fromItem(Attributes));
  } catch (error) {
    if (isConditionFailure(error)) return undefined;
    throw error;
  }
}

async function setDue(key: Item, id: string, dueAt: number | undefined): Promise<void> {
  const { client, name } = table();
  try {
    await client.send(
      new UpdateItemCommand({
        TableName: name,
        Key: key,
        ConditionExpression: 'attribute_exists(pk)',
        ...(dueAt === undefined
          ? {
              UpdateExpression: 'ADD version :one REMOVE dueAt, dueShard',
              ExpressionAttributeValues: { ':one': { N: '1' } },
            }
          : {
              UpdateExpression: 'ADD version :one SET dueAt = :due, dueShard = :shard',
              ExpressionAttributeValues: {
                ':one': { N: '1' },
                ':due': { N: String(dueAt) },
                ':shard': { S: shardOf(id) },
              },
            }),
      }),
    );
  } catch (error) {
    if (!isConditionFailure(error)) throw error;
  }
}

async function told(id: string, news: JobNews[]): Promise<void> {
  const { client, name } = table();
  const update = async (condition: string, expression: string, values: Item = {}): Promise<boolean> => {
    const usesStatus = condition.includes('#status');
    try {
      await client.send(
        new UpdateItemCommand({
          TableName: name,
          Key: jobKey(id),
          ConditionExpression: condition,
          UpdateExpression: `ADD version :one ${expression}`,
          ExpressionAttributeValues: {
            ':one': { N: '1' },
            ...values,
            ...(usesStatus ? { ':deleted': { S: 'deleted' } } : {}),
          },
          ...(usesStatus ? { ExpressionAttributeNames: { '#status': 'status' } } : {}),
        }),
      );
      return true;
    } catch (error) {
      if (isConditionFailure(error)) return false;
      throw error;
    }
  };
  // A deleted job stays due until it is gone, and so does one that has other news since.
  const isSettled = '#status <> :deleted AND attribute_exists(pk) AND';
  const told = news.length > 0 ? { ':news': { SS: news } } : undefined;
  if (told && (await update(`${isSettled} untold = :news`, 'REMOVE untold, dueAt, dueShard', told))) return;
  if (told) await update('attribute_exists(pk)', 'DELETE untold :news', told);
  await update(`${isSettled} attribute_not_exists(untold)`, 'REMOVE dueAt, dueShard');
}

async function remove(key: Item): Promise<void> {
  const { client, name } = table();
  await client.send(new DeleteItemCommand({ TableName: name, Key: key }));
}

/** Returns the partition of the index of what is due that a record with this id belongs to. */
export function shardOf(id: string): string {
  return `due#${Number.parseInt(id.slice(-2), 16) % dueShards}`;
}

function fromTask(task: Task): Item {
  return toItem({
    ...taskKeyOf(task),
    ...task,
    waitsFor: setOf(task.waitsFor),
    dependents: setOf(task.dependents),
  });
}

function taskKeyOf(task: Task) {
  return { pk: `task#${task.id}`, sk: 'task', owner: `tasks#${task.user}`, ...bookkeeping(task) };
}

function fromJob(job: Job): Item {
  return toItem({
    pk: `job#${job.id}`,
    sk: 'job',
    owner: `jobs#${job.user}`,
    ...bookkeeping(job),
    ...job,
    open: setOf(job.open),
    untold: setOf(job.untold ?? []),
  });
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

function toTask(record: Record<string, unknown>): Task {
  const { pk: _pk, sk: _sk, owner: _owner, ttl: _ttl, dueShard: _shard, ...task } = record;
  return {
    ...(task as unknown as Task),
    waitsFor: membersOf(record.waitsFor),
    dependents: membersOf(record.dependents),
  };
}

function toJob(record: Record<string, unknown>): Job {
  const { pk: _pk, sk: _sk, owner: _owner, ttl: _ttl, dueShard: _shard, ...job } = record;
  return {
    ...(job as unknown as Job),
    open: membersOf(record.open),
    untold: membersOf(record.untold).filter(isJobNews),
  };
}
