/** Typical start time, before one has been measured. */
const firstGuessMilliseconds = 150;
const maxMilliseconds = 5_000;
/** The weight of the latest start. */
const weight = 0.3;

/** A moving average of environments' start times, which depend on the machine and its load. */
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
