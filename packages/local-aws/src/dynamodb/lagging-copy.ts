/** A change that readers of a copy do not see yet. */
interface Change<T> {
  visibleAt: number;
  value: T | undefined;
}

interface Entry<T> {
  /** The value that readers see until the first change is visible. */
  before: T | undefined;
  changes: Change<T>[];
}

/**
 * Tracks the old values that a lagging copy still shows. The store itself always has the latest values, so nothing is
 * lost when the process ends.
 */
export class LaggingCopy<T> {
  readonly #delay: () => number;
  readonly #now: () => number;
  readonly #entries = new Map<string, Entry<T>>();
  /** When the last change of each owner becomes visible. */
  readonly #visibleAt = new Map<string, number>();

  /** Takes the delay of each change in milliseconds. */
  constructor(delay: () => number, now: () => number = Date.now) {
    this.#delay = delay;
    this.#now = now;
  }

  /** Records changes that become visible together, after all earlier ones of the same owner. */
  change(owner: string, changes: { key: string; before: T | undefined; after: T | undefined }[]): void {
    this.#forget();
    const visibleAt = Math.max(this.#now() + this.#delay(), this.#visibleAt.get(owner) ?? 0);
    this.#visibleAt.set(owner, visibleAt);
    for (const { key, before, after } of changes) {
      const entry = this.#entries.get(key) ?? { before, changes: [] };
      entry.changes.push({ visibleAt, value: after });
      this.#entries.set(key, entry);
    }
  }

  /** Returns the copy's values of keys that may differ from the store. */
  shown(isWanted: (key: string) => boolean): Map<string, T | undefined> {
    this.#forget();
    const now = this.#now();
    const shown = new Map<string, T | undefined>();
    for (const [key, { before, changes }] of this.#entries) {
      if (!isWanted(key)) continue;
      const last = changes.findLast(({ visibleAt }) => visibleAt <= now);
      shown.set(key, last ? last.value : before);
    }
    return shown;
  }

  /** Returns the copy's value of a key, if it may differ from the store. */
  get(key: string): { value: T | undefined } | undefined {
    const shown = this.shown((each) => each === key);
    return shown.has(key) ? { value: shown.get(key) } : undefined;
  }

  #forget(): void {
    const now = this.#now();
    for (const [key, { changes }] of this.#entries)
      if ((changes.at(-1)?.visibleAt ?? 0) <= now) this.#entries.delete(key);
    for (const [owner, visibleAt] of this.#visibleAt) if (visibleAt <= now) this.#visibleAt.delete(owner);
  }
}
