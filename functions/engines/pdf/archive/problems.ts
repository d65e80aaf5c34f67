/** The parts of ISO 19005 and their conformance levels. */
export const levels = ['1b', '2b', '2u', '3b'] as const;
export type Level = (typeof levels)[number];

/** A file that is not read further, because its syntax is not known to conform. */
export class NotApproved extends Error {
  override name = 'NotApproved';
}

/** A rule that a file is not known to conform to. */
export interface Problem {
  /** Of the part of ISO 19005 that is validated. */
  clause: string;
  message: string;
  /** Where it was found. */
  where: string;
}

const maxProblems = 50;

export class Problems {
  readonly list: Problem[] = [];
  readonly part: number;
  /** What is looked at. */
  where = 'file';
  readonly #seen = new Set<string>();

  constructor(part: number) {
    this.part = part;
  }

  /** Reports a problem by the clauses of part 1 and parts 2 and 3. */
  add(first: string, later: string, message: string): void {
    const clause = this.part === 1 ? first : later;
    const key = `${clause} ${message}`;
    if (this.#seen.has(key) || this.list.length >= maxProblems) return;
    this.#seen.add(key);
    this.list.push({ clause, message, where: this.where });
  }

  /** Does work on a part of the file. Its syntax errors are problems. */
  within(where: string, work: () => void): void {
    const before = this.where;
    this.where = where;
    try {
      work();
    } catch (error) {
      if (!(error instanceof NotApproved)) throw error;
      this.add('6.1', '6.1', `not approved: ${error.message}`);
    } finally {
      this.where = before;
    }
  }
}
