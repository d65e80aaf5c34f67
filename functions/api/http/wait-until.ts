import { RecentValues } from '../../../shared/recent-values.ts';
import type { Hold } from './route.ts';

/** Time reserved for the response itself. */
const reserveMs = 2_000;
const minPauseMs = 40;
const maxPauseMs = 1_000;
/** What the pauses may add to the time that the work itself takes. */
const pausePerWait = 0.1;
/** How much of the time that others waited passes before the first look: what is waited for may be faster this time. */
const certainPart = 0.8;
/** After how many seconds a client asks again. */
const retrySeconds = { min: 1, max: 5 };

/** How long those waited who waited last for work of a kind, in milliseconds. */
const lastWaits = new RecentValues<number>({ milliseconds: 60_000, max: 1_000 });

export interface Wait<T> {
  read(): Promise<T>;
  /** Names what takes about as long. */
  kindOf(value: T): string;
  isDone(value: T): boolean | Promise<boolean>;
  remainingMs(): number;
  hold: Hold;
}

export interface Waited<T> {
  /** What was read last. */
  value: T;
  /** Says when to ask again if the work is not done. */
  headers: Record<string, string>;
}

/**
 * Reads until the work is done or the request may be held no longer. It looks rarely until about the time that the last such
 * work took, and then the more rarely the longer it has waited, since nobody notices a tenth of a time that is long anyway:
 * hundreds may be waiting at once.
 */
export async function waitUntil<T extends { createdAt: string; endedAt?: string }>({
  read,
  kindOf,
  isDone,
  remainingMs,
  hold,
}: Wait<T>): Promise<Waited<T>> {
  const start = Date.now();
  const deadline = start + Math.min(hold.milliseconds, remainingMs() - reserveMs);
  try {
    for (;;) {
      const value = await read();
      const kind = kindOf(value);
      const now = Date.now();
      const waited = now - start;
      if (await isDone(value)) {
        const endedAt = value.endedAt === undefined ? now : Date.parse(value.endedAt);
        // What had ended before says nothing of how long others have to wait.
        if (endedAt >= start) lastWaits.set(kind, endedAt - start);
        return { value, headers: {} };
      }
      if (now >= deadline)
        return { value, headers: retryAfter(lastWaits.get(kind) ?? now - Date.parse(value.createdAt)) };
      const expectedMs = (lastWaits.get(kind) ?? 0) * certainPart;
      const pause = Math.max(minPauseMs, waited * pausePerWait, expectedMs - waited);
      await new Promise((resolve) => setTimeout(resolve, Math.min(maxPauseMs, pause, deadline - now)));
    }
  } finally {
    hold.giveBack(hold.milliseconds - (Date.now() - start));
  }
}

/** Has a client ask again after the time that such work took last or, where that is not known, after as long as it has taken. */
function retryAfter(expectedMs: number): Record<string, string> {
  const seconds = Math.min(Math.max(Math.round(expectedMs / 1_000), retrySeconds.min), retrySeconds.max);
  return { 'Retry-After': String(seconds) };
}
