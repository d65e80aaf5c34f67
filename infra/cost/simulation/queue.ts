/** Equal tasks of one account that arrived in the same second. */
interface Batch {
  account: number;
  since: number;
  tasks: number;
}

/** Tasks of an account that one second took out of a queue, and how long they had waited. */
export interface Taken {
  account: number;
  waitedSeconds: number;
  tasks: number;
}

/** Thresholds from which SQS treats an account as a noisy neighbour: its messages in flight, and its share of all. */
const noisyInFlight = 30;
const noisyShare = 0.1;

/**
 * A standard SQS queue whose messages carry their account as the message group. While one account has more than a tenth
 * of the messages in flight, and there is a backlog, messages of the others come first. Without accounts, the oldest
 * come first.
 */
export class FairQueue {
  readonly #batches = new Map<number, Batch[]>();
  readonly #inFlight = new Map<number, number>();
  readonly #isFair: boolean;
  #waiting = 0;
  #running = 0;

  constructor(isFair: boolean) {
    this.#isFair = isFair;
  }

  get waiting(): number {
    return this.#waiting;
  }

  get running(): number {
    return this.#running;
  }

  add(account: number, now: number, tasks: number): void {
    if (tasks <= 0) return;
    const batches = this.#batches.get(account) ?? [];
    const last = batches.at(-1);
    if (last?.since === now) last.tasks += tasks;
    else batches.push({ account, since: now, tasks });
    this.#batches.set(account, batches);
    this.#waiting += tasks;
  }

  /** Takes up to that many tasks for workers. */
  take(capacity: number, now: number): Taken[] {
    const taken: Taken[] = [];
    const isBacklog = capacity < this.#waiting;
    for (let left = Math.min(capacity, this.#waiting); left > 0; ) {
      const batch = isBacklog ? this.#next() : this.#any();
      if (!batch) break;
      // In small portions, since an account becomes noisy while it is served.
      const portion = this.#isFair && isBacklog ? Math.max(1, Math.floor(capacity / 50)) : left;
      const tasks = Math.min(left, batch.tasks, portion);
      batch.tasks -= tasks;
      left -= tasks;
      this.#waiting -= tasks;
      this.#running += tasks;
      this.#inFlight.set(batch.account, (this.#inFlight.get(batch.account) ?? 0) + tasks);
      if (batch.tasks === 0) this.#remove(batch);
      taken.push({ account: batch.account, waitedSeconds: now - batch.since, tasks });
    }
    return taken;
  }

  /** Records that workers have finished tasks of an account. */
  done(account: number, tasks: number): void {
    this.#running -= tasks;
    this.#inFlight.set(account, Math.max(0, (this.#inFlight.get(account) ?? 0) - tasks));
  }

  #remove({ account }: Batch): void {
    const left = this.#batches.get(account);
    left?.shift();
    if (left?.length === 0) this.#batches.delete(account);
  }

  /** Returns any message. If all are taken, order does not matter. */
  #any(): Batch | undefined {
    for (const [batch] of this.#batches.values()) return batch;
    return undefined;
  }

  #next(): Batch | undefined {
    const first = [...this.#batches.values()].flatMap(([batch]) => batch ?? []);
    const oldest = (batches: Batch[]) =>
      batches.reduce<Batch | undefined>((best, batch) => (best && best.since <= batch.since ? best : batch), undefined);
    if (!this.#isFair) return oldest(first);
    return oldest(first.filter(({ account }) => !this.#isNoisy(account))) ?? oldest(first);
  }

  #isNoisy(account: number): boolean {
    const own = this.#inFlight.get(account) ?? 0;
    return own >= noisyInFlight && own > this.#running * noisyShare;
  }
}
