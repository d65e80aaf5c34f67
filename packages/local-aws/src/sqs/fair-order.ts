/** The ordering properties of a message. Without a group, it is a tenant of its own. */
interface Waiting {
  messageGroupId?: string | undefined;
  sentTimestamp: number;
}

const noisyShare = 0.1;
const noisyInFlight = 30;
/** A group that has sent nothing for this long is quiet. Also the window for recent processing time. */
const recentMs = 5 * 60_000;
/** Shares of less time are not meaningful yet. SQS gives no figure; its thresholds "are approximate". */
const minTimeMs = 1_000;

/**
 * Orders the messages of a standard queue as an SQS fair queue does.
 * Imitates: a group is a noisy neighbor if it "accounts for more than 10% of in-flight messages in the queue and has at
 * least 30 of its own messages in flight", or if its "recent share of total consumer processing time exceeds 10%".
 * Messages of other groups are then delivered first, and among noisy groups those of the one "with the fewest in-flight
 * messages". It is quiet again once its backlog is drained, or if it has sent nothing for five minutes (SQS developer
 * guide, "How Amazon SQS fair queues work").
 */
export class FairOrder {
  /** Messages in flight by receipt handle. */
  readonly #inFlight = new Map<string, { group: string; since: number }>();
  /** Processing time of each group, with older time weighted less. */
  readonly #spent = new Map<string, { ms: number; at: number }>();

  /** Returns up to that many of the waiting messages, in delivery order. */
  choose<T extends Waiting>(waiting: T[], max: number, now: number): T[] {
    const noisy = this.#noisyOf(waiting, now);
    const quiet = waiting.filter(({ messageGroupId }) => messageGroupId === undefined || !noisy.has(messageGroupId));
    const chosen = quiet.slice(0, max);
    const left = [...noisy].map(([group, inFlight]) => ({
      inFlight,
      messages: waiting.filter(({ messageGroupId }) => messageGroupId === group),
    }));
    while (chosen.length < max) {
      const [next] = left
        .filter(({ messages }) => messages.length > 0)
        .sort((one, other) => one.inFlight - other.inFlight);
      if (!next) break;
      chosen.push(...next.messages.splice(0, 1));
      next.inFlight += 1;
    }
    return chosen;
  }

  /** Returns how many messages of a group are in flight. */
  inFlightOf(group: string): number {
    return [...this.#inFlight.values()].filter((message) => message.group === group).length;
  }

  received(handle: string, group: string, now: number): void {
    this.#inFlight.set(handle, { group, since: now });
  }

  /** Counts the time of messages that are no longer in flight. */
  ended(handles: Iterable<string>, now: number): void {
    for (const handle of handles) {
      const message = this.#inFlight.get(handle);
      if (!message) continue;
      this.#inFlight.delete(handle);
      const { group, since } = message;
      this.#spent.set(group, { ms: this.#recent(group, now) + now - since, at: now });
    }
  }

  /** Resets a group that has no message waiting. */
  drained(group: string, now: number): void {
    this.#spent.delete(group);
    for (const message of this.#inFlight.values()) if (message.group === group) message.since = now;
  }

  /** Receipt handles of messages in flight. */
  get handles(): string[] {
    return [...this.#inFlight.keys()];
  }

  /** Returns the noisy groups among the waiting ones, with their number of messages in flight. */
  #noisyOf(waiting: Waiting[], now: number): Map<string, number> {
    const lastSent = new Map<string, number>();
    for (const { messageGroupId: group, sentTimestamp } of waiting)
      if (group !== undefined) lastSent.set(group, Math.max(lastSent.get(group) ?? 0, sentTimestamp));
    const inFlight = new Map<string, number>();
    const time = new Map([...this.#spent.keys()].map((group) => [group, this.#recent(group, now)]));
    for (const { group, since } of this.#inFlight.values()) {
      inFlight.set(group, (inFlight.get(group) ?? 0) + 1);
      time.set(group, (time.get(group) ?? 0) + now - since);
    }
    const totalTime = [...time.values()].reduce((sum, ms) => sum + ms, 0);
    const isNoisy = (group: string) => {
      const own = inFlight.get(group) ?? 0;
      if (own >= noisyInFlight && own > noisyShare * this.#inFlight.size) return true;
      return totalTime >= minTimeMs && (time.get(group) ?? 0) > noisyShare * totalTime;
    };
    return new Map(
      [...lastSent].flatMap(([group, sent]) =>
        sent > now - recentMs && isNoisy(group) ? [[group, inFlight.get(group) ?? 0]] : [],
      ),
    );
  }

  #recent(group: string, now: number): number {
    const { ms, at } = this.#spent.get(group) ?? { ms: 0, at: now };
    return ms * Math.exp((at - now) / recentMs);
  }
}
