import type { Invocation } from './invocation.ts';

/**
 * Schedules waiting invocations fairly, so that a client with many requests does not delay others, for which Lambda
 * would have room. Each client has a limit. The client with the fewest running invocations goes next, and among equals
 * the one whose last turn is longest ago. Invocations without a client have no limit.
 */
export class Turns {
  readonly #max: number;
  readonly #running = new Map<string, number>();
  /** Clients that wait or run, longest since their last turn first. */
  #order: string[] = [];

  constructor(maxOfClient: number) {
    this.#max = maxOfClient;
  }

  mayRun({ client }: Invocation): boolean {
    return client === undefined || this.#count(client) < this.#max;
  }

  /** Whether its client has nothing running. */
  isFirst({ client }: Invocation): boolean {
    return client !== undefined && this.#count(client) === 0;
  }

  /** Counts an invocation until it has ended. */
  begin({ client, ended }: Invocation): void {
    if (client === undefined) return;
    this.#order = [...this.#order.filter((other) => other !== client), client];
    this.#running.set(client, this.#count(client) + 1);
    void ended.then(() => {
      const left = this.#count(client) - 1;
      if (left > 0) this.#running.set(client, left);
      else this.#running.delete(client);
    });
  }

  /** Returns the next of the waiting invocations, given in order of arrival. */
  next(waiting: Invocation[]): Invocation | undefined {
    const clients = new Set(waiting.map(({ client }) => client));
    this.#order = this.#order.filter((client) => clients.has(client) || this.#count(client) > 0);
    const [first, ...others] = waiting.filter((invocation) => this.mayRun(invocation));
    return others.reduce((best, each) => (best && this.#isBefore(each, best) ? each : best), first);
  }

  #isBefore({ client }: Invocation, { client: other }: Invocation): boolean {
    const difference = this.#count(client) - this.#count(other);
    if (difference !== 0 || client === undefined || other === undefined) return difference < 0;
    return this.#order.indexOf(client) < this.#order.indexOf(other);
  }

  #count(client: string | undefined): number {
    return client === undefined ? 0 : (this.#running.get(client) ?? 0);
  }
}
