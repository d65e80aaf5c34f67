const minPauseMs = 1_000;
const maxPauseMs = 10_000;
/** Writes of progress may take a fiftieth of a run's time: where they are slow, there are too many of them already. */
const restPerWrite = 50;

/**
 * Decides when the progress of a run is written, however often its engine reports. Between two writes lies a tenth of
 * the time it has run, so that a bar moves by about as much each time and a thousand long tasks write no more than a
 * few; and longer where the last write took long, so that progress never crowds out what happens.
 */
export class ProgressPace {
  readonly #began: number;
  #due: number;
  #written: number | undefined;

  constructor(began: number) {
    this.#began = began;
    this.#due = began + minPauseMs;
  }

  /** Tells whether a percentage is to be written now: it is news, and the last write was long enough ago. */
  isDue(percent: number, now: number): boolean {
    return now >= this.#due && percent !== this.#written;
  }

  /** Takes note of a write, by when it began and when it was done. */
  wrote(percent: number, from: number, to: number): void {
    this.#written = percent;
    const byAge = Math.min(maxPauseMs, Math.max(minPauseMs, (to - this.#began) / 10));
    this.#due = from + Math.max(byAge, Math.min(maxPauseMs, (to - from) * restPerWrite));
  }
}
