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
 * 16 KB per second is slower than any usable link, and only 14 MB in the 15 minutes of a worker. The window of a minute
 * tolerates a server that pauses or a connection that resumes. Five attempts with a timeout of 30 seconds and their delays
 * take less than 180 seconds.
 */
export const defaultPace: Pace = { bytesPerSecond: 16 * 1024, windowMs: 60_000, silenceMs: 180_000 };

/** For transfers from and to AWS itself: no user controls their rate, and a stalled one is retried. */
export const anyPace: Pace = { bytesPerSecond: 0, windowMs: 60_000, silenceMs: Number.POSITIVE_INFINITY };

/** Slots of a window. One more is kept, so that the sum always covers at least a window. */
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
  /** Waiting time at the start of the window, and the current slot. */
  #windowFrom = 0;
  #slot = 0;
  #isSilent = true;

  constructor(pace: Pace, now: () => number = () => performance.now()) {
    this.#pace = pace;
    this.#now = now;
    this.#turnSince = now();
  }

  /** Starts counting time: the other side has to send or accept data. */
  itsTurn(): void {
    this.#turnSince ??= this.#now();
  }

  /** Stops counting time: we store data, or fetch data to send. */
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

  /** Expects only the final response of the other side. */
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

  /** Clears the slots that have passed since the last call. */
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
  /** Aborted with the run, or when the other side is too slow. */
  readonly signal: AbortSignal;
  readonly #timer: NodeJS.Timeout;

  /** `update` is called before each check, to add bytes counted elsewhere. */
  constructor(
    pace: Pace,
    signal: AbortSignal,
    verb: 'sent' | 'accepted',
    update: (meter: PaceMeter) => void = () => {},
  ) {
    const controller = new AbortController();
    this.meter = new PaceMeter(pace);
    this.signal = AbortSignal.any([signal, controller.signal]);
    this.#timer = setInterval(() => {
      update(this.meter);
      if (this.meter.isTooSlow) controller.abort(failed(this.meter.describe(verb)));
    }, pace.windowMs / slotsOfWindow);
    this.#timer.unref();
  }

  /** Stops the watch; the signal is no longer aborted. */
  stop(): void {
    clearInterval(this.#timer);
  }
}
