import type { GroupKind, GroupSummary } from '../../lists/group-summary.ts';
import type { GroupQuery, OwnedRecords } from '../../lists/view.ts';
import { type Item, query } from '../table.ts';
import { indexPartitions, tableSchema } from '../table-schema.ts';
import { countedHours, saveCountedHour } from './counted-hours.ts';
import { records } from './records.ts';

/** More than a page of 1 MB holds. */
const wholePage = 10_000;
const partitionOf = { job: indexPartitions.ownedJob, task: indexPartitions.ownedTask };

/** Returns the records of a user: groups from the index, and their stored counts. */
export function ownedRecords(user: string, now: number): OwnedRecords {
  return {
    groups: (query) => groups(user, query, now),
    tasks: records.tasks,
    jobs: records.jobs,
    hours: (oldest, newest) => countedHours(user, oldest, newest),
    saveHour: (hour) => saveCountedHour(user, hour),
  };
}

async function groups(
  user: string,
  { kind, range, limit, tag, isUncompleted }: GroupQuery,
  now: number,
): Promise<GroupSummary[]> {
  const items = await query({
    index: tableSchema.byOwner.name,
    keys: '#owner = :owner AND id BETWEEN :from AND :to',
    filter: [
      '(attribute_not_exists(endStatus) OR endStatus <> :deleted) AND expiresAt > :now',
      ...(tag === undefined ? [] : ['contains(tag, :tag)']),
      ...(isUncompleted ? ['(attribute_not_exists(endStatus) OR endStatus <> :completed)'] : []),
    ].join(' AND '),
    names: { '#owner': tableSchema.byOwner.partitionKey },
    values: {
      ':owner': `${partitionOf[kind]}${user}`,
      ':from': range.from,
      // BETWEEN includes both ends.
      ':to': before(range.to),
      ':deleted': 'deleted',
      ':now': new Date(now).toISOString(),
      ':tag': tag,
      ':completed': isUncompleted ? 'completed' : undefined,
    },
    descending: true,
    limit,
    pageSize: tag === undefined ? limit : wholePage,
  });
  return items.map((item) => toGroup(item, kind));
}

function toGroup({ id, expiresAt, endStatus, operations, gone }: Item, kind: GroupKind): GroupSummary {
  return {
    id: String(id),
    kind,
    expiresAt: String(expiresAt),
    ...(endStatus === undefined ? {} : { endStatus: String(endStatus) }),
    operations: numbersOf(operations),
    gone: gone instanceof Set ? [...gone] : [],
  };
}

function numbersOf(value: unknown): Record<string, number> {
  return Object.fromEntries(Object.entries(Object(value)).map(([name, number]) => [name, Number(number)]));
}

function before(id: string): string {
  return (BigInt(`0x${id}`) - 1n).toString(16).padStart(24, '0');
}
