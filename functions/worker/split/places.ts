import { runName } from '../../../shared/tasks/long-runs.ts';
import type { Task } from '../../../shared/tasks/task.ts';
import { claimMs, expiredClaims, type PlaceClaims, placesOf } from './share-places.ts';
import { writeClaim } from './stored-places.ts';

const minPauseMs = 1_000;
const renewMs = claimMs / 3;
/** Dead claims that are removed in one write: an expression is limited to 4 KB. */
const maxRemoved = 50;

/** The places that a split run takes of those that all of them share. */
export class Places {
  readonly #task: Task;
  readonly #max: number;
  #claims: PlaceClaims = {};
  #due = 0;
  #written: { wants: number; holds: number } | undefined;
  #granted = 0;

  constructor(task: Task, max: number) {
    this.#task = task;
    this.#max = max;
  }

  /**
   * Returns how many parts may be in progress. What a run holds is written before it is used, and the last of two writes sees the
   * other, so that together they never take more than there are.
   */
  async renew(active: number, waiting: number, now: number): Promise<number> {
    const wants = active + waiting;
    // With fewer places than it wants, it asks each second: others may have given up theirs.
    const isChanged = wants !== this.#written?.wants || wants !== this.#granted || wants !== this.#written.holds;
    if (now < this.#due && !(isChanged && now >= this.#due - renewMs + minPauseMs)) return this.#granted;
    const known = { ...this.#claims, [this.#name]: this.#claim(wants, active, now) };
    const wished = Math.max(active, Math.min(wants, placesOf(known, this.#name, this.#max, now)));
    const granted = await this.#write(wants, wished, now);
    // Others have claimed places meanwhile. What is not used is theirs at once.
    const allowed = Math.max(active, Math.min(wished, granted));
    this.#granted = allowed < wished ? Math.min(allowed, await this.#write(wants, allowed, now)) : allowed;
    this.#granted = Math.max(active, this.#granted);
    this.#due = now + renewMs;
    return this.#granted;
  }

  /** Gives up all places. If this fails, they are free after a few seconds. */
  async end(now: number): Promise<void> {
    if (this.#written) await writeClaim(this.#name, undefined, [], now);
  }

  async #write(wants: number, holds: number, now: number): Promise<number> {
    const expired = expiredClaims(this.#claims, now).filter((name) => name !== this.#name);
    const claim = this.#claim(wants, holds, now);
    this.#claims = await writeClaim(this.#name, claim, expired.slice(0, maxRemoved), now);
    this.#written = { wants, holds };
    return placesOf(this.#claims, this.#name, this.#max, now);
  }

  #claim(wants: number, holds: number, now: number) {
    return { user: this.#task.user, until: now + claimMs, wants, holds };
  }

  get #name(): string {
    return runName(this.#task);
  }
}
