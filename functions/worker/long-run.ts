import { keepRun, longRunsKey, removeRuns } from '../../shared/aws/stores/long-runs.ts';
import {
  expiredRuns,
  isShareTaken,
  type LongRuns,
  longRunMs,
  longRunWindowMs,
  runName,
} from '../../shared/tasks/long-runs.ts';
import type { Task } from '../../shared/tasks/task.ts';

/** Maximum number of dead runs that are removed at a time, because an expression is limited to 4 KB. */
const maxRemoved = 100;

/** Records a run as a long run of its account once it has lasted long enough, and removes it at its end. */
export class LongRun {
  readonly #task: Task;
  readonly #engine: string;
  readonly #share: number;
  #due = Date.now() + longRunMs;
  #runs: LongRuns | undefined;

  constructor(engine: string, task: Task, share: number) {
    this.#engine = engine;
    this.#task = task;
    this.#share = share;
  }

  /** Renews the run when that is due. Returns false if the run has to yield to earlier ones of its account. */
  async goesOn(now: number): Promise<boolean> {
    if (now < this.#due) return true;
    this.#due = now + longRunMs;
    const isFirst = this.#runs === undefined;
    this.#runs = await keepRun(this.#key, runName(this.#task), now + longRunWindowMs);
    this.#due = now + longRunWindowMs / 3;
    return !isFirst || !isShareTaken(this.#runs, this.#task.id, this.#share, now);
  }

  /** Removes the run if it was recorded, together with dead runs. */
  async end(now: number): Promise<void> {
    if (!this.#runs) return;
    const expired = expiredRuns(this.#runs, now).slice(0, maxRemoved);
    await removeRuns(this.#key, [...new Set([runName(this.#task), ...expired])], now);
  }

  get #key() {
    return longRunsKey(this.#task.user, this.#engine);
  }
}
