import type { Environment } from './environment.ts';

/** Keeps idle environments warm: each for a limited time, and up to a number of them. */
export class IdleEnvironments {
  readonly #seconds: number;
  readonly #max: number;
  /** In the order of their last use. */
  readonly #timers = new Map<Environment, NodeJS.Timeout>();

  constructor(seconds: number, max = Number.POSITIVE_INFINITY) {
    this.#seconds = seconds;
    this.#max = max;
  }

  /** Adds an environment as the last used, and ends the least recently used one when there are too many. */
  add(environment: Environment): void {
    this.remove(environment);
    this.#timers.set(environment, setTimeout(() => this.#end(environment), this.#seconds * 1000).unref());
    if (this.#timers.size > this.#max) this.endOldest();
  }

  /** Removes an environment that is about to be used, or has ended. */
  remove(environment: Environment): void {
    clearTimeout(this.#timers.get(environment));
    this.#timers.delete(environment);
  }

  /** Ends the least recently used environment, if there is one. */
  endOldest(): void {
    const [oldest] = this.#timers.keys();
    if (oldest) this.#end(oldest);
  }

  #end(environment: Environment): void {
    this.remove(environment);
    environment.kill();
  }
}
