import type { Consumption, Partition } from './units.ts';

/** Usage of one partition key of a table or index. */
export interface KeyUsage extends Partition {
  kind: Consumption['kind'];
  units: number;
  /** Maximum units of any one second, which DynamoDB limits to 1,000 for writes and 3,000 for reads. */
  busiestSecond: number;
}

/** Total usage of a table or index. */
export interface Total {
  table: string;
  index?: string | undefined;
  kind: Consumption['kind'];
  units: number;
}

interface Entry extends KeyUsage {
  second: number;
  unitsInSecond: number;
}

/** Counts the capacity units of requests per partition key of tables and indexes. */
export class CapacityMeter {
  readonly #entries = new Map<string, Entry>();
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** Adds the units of a request. */
  add({ units, ...place }: Consumption): void {
    const entry = this.#entryOf(place);
    const second = this.#second();
    if (entry.second !== second) {
      entry.second = second;
      entry.unitsInSecond = 0;
    }
    entry.units += units;
    entry.unitsInSecond += units;
    entry.busiestSecond = Math.max(entry.busiestSecond, entry.unitsInSecond);
  }

  /** Returns the units of a partition key in the current second. */
  unitsInSecond(place: Omit<Consumption, 'units'>): number {
    const entry = this.#entries.get(nameOf(place));
    return entry?.second === this.#second() ? entry.unitsInSecond : 0;
  }

  /** Returns the usage of each partition key, busiest second first. */
  keys(): KeyUsage[] {
    return [...this.#entries.values()]
      .map(({ second: _second, unitsInSecond: _units, ...usage }) => usage)
      .sort((one, other) => other.busiestSecond - one.busiestSecond);
  }

  /** Returns the totals of the table and of each index. */
  totals(): Total[] {
    const totals = new Map<string, Total>();
    for (const { table, index, kind, units } of this.#entries.values()) {
      const name = nameOf({ table, index, kind, key: '' });
      const total = totals.get(name) ?? { table, index, kind, units: 0 };
      total.units += units;
      totals.set(name, total);
    }
    return [...totals.values()];
  }

  reset(): void {
    this.#entries.clear();
  }

  #entryOf(place: Omit<Consumption, 'units'>): Entry {
    const name = nameOf(place);
    let entry = this.#entries.get(name);
    if (!entry) {
      entry = { ...place, units: 0, busiestSecond: 0, second: 0, unitsInSecond: 0 };
      this.#entries.set(name, entry);
    }
    return entry;
  }

  #second(): number {
    return Math.floor(this.#now() / 1000);
  }
}

function nameOf({ table, index = '', kind, key }: Omit<Consumption, 'units'>): string {
  return `${kind} ${table} ${index} ${key}`;
}
