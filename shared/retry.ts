import { setTimeout as pause } from 'node:timers/promises';

/** Retries work until it succeeds. `delayMs` returns the delay before the next attempt, or throws to give up. */
export async function retry<T>(
  work: () => Promise<T>,
  delayMs: (error: unknown, attempt: number) => number,
  signal?: AbortSignal,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (signal?.aborted) throw error;
      await pause(delayMs(error, attempt), undefined, { signal });
    }
  }
}

/** Returns an exponential backoff with jitter, so that clients that failed together do not retry together. */
export function backoff(attempt: number, firstMs: number, maxMs: number = Number.POSITIVE_INFINITY): number {
  return Math.min(maxMs, firstMs * 2 ** (attempt - 1)) * (0.5 + Math.random() / 2);
}
