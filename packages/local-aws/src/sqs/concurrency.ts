/** A source begins with five batches at a time, and handles five more each second while there are messages for them. */
const initial = 5;
const raiseMilliseconds = 200;

/**
 * Limits the number of batches that a source has in flight as Lambda does: a burst does not start an environment for each
 * message. Those that find no slot wait in the order they came.
 */
export class Concurrency {
  readonly #max: number;
  #limit: number;
  #taken = 0;
  #raising: NodeJS.Timeout | undefined;
  readonly #waiting: (() => void)[] = [];

  constructor(max: number) {
    this.#max = max;
    this.#limit = Math.min(initial, max);
  }

  /** Waits for a slot; the caller returns it with `release`. */
  async take(): Promise<void> {
    this.#taken += 1;
    if (this.#taken <= this.#limit) return;
    this.#raiseLater();
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  release(): void {
    this.#taken -= 1;
    this.#waiting.shift()?.();
  }

  /** Begins anew, since there are no more messages. */
  reset(): void {
    this.#limit = Math.min(initial, this.#max);
  }

  #raiseLater(): void {
    if (this.#raising || this.#limit >= this.#max) return;
    this.#raising = setTimeout(() => {
      this.#raising = undefined;
      if (this.#waiting.length === 0) return;
      this.#limit += 1;
      this.#waiting.shift()?.();
    }, raiseMilliseconds).unref();
  }
}
