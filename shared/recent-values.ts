/** A cache by key, limited in age and size. The oldest entry is evicted first. */
export class RecentValues<T> {
  readonly #values = new Map<string, { value: T; at: number }>();
  readonly #milliseconds: number;
  readonly #max: number;

  constructor({ milliseconds, max }: { milliseconds: number; max: number }) {
    this.#milliseconds = milliseconds;
    this.#max = max;
  }

  /** Returns the value of a key, if it was set recently enough. */
  get(key: string): T | undefined {
    return this.find(key)?.value;
  }

  /** Returns the value of a key and its time, if recent enough. */
  find(key: string): { value: T; at: number } | undefined {
    const found = this.#values.get(key);
    if (found && found.at + this.#milliseconds > Date.now()) return found;
    this.#values.delete(key);
    return undefined;
  }

  /** Sets a value as of now or an earlier time. */
  set(key: string, value: T, at = Date.now()): void {
    // Deleted first, because a key that is set again would keep its old position.
    this.#values.delete(key);
    this.#values.set(key, { value, at });
    const [oldest] = this.#values.keys();
    if (this.#values.size > this.#max && oldest !== undefined) this.#values.delete(oldest);
  }
}
