/** What a start took on the machines this was measured on, before one has been seen here. */
const firstGuessMilliseconds = 150;
const maxMilliseconds = 5_000;
/** The weight of the latest start. */
const weight = 0.3;

/** How long environments take to start, as of late: it depends on the machine and what else that has to do. */
export class StartTime {
  #milliseconds = firstGuessMilliseconds;

  get milliseconds(): number {
    return this.#milliseconds;
  }

  /** Adds the time that a start took. */
  add(milliseconds: number): void {
    this.#milliseconds += weight * (Math.min(milliseconds, maxMilliseconds) - this.#milliseconds);
  }
}
