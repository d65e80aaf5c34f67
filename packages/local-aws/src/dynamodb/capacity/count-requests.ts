import type { LocalTable } from '../../template/model.ts';
import { type AttributeMap, itemBytes } from './item-size.ts';
import type { CapacityMeter } from './meter.ts';
import { partitionOf, readUnits, refusedConsumption } from './units.ts';

/** Returns the current item of a key. */
export type Peek = (table: string, key: AttributeMap) => AttributeMap | undefined;

/** Counts requests that the database does not report: reads of single items, and writes whose condition fails. */
export class RequestCounter {
  readonly #tables: Map<string, LocalTable>;
  readonly #peek: Peek;
  readonly #meter: CapacityMeter;

  constructor(tables: LocalTable[], peek: Peek, meter: CapacityMeter) {
    this.#tables = new Map(tables.map((table) => [table.name, table]));
    this.#peek = peek;
    this.#meter = meter;
  }

  /** Counts the items that a request is about to read. */
  countRead(operation: string, input: AttributeMap): void {
    if (operation === 'GetItem') this.#countItem(String(input.TableName), Object(input.Key), input.ConsistentRead);
    if (operation !== 'BatchGetItem') return;
    for (const [name, request] of Object.entries<AttributeMap>(Object(input.RequestItems))) {
      for (const key of Array.isArray(request.Keys) ? request.Keys : [])
        this.#countItem(name, Object(key), request.ConsistentRead);
    }
  }

  /** Counts a refused write; a transactional one takes twice the units. */
  countRefusal(input: AttributeMap, factor = 1): void {
    const table = this.#tables.get(String(input.TableName));
    if (!table) return;
    const item: AttributeMap = Object(input.Key ?? input.Item);
    const names = [table.partitionKey.name, ...(table.sortKey ? [table.sortKey.name] : [])];
    const key = Object.fromEntries(names.map((name) => [name, item[name]]));
    const { units, ...place } = refusedConsumption(table, key, this.#peek(table.name, key));
    this.#meter.add({ ...place, units: units * factor });
  }

  #countItem(name: string, key: AttributeMap, consistent: unknown): void {
    const table = this.#tables.get(name);
    if (!table) return;
    const item = this.#peek(name, key);
    this.#meter.add({
      table: name,
      key: partitionOf(table.partitionKey, key),
      kind: 'read',
      units: readUnits(item ? itemBytes(item) : 0, consistent === true),
    });
  }
}
