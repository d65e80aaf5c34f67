import { EngineError } from '../engine.ts';
import type { ProcessRow } from './processes.ts';

/** The processor time that the processes of a sandbox use for one piece of work, and its limits. */
export class ProcessorTime {
  readonly #ceiling: number;
  readonly #before: number;
  /** Seconds that each process had used before the work, and when it was last seen. */
  readonly #own = new Map<string, { before: number; now: number }>();
  /** The limit that the engine set. It applies from the next check on. */
  #asked: number | undefined;
  #limit: { seconds: number; from: number } | undefined;
  #wasExceeded = false;

  constructor(ceiling: number, atStart: ProcessRow[]) {
    this.#ceiling = ceiling;
    this.#before = total(atStart);
    for (const row of atStart) this.#own.set(key(row), { before: row.ownSeconds, now: row.ownSeconds });
  }

  /** Limits the time from now on. Without a limit, only the ceiling applies, which no engine can raise. */
  limit(seconds: unknown): void {
    this.#asked = typeof seconds === 'number' && seconds > 0 ? seconds : Number.POSITIVE_INFINITY;
  }

  /**
   * Returns the seconds used since the start of the work. The time of an ended process is added to its parent's, unless the
   * parent ignores its children. So the last known times of all processes are added up as well, and the larger sum counts.
   */
  used(rows: ProcessRow[]): number {
    for (const row of rows) {
      const known = this.#own.get(key(row));
      if (known) known.now = Math.max(known.now, row.ownSeconds);
      else this.#own.set(key(row), { before: 0, now: row.ownSeconds });
    }
    const seen = [...this.#own.values()].reduce((sum, { before, now }) => sum + now - before, 0);
    return Math.max(total(rows) - this.#before, seen);
  }

  /**
   * Returns an error for work that exceeds a limit at two checks in a row. At a single check, a process that ends between the
   * reading of its own and its parent's time may count twice.
   */
  check(rows: ProcessRow[]): EngineError | undefined {
    const used = this.used(rows);
    if (this.#asked !== undefined) this.#limit = { seconds: this.#asked, from: used };
    this.#asked = undefined;
    const exceeded = this.#exceeded(used);
    const wasExceeded = this.#wasExceeded;
    this.#wasExceeded = exceeded !== undefined;
    if (!wasExceeded || exceeded === undefined) return undefined;
    return new EngineError(
      `The file takes more processor time than a file of its size and pages may: over ${Math.round(exceeded)} seconds. Simplify it, or split it into smaller files.`,
      { detail: `${used.toFixed(1)} seconds of processor time since the start of the work` },
    );
  }

  /** Returns the limit that a time exceeds. */
  #exceeded(used: number): number | undefined {
    if (used > this.#ceiling) return this.#ceiling;
    return this.#limit && used - this.#limit.from > this.#limit.seconds ? this.#limit.seconds : undefined;
  }
}

function key({ pid, started }: ProcessRow): string {
  return `${pid} ${started}`;
}

function total(rows: ProcessRow[]): number {
  return rows.reduce((sum, { ownSeconds, endedSeconds }) => sum + ownSeconds + endedSeconds, 0);
}
