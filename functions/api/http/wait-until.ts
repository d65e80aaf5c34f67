import { withDeadline } from '../../../shared/concurrency.ts';
import { RecentValues } from '../../../shared/recent-values.ts';
import { HttpError } from './errors.ts';
import type { Hold } from './route.ts';

/** Time reserved for the last read. */
const reserveMs = 4_000;
/** Time reserved for the response itself. */
const responseMs = 1_000;
/** Minimum pause between reads, depending on whether the end can be predicted. */
const minPauseMs = { expected: 10, unknown: 40 };
const maxPauseMs = 2_000;
/** Maximum pause until the predicted end, because the work may end earlier. */
const maxGuessMs = 1_000;
/** Maximum latency that pauses add, as a fraction of the time that the work takes. */
const pausePart = 0.1;
/** The same for clients that poll. */
const retryPart = 0.5;
/** Fraction of the predicted time that passes before the first read, because the work may be faster this time. */
const certainPart = 0.8;
/** Bounds of Retry-After. */
const retrySeconds = { min: 1, max: 10 };

/** Duration of the last completed work of each kind, in milliseconds. */
const lastTimes = new RecentValues<number>({ milliseconds: 60_000, max: 1_000 });

interface Timed {
  createdAt: string;
  startedAt?: string;
  endedAt?: string;
}

export interface Wait<T, Body> {
  read(): Promise<T>;
  present(value: T): Body | Promise<Body>;
  /** Returns a key for work that takes about the same time. */
  kindOf(value: T): string;
  isDone(value: T): boolean | Promise<boolean>;
  remainingMs(): number;
  hold: Hold;
}

export interface Waited<Body> {
  body: Body;
  /** Contains Retry-After if the work is not done. */
  headers: Record<string, string>;
}

/**
 * Polls a record until the work is done or the request cannot wait any longer. Hundreds of requests may wait concurrently, so
 * reads are rare until the work is expected to end. After that, pauses grow to a tenth of the elapsed time. If a read fails or
 * is late, the client gets the previous result and retries.
 */
export async function waitUntil<T extends Timed, Body>({
  read,
  present,
  kindOf,
  isDone,
  remainingMs,
  hold,
}: Wait<T, Body>): Promise<Waited<Body>> {
  const start = Date.now();
  const deadline = start + Math.min(hold.milliseconds, remainingMs() - reserveMs);
  let known: Waited<Body> | undefined;

  /** Reads once. Returns the response if the wait is over, or the pause before the next read. */
  async function poll(): Promise<Waited<Body> | number> {
    const value = await read();
    const now = Date.now();
    const taken = timeOf(value, now);
    if (await isDone(value)) {
      if (taken > 0) lastTimes.set(kindOf(value), taken);
      return { body: await present(value), headers: {} };
    }
    const lastTime = lastTimes.get(kindOf(value));
    const expectedMs = lastTime ?? 0;
    const isLast = now >= deadline;
    if (isLast || !known)
      known = {
        body: await present(value),
        headers: retryAfter(Math.max(taken * retryPart, expectedMs - taken)),
      };
    if (isLast) return known;
    const untilLikely = Math.min(maxGuessMs, expectedMs * certainPart - taken);
    const minMs = lastTime === undefined ? minPauseMs.unknown : minPauseMs.expected;
    return Math.max(minMs, Math.min(maxPauseMs, taken * pausePart), untilLikely);
  }

  try {
    for (;;) {
      let failure: unknown;
      const seen = await withDeadline(poll(), remainingMs() - responseMs).catch((error: unknown) => {
        if (error instanceof HttpError) throw error;
        failure = error;
        return undefined;
      });
      if (typeof seen === 'object') return seen;
      if (seen === undefined && Date.now() >= deadline) {
        if (known) return known;
        throw failure ?? new Error('The read timed out.');
      }
      const pause = Math.min(seen ?? maxPauseMs, Math.max(0, deadline - Date.now()));
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  } finally {
    hold.giveBack(hold.milliseconds - (Date.now() - start));
  }
}

/** Returns the duration of work since its start. The time before that may include hours of waiting for an upload. */
function timeOf({ createdAt, startedAt, endedAt }: Timed, now: number): number {
  return (endedAt === undefined ? now : Date.parse(endedAt)) - Date.parse(startedAt ?? createdAt);
}

function retryAfter(milliseconds: number): Record<string, string> {
  const seconds = Math.min(Math.max(Math.round(milliseconds / 1_000), retrySeconds.min), retrySeconds.max);
  return { 'Retry-After': String(seconds) };
}
