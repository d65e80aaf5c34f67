import type { Invocation } from './invocation.ts';

/**
 * Schedules waiting invocations fairly, so that a client with many requests does not delay others, for which Lambda would have
 * room. Each client has a limit, and the client with the fewest running goes next. Invocations without a client have no limit.
 */
export class Turns {
  readonly #max: number;
  readonly #running = new Map<string, number>();

  constructor(maxOfClient: number) {
    this.#max = maxOfClient;
  }

  mayRun({ client }: Invocation): boolean {
    return client === undefined || this.#count(client) < this.#max;
  }

  /** Counts an invocation until it has ended. */
  begin({ client, ended }: Invocation): void {
    if (client === undefined) return;
    this.#running.set(client, this.#count(client) + 1);
    void ended.then(() => {
      const left = this.#count(client) - 1;
      if (left > 0) this.#running.set(client, left);
      else this.#running.delete(client);
    });
  }

  /** Returns which of those that wait, in the order they came, is next. */
  next(waiting: Invocation[]): Invocation | undefined {
    const [first, ...others] = waiting.filter((invocation) => this.mayRun(invocation));
    return others.reduce(
      (best, each) => (best && this.#count(each.client) < this.#count(best.client) ? each : best),
      first,
    );
  }

  #count(client: string | undefined): number {
    return client === undefined ? 0 : (this.#running.get(client) ?? 0);
  }
}
