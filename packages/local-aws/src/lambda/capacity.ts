import type { IdleEnvironments } from './idle-environments.ts';

/** The environments of a function, or of one of its tenants. */
interface Fleet {
  /** Whether there is work but no environment. */
  readonly isStarved: boolean;
  /** When an environment was last started. */
  readonly lastStart: number;
  /** Starts environments as needed and as far as there is room. */
  scale(): void;
}

/** How long an idle environment is left to its owner while another fleet wants more. */
const keptMs = 5_000;

/** Limits the environments of several fleets together, and decides which fleet gets the next one. */
export class Capacity {
  readonly #max: () => number;
  readonly #idle: IdleEnvironments;
  readonly #fleets = new Set<Fleet>();
  #taken = 0;
  /** Environments that are ending to make room. */
  #ending = 0;

  constructor(max: () => number, idle: IdleEnvironments) {
    this.#max = max;
    this.#idle = idle;
  }

  add(fleet: Fleet): void {
    this.#fleets.add(fleet);
  }

  remove(fleet: Fleet): void {
    this.#fleets.delete(fleet);
  }

  get #full(): boolean {
    return this.#taken >= this.#max();
  }

  get #starved(): number {
    return [...this.#fleets].filter(({ isStarved }) => isStarved).length;
  }

  /**
   * Takes room for one environment, and returns whether there was some. Otherwise an idle one ends to make room. If the
   * fleet already has environments, only one that has been idle for a while ends: its owner may need it again soon.
   */
  take(isStarved: boolean): boolean {
    if (!this.#full) {
      this.#taken += 1;
      return true;
    }
    if (this.#ending < Math.max(1, this.#starved) && this.#idle.endOldest(isStarved ? 0 : keptMs)) this.#ending += 1;
    return false;
  }

  /** Returns whether an environment has to end because another fleet has work but no environment. */
  reclaim(): boolean {
    if (!this.#full || this.#ending >= this.#starved) return false;
    this.#ending += 1;
    return true;
  }

  /** Reports that an environment has become idle, and can make room for another. */
  idle(): void {
    if (this.#full) this.#scale();
  }

  release(): void {
    this.#taken -= 1;
    this.#ending = Math.max(0, this.#ending - 1);
    this.#scale();
  }

  /** Lets fleets start environments: first those without any, longest-waiting first. */
  #scale(): void {
    const { starved = [], others = [] } = Object.groupBy(this.#fleets, ({ isStarved }) =>
      isStarved ? 'starved' : 'others',
    );
    starved.sort((one, other) => one.lastStart - other.lastStart);
    for (const fleet of [...starved, ...others]) fleet.scale();
  }
}
