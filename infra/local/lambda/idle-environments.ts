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

  constructor({ seconds, max = Number.POSITIVE_INFINITY, burstSeconds = seconds }: Limits) {
    this.#seconds = seconds;
    this.#max = max;
    this.#burstSeconds = Math.min(seconds, burstSeconds);
  }

  /** Adds an environment as the last used; if it is one too many for a while, the least recently used one ends. */
  add(environment: Environment): void {
    this.remove(environment);
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

  /** Ends the least recently used environment, and says whether there was one. */
  endOldest(): boolean {
    const [oldest] = this.#timers.keys();
    if (oldest) this.#end(oldest);
    return oldest !== undefined;
  }

  #endIn(environment: Environment, seconds: number, then: () => void): void {
    this.#timers.set(environment, setTimeout(then, seconds * 1000).unref());
  }

  #end(environment: Environment): void {
    this.remove(environment);
    environment.kill();
  }
}
