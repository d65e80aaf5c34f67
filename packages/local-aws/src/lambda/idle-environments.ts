import type { Environment } from './environment.ts';

interface Limits {
  /** How long an environment is kept without work. */
  seconds: number;
  /** How many are kept for that long, */
  max?: number;
  /** and for how long the others are. */
  burstSeconds?: number;
}

/** Keeps idle environments warm: each for a limited time, and after a burst up to a number of them. */
export class IdleEnvironments {
  readonly #seconds: number;
  readonly #max: number;
  readonly #burstSeconds: number;
  /** In the order of their last use. */
  readonly #timers = new Map<Environment, NodeJS.Timeout>();
  /** When each became idle. */
  readonly #since = new WeakMap<Environment, number>();

  constructor({ seconds, max = Number.POSITIVE_INFINITY, burstSeconds = seconds }: Limits) {
    this.#seconds = seconds;
    this.#max = max;
    this.#burstSeconds = Math.min(seconds, burstSeconds);
  }

  /** Adds an environment as the last used; if it is one too many for a while, the least recently used one ends. */
  add(environment: Environment): void {
    this.remove(environment);
    this.#since.set(environment, performance.now());
    this.#endIn(environment, this.#burstSeconds, () => {
      if (this.#timers.size > this.#max) this.endOldest();
      if (!this.#timers.has(environment)) return;
      this.#endIn(environment, this.#seconds - this.#burstSeconds, () => this.#end(environment));
    });
  }

  /** Removes an environment that is about to be used, or has ended. */
  remove(environment: Environment): void {
    clearTimeout(this.#timers.get(environment));
    this.#timers.delete(environment);
  }

  /** Ends the least recently used environment, if it has been idle for so long, and says whether there was one. */
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
