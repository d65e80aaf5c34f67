/** A source starts with five concurrent batches, and adds five more each second while there are messages. */
const initial = 5;
const raiseMilliseconds = 200;

/**
 * Limits the batches in flight of a source as Lambda does, so that a burst does not start an environment per message.
 * Others wait for a slot in order.
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

  /** Waits for a slot. The caller returns it with `release`. */
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

  /** Resets the limit when the queue is empty. */
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
