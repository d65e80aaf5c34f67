import { describe, expect, it } from 'vitest';
import { itemBytes } from '../../src/dynamodb/capacity/item-size.ts';
import { CapacityMeter } from '../../src/dynamodb/capacity/meter.ts';
import { readUnits, refusedConsumption, writeConsumption } from '../../src/dynamodb/capacity/units.ts';
import type { LocalTable } from '../../src/template/model.ts';

const table: LocalTable = {
  logicalId: 'Records',
  name: 'records',
  arn: 'arn:aws:dynamodb:eu-central-1:123456789012:table/records',
  partitionKey: { name: 'pk', type: 'S' },
  sortKey: { name: 'sk', type: 'S' },
  indexes: [
    {
      name: 'byDue',
      partitionKey: { name: 'shard', type: 'S' },
      sortKey: { name: 'dueAt', type: 'N' },
      projection: { type: 'KEYS_ONLY', attributes: [] },
    },
    {
      name: 'byOwner',
      partitionKey: { name: 'owner', type: 'S' },
      projection: { type: 'INCLUDE', attributes: ['status'] },
    },
  ],
};

const key = { pk: { S: 'task#1' }, sk: { S: 'a' } };
const due = { shard: { S: 'due#1' }, dueAt: { N: '100' } };
const owned = { owner: { S: 'tasks#me' }, status: { S: 'waiting' } };
const ofBytes = (bytes: number) => ({ filler: { S: 'x'.repeat(bytes - 'filler'.length) } });
const indexesOf = (...change: [object | undefined, object | undefined]) =>
  writeConsumption(table, change[0] && { ...key, ...change[0] }, change[1] && { ...key, ...change[1] })
    .filter(({ index }) => index !== undefined)
    .map(({ index, key: partition, units }) => [index, partition, units]);

describe('the size of an item', () => {
  it.each([
    ['names and strings in UTF-8', { äb: { S: 'ö€' } }, 3 + 5],
    ['a byte for two digits of a number and one more', { n: { N: '123' } }, 1 + 3],
    ['neither zeros at the ends nor the point of a number', { n: { N: '-0.0012000' } }, 1 + 1 + 1 + 1],
    ['zero as one byte', { n: { N: '0' } }, 1 + 1],
    ['booleans and null as one byte', { b: { BOOL: true }, n: { NULL: true } }, 4],
    ['the bytes that binary data stands for', { b: { B: Buffer.alloc(30).toString('base64') } }, 1 + 30],
    ['the elements of sets', { s: { SS: ['ab', 'c'] }, n: { NS: ['1', '22'] } }, 1 + 3 + 1 + 4],
    [
      'three bytes more for a list, and one for each element',
      { l: { L: [{ S: 'ab' }, { BOOL: true }] } },
      1 + 3 + 3 + 2,
    ],
    ['three bytes more for a map, and one for each attribute', { m: { M: { ab: { S: 'c' } } } }, 1 + 3 + 1 + 3],
  ])('counts %s', (_what, item, bytes) => {
    expect(itemBytes(item)).toBe(bytes);
  });
});

