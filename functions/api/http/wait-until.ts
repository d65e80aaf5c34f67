const maxWaitMs = 25_000;
/** Time reserved for the response itself. */
const reserveMs = 2_000;
const minPauseMs = 40;
const maxPauseMs = 1_000;
/** What the pauses may add to the time that the work itself takes. */
const pausePerWait = 0.1;

/**
 * Reads until a condition holds or 25 seconds have passed, and returns the last value read either way. The longer it has
 * waited, the longer it pauses, since nobody notices a tenth of a time that is long anyway.
 */
export async function waitUntil<T>(
  read: () => Promise<T>,
  isDone: (value: T) => boolean | Promise<boolean>,
  remainingMs: () => number,
): Promise<T> {
  const start = Date.now();
  const deadline = start + Math.min(maxWaitMs, remainingMs() - reserveMs);
  for (;;) {
    const value = await read();
    const left = deadline - Date.now();
    if (left <= 0 || (await isDone(value))) return value;
    const pause = Math.min(maxPauseMs, Math.max(minPauseMs, (Date.now() - start) * pausePerWait), left);
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}
