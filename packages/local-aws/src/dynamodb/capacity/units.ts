import { isDeepStrictEqual } from 'node:util';
import type { KeyAttribute, LocalTable, TableIndex } from '../../template/model.ts';
import { type AttributeMap, itemBytes } from './item-size.ts';

const writeUnitBytes = 1024;
const readUnitBytes = 4096;

/** A partition key of a table, or of one of its indexes. */
export interface Partition {
  table: string;
  /** Undefined for the table itself. */
  index?: string | undefined;
  key: string;
}

/** Capacity units of a request on one partition key. */
export interface Consumption extends Partition {
  kind: 'read' | 'write';
  units: number;
}

/**
 * Returns the units that a write takes from the table and from each index, given the item before and after it.
 * See "Write capacity unit consumption" and "Storage and capacity considerations" of global secondary indexes in
 * DynamoDB's developer guide: the larger of both items counts; an index entry that moves to another key costs its
 * deletion and its addition, and one whose projected attributes stay the same costs nothing.
 */
export function writeConsumption(
  table: LocalTable,
  existing: AttributeMap | undefined,
  item: AttributeMap | undefined,
): Consumption[] {
  const key = partitionOf(table.partitionKey, item ?? existing ?? {});
  return [
    { table: table.name, key, kind: 'write', units: largerUnits(existing, item) },
    ...table.indexes.flatMap((index) => indexConsumption(table, index, existing, item)),
  ];
}

/** Returns the units of a write whose condition fails: those of the item it left unchanged. */
export function refusedConsumption(
  table: LocalTable,
  key: AttributeMap,
  existing: AttributeMap | undefined,
): Consumption {
  const partition = partitionOf(table.partitionKey, key);
  return { table: table.name, key: partition, kind: 'write', units: largerUnits(existing, undefined) };
}

/**
 * Returns the units of a read of one item, or of a whole query. A read that finds nothing costs as much as the
 * smallest.
 */
export function readUnits(bytes: number, isConsistent: boolean): number {
  const units = Math.max(1, Math.ceil(bytes / readUnitBytes));
  return isConsistent ? units : units / 2;
}

/** Returns the value of a partition key as text. */
export function partitionOf({ name, type }: KeyAttribute, item: AttributeMap): string {
  const { [type]: value } = Object(item[name]);
  return String(value);
}

/** Returns an item's entry in an index: its projected attributes, or nothing if it lacks a key of the index. */
export function indexEntry(
  table: LocalTable,
  index: TableIndex,
  item: AttributeMap | undefined,
): AttributeMap | undefined {
  if (!item) return undefined;
  const keys = namesOf(index);
  if (keys.some((name) => item[name] === undefined)) return undefined;
  if (index.projection.type === 'ALL') return item;
  const names = new Set([...keys, ...namesOf(table), ...index.projection.attributes]);
  return Object.fromEntries(Object.entries(item).filter(([name, value]) => names.has(name) && value !== undefined));
}

function indexConsumption(
  table: LocalTable,
  index: TableIndex,
  existing: AttributeMap | undefined,
  item: AttributeMap | undefined,
): Consumption[] {
  const before = indexEntry(table, index, existing);
  const after = indexEntry(table, index, item);
  const write = (entry: AttributeMap, units: number): Consumption => ({
    table: table.name,
    index: index.name,
    key: partitionOf(index.partitionKey, entry),
    kind: 'write',
    units,
  });
  if (before && after && hasSameKey(index, before, after))
    return isSame(before, after) ? [] : [write(after, largerUnits(before, after))];
  return [before, after]
    .filter((entry) => entry !== undefined)
    .map((entry) => write(entry, largerUnits(entry, undefined)));
}

function hasSameKey(index: TableIndex, before: AttributeMap, after: AttributeMap): boolean {
  return namesOf(index).every((name) => isSame(before[name], after[name]));
}

/** Compares dynalite's stored values with newly built ones, which have different prototypes. */
function isSame(one: unknown, other: unknown): boolean {
  return isDeepStrictEqual(structuredClone(one), structuredClone(other));
}

function namesOf({ partitionKey, sortKey }: Pick<LocalTable, 'partitionKey' | 'sortKey'>): string[] {
  return sortKey ? [partitionKey.name, sortKey.name] : [partitionKey.name];
}

function largerUnits(one: AttributeMap | undefined, other: AttributeMap | undefined): number {
  const bytes = Math.max(one ? itemBytes(one) : 0, other ? itemBytes(other) : 0);
  return Math.max(1, Math.ceil(bytes / writeUnitBytes));
}
