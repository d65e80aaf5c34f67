const longestMs = 25_000;
/** Time kept back for the answer itself. */
const reserveMs = 2_000;
const firstPauseMs = 40;
const longestPauseMs = 500;

/** Reads until what is read is as awaited, or 25 seconds are over, and returns the last reading either way. */
export async function waitUntil<T>(
  read: () => Promise<T>,
  isOver: (value: T) => boolean,
  remainingMs: () => number,
): Promise<T> {
  const deadline = Date.now() + Math.min(longestMs, remainingMs() - reserveMs);
  for (let pause = firstPauseMs; ; pause = Math.min(longestPauseMs, pause * 1.3)) {
    const value = await read();
    const left = deadline - Date.now();
    if (isOver(value) || left <= 0) return value;
    await new Promise((resolve) => setTimeout(resolve, Math.min(pause, left)));
  }
}
