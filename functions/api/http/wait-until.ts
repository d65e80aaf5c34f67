const maxWaitMs = 25_000;
/** Time reserved for the response itself. */
const reserveMs = 2_000;
const firstPauseMs = 40;
const maxPauseMs = 500;

/** Reads until a condition holds or 25 seconds have passed, and returns the last value read either way. */
export async function waitUntil<T>(
  read: () => Promise<T>,
  isDone: (value: T) => boolean,
  remainingMs: () => number,
): Promise<T> {
  const deadline = Date.now() + Math.min(maxWaitMs, remainingMs() - reserveMs);
  for (let pause = firstPauseMs; ; pause = Math.min(maxPauseMs, pause * 1.3)) {
    const value = await read();
    const left = deadline - Date.now();
    if (isDone(value) || left <= 0) return value;
    await new Promise((resolve) => setTimeout(resolve, Math.min(pause, left)));
  }
}
