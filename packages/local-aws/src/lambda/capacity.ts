import type { IdleEnvironments } from './idle-environments.ts';

/** The environments of a function, or of one of its tenants, among others. */
interface Fleet {
  /** Whether there is work, and no environment for it. */
  readonly isStarved: boolean;
  /** When an environment was last started. */
  readonly lastStart: number;
  /** Starts environments as far as there is work, and room for them. */
  scale(): void;
}

/** How long an idle environment is left to its owner while another would like to have more. */
const keptMs = 5_000;

/** How many environments several fleets together may have, and which of them has the next when all are taken. */
export class Capacity {
  readonly #max: () => number;
  readonly #idle: IdleEnvironments;
  readonly #fleets = new Set<Fleet>();
  #taken = 0;
  /** Environments that were ended to make room, as far as that has not come of it yet. */
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
   * Takes room for one environment, and says whether there was some; if not, an idle one ends and makes room. If the fleet
   * already has environments, only one that has been idle for a while ends: its owner may be back in a moment.
   */
  take(isStarved: boolean): boolean {
    if (!this.#full) {
      this.#taken += 1;
      return true;
    }
    if (this.#ending < Math.max(1, this.#starved) && this.#idle.endOldest(isStarved ? 0 : keptMs)) this.#ending += 1;
    return false;
  }

  /** Says whether an environment that could go on has to end, because another fleet has work and no environment at all. */
  reclaim(): boolean {
    if (!this.#full || this.#ending >= this.#starved) return false;
    this.#ending += 1;
    return true;
  }

  /** Says that an environment has become idle, and can make room for another. */
  idle(): void {
    if (this.#full) this.#scale();
  }

  release(): void {
    this.#taken -= 1;
    this.#ending = Math.max(0, this.#ending - 1);
    this.#scale();
  }

  /** Lets fleets start environments: those first that have none, and of them the one that had none for longest. */
  #scale(): void {
    const { starved = [], others = [] } = Object.groupBy(this.#fleets, ({ isStarved }) =>
      isStarved ? 'starved' : 'others',
    );
    starved.sort((one, other) => one.lastStart - other.lastStart);
    for (const fleet of [...starved, ...others]) fleet.scale();
  }
}
