import { withDeadline } from '../../../shared/concurrency.ts';
import { RecentValues } from '../../../shared/recent-values.ts';
import { HttpError } from './errors.ts';
import type { Hold } from './route.ts';

/** Time reserved for the last look. */
const reserveMs = 4_000;
/** Time reserved for the response itself. */
const responseMs = 1_000;
/** About the time that the end is expected, and where nothing is known of that. */
const minPauseMs = { expected: 10, unknown: 40 };
const maxPauseMs = 2_000;
/** The longest pause for the sole reason that others took longer. */
const maxGuessMs = 1_000;
/** What the pauses may add to the time that the work itself takes. */
const pausePart = 0.1;
/** What a client that is not held may add to it. */
const retryPart = 0.5;
/** How much of the time that others took passes before the first look: what is waited for may be faster this time. */
const certainPart = 0.8;
/** After how many seconds a client asks again. */
const retrySeconds = { min: 1, max: 10 };

/** How long the last work of a kind took that was waited for, in milliseconds. */
const lastTimes = new RecentValues<number>({ milliseconds: 60_000, max: 1_000 });

interface Timed {
  createdAt: string;
  startedAt?: string;
  endedAt?: string;
}

export interface Wait<T, Body> {
  read(): Promise<T>;
  /** Returns the body of the response. */
  present(value: T): Body | Promise<Body>;
  /** Names what takes about as long. */
  kindOf(value: T): string;
  isDone(value: T): boolean | Promise<boolean>;
  remainingMs(): number;
  hold: Hold;
}

export interface Waited<Body> {
  /** What was read last. */
  body: Body;
  /** Says when to ask again if the work is not done. */
  headers: Record<string, string>;
}

/**
 * Reads until the work is done or the request may be held no longer. It looks rarely until about the time that the last such
 * work took, and then the more rarely the longer the work has taken, since nobody notices a tenth of a time that is long
 * anyway: hundreds may be waiting at once. A read that fails, or is late, is no failure of the work: the client gets what was
 * read before, and asks again.
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

  /** Looks once; returns the response if that is it, or else for how long to pause. */
  async function look(): Promise<Waited<Body> | number> {
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
      const seen = await withDeadline(look(), remainingMs() - responseMs).catch((error: unknown) => {
        if (error instanceof HttpError) throw error;
        failure = error;
        return undefined;
      });
      if (typeof seen === 'object') return seen;
      if (seen === undefined && Date.now() >= deadline) {
        if (known) return known;
        throw failure ?? new Error('A read is late.');
      }
      const pause = Math.min(seen ?? maxPauseMs, Math.max(0, deadline - Date.now()));
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  } finally {
    hold.giveBack(hold.milliseconds - (Date.now() - start));
  }
}

/** Returns how long work has taken: from its start, since what is created may wait for its upload for hours. */
function timeOf({ createdAt, startedAt, endedAt }: Timed, now: number): number {
  return (endedAt === undefined ? now : Date.parse(endedAt)) - Date.parse(startedAt ?? createdAt);
}

function retryAfter(milliseconds: number): Record<string, string> {
  const seconds = Math.min(Math.max(Math.round(milliseconds / 1_000), retrySeconds.min), retrySeconds.max);
  return { 'Retry-After': String(seconds) };
}