describe('the units of a write', () => {
  it('rounds the larger of both items up to a kilobyte', () => {
    const units = (before: object | undefined, after: object | undefined) =>
      writeConsumption(table, before && { ...key, ...before }, after && { ...key, ...after })[0]?.units;
    expect(units(undefined, {})).toBe(1);
    expect(units(undefined, ofBytes(1024 - itemBytes(key)))).toBe(1);
    expect(units(undefined, ofBytes(1025 - itemBytes(key)))).toBe(2);
    expect(units(ofBytes(3000), {})).toBe(3);
    expect(units(ofBytes(3000), undefined)).toBe(3);
    expect(units(undefined, undefined)).toBe(1);
  });

  it('takes one unit for an entry that an index gains or loses', () => {
    expect(indexesOf(undefined, due)).toEqual([['byDue', 'due#1', 1]]);
    expect(indexesOf({}, due)).toEqual([['byDue', 'due#1', 1]]);
    expect(indexesOf(due, {})).toEqual([['byDue', 'due#1', 1]]);
    expect(indexesOf(due, undefined)).toEqual([['byDue', 'due#1', 1]]);
  });

  it('takes two for an entry that changes its key, of the partitions that it leaves and enters', () => {
    expect(indexesOf(due, { ...due, dueAt: { N: '200' } })).toEqual([
      ['byDue', 'due#1', 1],
      ['byDue', 'due#1', 1],
    ]);
    expect(indexesOf(due, { ...due, shard: { S: 'due#2' } })).toEqual([
      ['byDue', 'due#1', 1],
      ['byDue', 'due#2', 1],
    ]);
  });

  it('takes none for an entry whose projected attributes stay the same', () => {
    expect(indexesOf({ ...due, ...owned }, { ...due, ...owned, progress: { N: '1' } })).toEqual([]);
  });

  it('takes one for an entry whose projected attributes change', () => {
    expect(indexesOf(owned, { ...owned, status: { S: 'completed' } })).toEqual([['byOwner', 'tasks#me', 1]]);
    expect(indexesOf(owned, { owner: owned.owner })).toEqual([['byOwner', 'tasks#me', 1]]);
  });

  it('counts only the projected attributes of an entry', () => {
    expect(indexesOf(undefined, { ...owned, ...ofBytes(5000) })).toEqual([['byOwner', 'tasks#me', 1]]);
    expect(indexesOf(undefined, { ...owned, status: { S: 'x'.repeat(1500) } })).toEqual([['byOwner', 'tasks#me', 2]]);
  });

  it('takes as much as the existing item if its condition fails', () => {
    expect(refusedConsumption(table, key, { ...key, ...ofBytes(2500) }).units).toBe(3);
    expect(refusedConsumption(table, key, undefined).units).toBe(1);
  });
});

describe('the units of a read', () => {
  it('are for 4 kilobytes each, half of them without strong consistency, and never none', () => {
    expect([0, 4096, 4097].map((bytes) => readUnits(bytes, true))).toEqual([1, 1, 2]);
    expect([0, 4096, 4097].map((bytes) => readUnits(bytes, false))).toEqual([0.5, 0.5, 1]);
  });
});

describe('CapacityMeter', () => {
  const write = { table: 'records', key: 'a', kind: 'write' } as const;

  it('sums units by key and finds the busiest second', () => {
    let now = 10_000;
    const meter = new CapacityMeter(() => now);
    meter.add({ ...write, units: 2 });
    now = 10_999;
    meter.add({ ...write, units: 3 });
    now = 11_000;
    meter.add({ ...write, units: 4 });
    expect(meter.keys()).toEqual([{ ...write, units: 9, busiestSecond: 5 }]);
    expect(meter.unitsInSecond(write)).toBe(4);
    now = 12_000;
    expect(meter.unitsInSecond(write)).toBe(0);
  });

  it('keeps reads, indexes and keys apart, the busiest key first, and sums each table and index', () => {
    const meter = new CapacityMeter(() => 0);
    meter.add({ ...write, units: 1 });
    meter.add({ ...write, key: 'b', units: 2 });
    meter.add({ ...write, index: 'byDue', units: 4 });
    meter.add({ ...write, kind: 'read', units: 0.5 });
    expect(meter.keys().map(({ index, key: name, kind, units }) => [index, name, kind, units])).toEqual([
      ['byDue', 'a', 'write', 4],
      [undefined, 'b', 'write', 2],
      [undefined, 'a', 'write', 1],
      [undefined, 'a', 'read', 0.5],
    ]);
    expect(meter.totals()).toEqual([
      { table: 'records', index: undefined, kind: 'write', units: 3 },
      { table: 'records', index: 'byDue', kind: 'write', units: 4 },
      { table: 'records', index: undefined, kind: 'read', units: 0.5 },
    ]);
    meter.reset();
    expect(meter.keys()).toEqual([]);
  });
});
