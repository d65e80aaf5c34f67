/** What a start took on the machines this was measured on, before one has been seen here. */
const FIRST_GUESS_MILLISECONDS = 150;
const MAX_MILLISECONDS = 5_000;
/** The weight of the latest start. */
const WEIGHT = 0.3;

/** How long environments take to start, as of late: it depends on the machine and what else that has to do. */
export class StartTime {
  #milliseconds = FIRST_GUESS_MILLISECONDS;

  get milliseconds(): number {
    return this.#milliseconds;
  }

  /** Adds the time that a start took. */
  add(milliseconds: number): void {
    this.#milliseconds += WEIGHT * (Math.min(milliseconds, MAX_MILLISECONDS) - this.#milliseconds);
  }
}
