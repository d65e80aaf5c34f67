const minPauseMs = 1_000;
const maxPauseMs = 10_000;
/** Progress writes may take a fiftieth of a run's time. Slow writes mean that there are already too many. */
const restPerWrite = 50;

/**
 * Decides when the progress of a run is written, independent of how often its engine reports it. Writes are a tenth of the elapsed
 * time apart, so that a progress bar moves evenly and long tasks write rarely. After a slow write the pause is longer, so that
 * progress never crowds out other writes.
 */
export class ProgressPace {
  readonly #began: number;
  #due: number;
  #written: number | undefined;

  constructor(began: number) {
    this.#began = began;
    this.#due = began + minPauseMs;
  }

  /** Returns whether to write a percentage now: it has changed, and the last write was long enough ago. */
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
