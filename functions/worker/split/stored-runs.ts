import { type Item, query, updateOrRead } from '../../../shared/aws/table.ts';
import { partitions } from '../../../shared/aws/table-schema.ts';
import type { Task } from '../../../shared/tasks/task.ts';

/** A part of a split run whose output is stored. */
export interface FinishedPart {
  /** Of its file, or the prefix of its files. */
  key: string;
  size: number;
  format: string;
  /** Engine time in milliseconds. */
  ms: number;
  /** The tags of its files in order, if it has several: at most 500 of 100 characters, and an item holds 400 KB. */
  tags?: string[];
}

/** What earlier attempts of a task have done: the plan as it was stored, and the finished parts by name. */
export interface SplitRecord {
  plan?: string;
  parts: Map<string, FinishedPart>;
}

const planKey = 'plan';
const partPrefix = 'part#';

/** Reads the plan and the finished parts of a task. */
export async function readSplit({ id }: Pick<Task, 'id'>): Promise<SplitRecord> {
  const items = await query({ keys: 'pk = :pk', values: { ':pk': partitionOf(id) } });
  const plan = items.find(({ sk }) => sk === planKey)?.plan;
  const parts = items.filter(({ sk }) => String(sk).startsWith(partPrefix));
  return {
    ...(typeof plan === 'string' ? { plan } : {}),
    parts: new Map(parts.map((item) => [String(item.sk).slice(partPrefix.length), partOf(item)])),
  };
}

/** Stores the plan of a task, unless there is one; returns the one that is stored. */
export async function keepPlan(task: Pick<Task, 'id' | 'expiresAt'>, plan: string): Promise<string> {
  const item = await keepFirst(task, planKey, { plan });
  return String(item.plan);
}

/** Adds a finished part to the set of a task, unless it has it; returns the one that the set has. */
export async function keepPart(
  task: Pick<Task, 'id' | 'expiresAt'>,
  name: string,
  part: FinishedPart,
): Promise<FinishedPart> {
  return partOf(await keepFirst(task, `${partPrefix}${name}`, { ...part }));
}

async function keepFirst({ id, expiresAt }: Pick<Task, 'id' | 'expiresAt'>, sk: string, values: Item): Promise<Item> {
  const entries = Object.entries({ ...values, ttl: Math.ceil(Date.parse(expiresAt) / 1000) });
  const { item } = await updateOrRead(
    { pk: partitionOf(id), sk },
    `SET ${entries.map((_, index) => `#a${index} = :a${index}`).join(', ')}`,
    {
      names: Object.fromEntries(entries.map(([name], index) => [`#a${index}`, name])),
      values: Object.fromEntries(entries.map(([, value], index) => [`:a${index}`, value])),
      condition: 'attribute_not_exists(pk)',
    },
  );
  if (!item) throw new Error(`DynamoDB returned no item for ${sk} of the task ${id}.`);
  return item;
}

function partOf({ key, size, format, ms, tags }: Item): FinishedPart {
  const part = { key: String(key), size: Number(size), format: String(format), ms: Number(ms) };
  return Array.isArray(tags) ? { ...part, tags: tags.map(String) } : part;
}

function partitionOf(id: string): string {
  return `${partitions.split}${id}`;
}
