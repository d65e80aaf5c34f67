import { RecentValues } from '../../../shared/recent-values.ts';

const maxWaitMs = 25_000;
/** Time reserved for the response itself. */
const reserveMs = 2_000;
const minPauseMs = 40;
const maxPauseMs = 1_000;
/** What the pauses may add to the time that the work itself takes. */
const pausePerWait = 0.1;
/** How much of the time that others waited passes before the first look: what is waited for may be faster this time. */
const certainPart = 0.8;

/** How long those waited who waited last for work of a kind, in milliseconds. */
const lastWaits = new RecentValues<number>({ milliseconds: 60_000, max: 1_000 });

export interface Wait<T> {
  read(): Promise<T>;
  /** Names what takes about as long. */
  kindOf(value: T): string;
  isDone(value: T): boolean | Promise<boolean>;
  remainingMs(): number;
}

/**
 * Reads until the work is done or 25 seconds have passed, and returns the last value read either way. It looks rarely until
 * about the time that the last such work took, and then the more rarely the longer it has waited, since nobody notices a tenth
 * of a time that is long anyway: hundreds may be waiting at once.
 */
export async function waitUntil<T extends { endedAt?: string }>({
  read,
  kindOf,
  isDone,
  remainingMs,
}: Wait<T>): Promise<T> {
  const start = Date.now();
  const deadline = start + Math.min(maxWaitMs, remainingMs() - reserveMs);
  for (;;) {
    const value = await read();
    const kind = kindOf(value);
    const now = Date.now();
    if (await isDone(value)) {
      const endedAt = value.endedAt === undefined ? now : Date.parse(value.endedAt);
      lastWaits.set(kind, Math.max(0, endedAt - start));
      return value;
    }
    if (now >= deadline) return value;
    const waited = now - start;
    const expectedMs = (lastWaits.get(kind) ?? 0) * certainPart;
    const pause = Math.max(minPauseMs, waited * pausePerWait, expectedMs - waited);
    await new Promise((resolve) => setTimeout(resolve, Math.min(maxPauseMs, pause, deadline - now)));
  }
}
