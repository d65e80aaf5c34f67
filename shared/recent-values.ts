/** Keeps values by key for a limited time, and a limited number of them: the oldest goes first. */
export class RecentValues<T> {
  readonly #values = new Map<string, { value: T; until: number }>();
  readonly #milliseconds: number;
  readonly #max: number;

  constructor({ milliseconds, max }: { milliseconds: number; max: number }) {
    this.#milliseconds = milliseconds;
    this.#max = max;
  }

  /** Returns the value of a key, if it was set within the time. */
  get(key: string): T | undefined {
    const found = this.#values.get(key);
    if (found && found.until > Date.now()) return found.value;
    this.#values.delete(key);
    return undefined;
  }

  set(key: string, value: T): void {
    // Deleted first, since a key that is set again would keep its place among the oldest.
    this.#values.delete(key);
    this.#values.set(key, { value, until: Date.now() + this.#milliseconds });
    const [oldest] = this.#values.keys();
    if (this.#values.size > this.#max && oldest !== undefined) this.#values.delete(oldest);
  }
}
