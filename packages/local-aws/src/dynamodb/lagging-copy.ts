/** A change that readers of a copy do not see yet. */
interface Change<T> {
  visibleAt: number;
  value: T | undefined;
}

interface Entry<T> {
  /** What readers see until the first change is visible. */
  before: T | undefined;
  changes: Change<T>[];
}

/**
 * Remembers what a copy of stored values still shows of those that have changed. The store itself always has the newest, so
 * that nothing is lost when the process ends: the copy has then caught up.
 */
export class LaggingCopy<T> {
  readonly #delay: () => number;
  readonly #now: () => number;
  readonly #entries = new Map<string, Entry<T>>();
  /** When the last change of each owner is visible. */
  readonly #visibleAt = new Map<string, number>();

  /** The delay of each change is in milliseconds. */
  constructor(delay: () => number, now: () => number = Date.now) {
    this.#delay = delay;
    this.#now = now;
  }

  /** Records changes that belong together: they become visible at once, and after all earlier ones of the same owner. */
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

  /** Returns what the copy shows of the keys in which it may differ from the store. */
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

  /** Returns whether the copy may differ from the store in a key, and what it shows of it then. */
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
