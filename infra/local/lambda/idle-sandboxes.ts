import type { Sandbox } from './sandbox.ts';

/** Keeps idle environments warm: each for a limited time, and up to a number of them. */
export class IdleSandboxes {
  readonly #seconds: number;
  readonly #max: number;
  /** In the order of their last use. */
  readonly #timers = new Map<Sandbox, NodeJS.Timeout>();

  constructor(seconds: number, max = Number.POSITIVE_INFINITY) {
    this.#seconds = seconds;
    this.#max = max;
  }

  /** Adds an environment as the last used, and ends the least recently used one when there are too many. */
  add(sandbox: Sandbox): void {
    this.remove(sandbox);
    this.#timers.set(sandbox, setTimeout(() => this.#end(sandbox), this.#seconds * 1000).unref());
    const [longest] = this.#timers.keys();
    if (longest && this.#timers.size > this.#max) this.#end(longest);
  }

  /** Removes an environment that is about to be used, or has ended. */
  remove(sandbox: Sandbox): void {
    clearTimeout(this.#timers.get(sandbox));
    this.#timers.delete(sandbox);
  }

  /** Takes the last used environment out, if it still takes invocations. */
  take(): Sandbox | undefined {
    for (const sandbox of [...this.#timers.keys()].reverse()) {
      this.remove(sandbox);
      if (sandbox.usable) return sandbox;
    }
    return undefined;
  }

  #end(sandbox: Sandbox): void {
    this.remove(sandbox);
    sandbox.kill();
  }
}
