import type { Environment } from './environment.ts';

interface Limits {
  /** How long an idle environment is kept. */
  seconds: number;
  /** How many are kept that long; the rest are kept for `burstSeconds`. */
  max?: number;
  burstSeconds?: number;
}

/** Keeps idle environments warm, limited in time and, after a burst, in number. */
export class IdleEnvironments {
  readonly #seconds: number;
  readonly #max: number;
  readonly #burstSeconds: number;
  /** Least recently used first. */
  readonly #timers = new Map<Environment, NodeJS.Timeout>();
  /** When each became idle. */
  readonly #since = new WeakMap<Environment, number>();

  constructor({ seconds, max = Number.POSITIVE_INFINITY, burstSeconds = seconds }: Limits) {
    this.#seconds = seconds;
    this.#max = max;
    this.#burstSeconds = Math.min(seconds, burstSeconds);
  }

  /**
   * Adds an environment as the most recently used. Above the maximum, the least recently used one ends after a while.
   */
  add(environment: Environment): void {
    this.remove(environment);
    this.#since.set(environment, performance.now());
    this.#endIn(environment, this.#burstSeconds, () => {
      if (this.#timers.size > this.#max) this.endOldest();
      if (!this.#timers.has(environment)) return;
      this.#endIn(environment, this.#seconds - this.#burstSeconds, () => this.#end(environment));
    });
  }

  /** Removes an environment that is being used or has ended. */
  remove(environment: Environment): void {
    clearTimeout(this.#timers.get(environment));
    this.#timers.delete(environment);
  }

  /** Ends the least recently used environment if it has been idle long enough, and returns whether there was one. */
  endOldest(idleMs = 0): boolean {
    const [oldest] = this.#timers.keys();
    if (!oldest || performance.now() - (this.#since.get(oldest) ?? 0) < idleMs) return false;
    this.#end(oldest);
    return true;
  }

  #endIn(environment: Environment, seconds: number, then: () => void): void {
    this.#timers.set(environment, setTimeout(then, seconds * 1000).unref());
  }

  #end(environment: Environment): void {
    this.remove(environment);
    environment.kill();
  }
}
