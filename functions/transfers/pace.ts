import { failed } from './failures.ts';

/** Minimum rate that the other side of a transfer must keep, so that a slow one cannot occupy a worker. */
export interface Pace {
  bytesPerSecond: number;
  /** Window over which the rate is measured. */
  windowMs: number;
  /** Time for the first byte, with all attempts to get it, and for the last confirmation once everything was sent. */
  silenceMs: number;
}

/**
 * 16 KB per second is an eighth of a megabit: below any link that files are moved over, and no more than 14 MB in the 15
 * minutes of a worker. Over a minute, so that a pause of a server or a connection that is resumed costs nothing.
 * Five attempts of 30 seconds without a response and the delays between them take less than 180 seconds.
 */
export const defaultPace: Pace = { bytesPerSecond: 16 * 1024, windowMs: 60_000, silenceMs: 180_000 };

/** For transfers from and to AWS itself: no user controls their rate, and a stalled one is retried. */
export const anyPace: Pace = { bytesPerSecond: 0, windowMs: 60_000, silenceMs: Number.POSITIVE_INFINITY };

/** Parts of a window that are counted apart. One more is kept, so that what is summed up is never less than a window. */
const slotsOfWindow = 12;
const slots = slotsOfWindow + 1;

/** Measures whether the other side keeps the pace. Only the time spent waiting for it counts. */
export class PaceMeter {
  readonly #pace: Pace;
  readonly #now: () => number;
  readonly #slots: number[] = [];
  /** When its turn began; undefined while it is ours. */
  #turnSince: number | undefined;
  #waitedMs = 0;
  /** How long was waited when the window could begin, and the slot that is being filled. */
  #windowFrom = 0;
  #slot = 0;
  #isSilent = true;

  constructor(pace: Pace, now: () => number = () => performance.now()) {
    this.#pace = pace;
    this.#now = now;
    this.#turnSince = now();
  }

  /** Starts counting time: the other side has to send, or to accept. */
  itsTurn(): void {
    this.#turnSince ??= this.#now();
  }

  /** Stops counting time: we store, or fetch what is to be sent. */
  ourTurn(): void {
    this.#waitedMs = this.#waited();
    this.#turnSince = undefined;
  }

  /** Counts bytes that were received or accepted. */
  count(bytes: number): void {
    if (bytes <= 0) return;
    this.#advance();
    if (this.#isSilent) this.#restart(false);
    this.#slots[this.#slot % slots] = (this.#slots[this.#slot % slots] ?? 0) + bytes;
  }

  /** Expects nothing more but the final response of the other side. */
  expectSilence(): void {
    if (!this.#isSilent) this.#restart(true);
  }

  get isTooSlow(): boolean {
    const { bytesPerSecond, windowMs, silenceMs } = this.#pace;
    const waited = this.#waited() - this.#windowFrom;
    if (this.#isSilent) return waited >= silenceMs;
    if (waited < windowMs) return false;
    this.#advance();
    return this.#slots.reduce((sum, bytes) => sum + bytes, 0) < (bytesPerSecond * windowMs) / 1000;
  }

  /** Describes what was too slow. */
  describe(verb: 'sent' | 'accepted'): string {
    const { bytesPerSecond, windowMs, silenceMs } = this.#pace;
    if (this.#isSilent)
      return `The other side did not respond within ${Math.round(silenceMs / 1000)} seconds, so the transfer was aborted.`;
    return `The other side ${verb} less than ${Math.round(bytesPerSecond / 1024)} KB per second over ${Math.round(windowMs / 1000)} seconds, so the transfer was aborted.`;
  }

  #restart(isSilent: boolean): void {
    this.#isSilent = isSilent;
    this.#windowFrom = this.#waited();
    this.#slot = 0;
    this.#slots.length = 0;
  }

  #waited(): number {
    return this.#waitedMs + (this.#turnSince === undefined ? 0 : this.#now() - this.#turnSince);
  }

  /** Empties the slots that have come round since the last look. */
  #advance(): void {
    const slotMs = this.#pace.windowMs / slotsOfWindow;
    const slot = Math.floor((this.#waited() - this.#windowFrom) / slotMs);
    for (let next = Math.max(this.#slot + 1, slot - slots + 1); next <= slot; next++) this.#slots[next % slots] = 0;
    this.#slot = Math.max(this.#slot, slot);
  }
}

/** Aborts a transfer, with a failure for the user as the reason, when the other side is too slow. */
export class PaceWatch {
  readonly meter: PaceMeter;
  /** Aborted when the run is, or when the other side is too slow. */
  readonly signal: AbortSignal;
  readonly #timer: NodeJS.Timeout;

  /** `look` is called before each check, for what is counted elsewhere. */
  constructor(pace: Pace, signal: AbortSignal, verb: 'sent' | 'accepted', look: (meter: PaceMeter) => void = () => {}) {
    const controller = new AbortController();
    this.meter = new PaceMeter(pace);
    this.signal = AbortSignal.any([signal, controller.signal]);
    this.#timer = setInterval(() => {
      look(this.meter);
      if (this.meter.isTooSlow) controller.abort(failed(this.meter.describe(verb)));
    }, pace.windowMs / slotsOfWindow);
    this.#timer.unref();
  }

  /** Ends the watch; the signal is not aborted any more. */
  stop(): void {
    clearInterval(this.#timer);
  }
}
