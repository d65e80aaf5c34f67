const minPauseMs = 1_000;
const maxPauseMs = 10_000;
/** Progress writes may take a fiftieth of a run's time: slow writes mean that there are already too many. */
const restPerWrite = 50;

/**
 * Decides when the progress of a run is written, however often its engine reports. Between two writes lies a tenth of
 * the time it has run, so that a bar moves by about as much each time and a thousand long tasks write no more than a
 * few; and longer if the last write was slow, so that progress never crowds out other writes.
 */
export class ProgressPace {
  readonly #began: number;
  #due: number;
  #written: number | undefined;

  constructor(began: number) {
    this.#began = began;
    this.#due = began + minPauseMs;
  }

  /** Returns whether a percentage is to be written now: it has changed, and the last write was long enough ago. */
  isDue(percent: number, now: number): boolean {
    return now >= this.#due && percent !== this.#written;
  }

  /** Records a write by its start and end. */
  wrote(percent: number, from: number, to: number): void {
    this.#written = percent;
    const byAge = Math.min(maxPauseMs, Math.max(minPauseMs, (to - this.#began) / 10));
    this.#due = from + Math.max(byAge, Math.min(maxPauseMs, (to - from) * restPerWrite));
  }
}
