import {
  type Period,
  periodMs,
  type RateStore,
  type Taken,
  type Taking,
} from '../../../functions/api/http/rate-store.ts';

interface Counters {
  period: Period | undefined;
  uses: Map<string, number>;
}

/** Counters as the table keeps them, in memory. */
export class MemoryRates implements RateStore {
  readonly #accounts = new Map<string, Counters>();
  /** Passes before a call has its effect, and again before its caller learns of that. */
  readonly #travel: () => Promise<unknown>;
  writes = 0;

  constructor(travel: () => Promise<unknown> = async () => {}) {
    this.#travel = travel;
  }

  take(taking: Taking): Promise<Taken> {
    return this.#write(taking, ({ period }) => {
      if (!period || period.until <= taking.now) return undefined;
      const used = { ...period.used };
      for (const { bucket, count, limit = Number.POSITIVE_INFINITY } of taking.tokens) {
        if (bucket in used && (used[bucket] ?? 0) > limit - count) return undefined;
        used[bucket] = (used[bucket] ?? 0) + count;
      }
      return { until: period.until, used };
    });
  }

  begin(taking: Taking): Promise<Taken> {
    return this.#write(taking, ({ period }) => {
      if (period && period.until > taking.now) return undefined;
      const used = Object.fromEntries(taking.tokens.map(({ bucket, count }) => [bucket, count]));
      return { until: taking.now + periodMs, used };
    });
  }

  async noteUse(account: string, key: string, now: number): Promise<void> {
    this.writes += 1;
    this.#countersOf(account).uses.set(key, now);
  }

  /** Returns the last period of an account. */
  period(account: string): Period | undefined {
    return this.#countersOf(account).period;
  }

  /** Returns when keys were last used. */
  uses(account: string): Map<string, number> {
    return this.#countersOf(account).uses;
  }

  async #write({ account, key, now }: Taking, change: (counters: Counters) => Period | undefined): Promise<Taken> {
    this.writes += 1;
    await this.#travel();
    const counters = this.#countersOf(account);
    const changed = change(counters);
    if (changed) {
      counters.period = changed;
      if (key !== undefined) counters.uses.set(key, now);
    }
    const seen = counters.period && structuredClone(counters.period);
    await this.#travel();
    return { taken: changed !== undefined, period: seen };
  }

  #countersOf(account: string): Counters {
    const counters = this.#accounts.get(account) ?? { period: undefined, uses: new Map() };
    this.#accounts.set(account, counters);
    return counters;
  }
}
