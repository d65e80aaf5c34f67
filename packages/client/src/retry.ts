/** How often and after which delays a request is retried. */
export interface RetryPolicy {
  /** Maximum number of retries. */
  retries: number;
  /** Delay before the first retry; doubles with each, minus a random part. */
  minPauseMs: number;
  maxPauseMs: number;
  /** Longest accepted Retry-After; a request that would have to wait longer fails immediately. */
  maxRetryAfterMs: number;
}

export const defaultRetryPolicy: RetryPolicy = {
  retries: 5,
  minPauseMs: 400,
  maxPauseMs: 20_000,
  maxRetryAfterMs: Number.POSITIVE_INFINITY,
};

/** Returns an exponential backoff with jitter, for when there is no Retry-After header. */
export function pauseBefore(retry: number, { minPauseMs, maxPauseMs }: RetryPolicy): number {
  return Math.min(maxPauseMs, minPauseMs * 2 ** (retry - 1)) * (0.5 + Math.random() / 2);
}

/** Parses a Retry-After header, in seconds or as a date, to milliseconds. */
export function retryAfterOf(headers: Headers, now: number = Date.now()): number | undefined {
  const header = headers.get('retry-after')?.trim();
  if (!header) return undefined;
  if (/^\d+$/.test(header)) return Number(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** Waits, or rejects with the signal's reason if it aborts first. */
export function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, milliseconds);
    signal?.addEventListener('abort', abort, { once: true });
  });
}
