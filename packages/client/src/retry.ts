/** How often, and after which pauses, a request is sent again. */
export interface RetryPolicy {
  /** How many times a request is sent again. */
  retries: number;
  /** Before the first retry; it doubles with each, and a random part of it is left out. */
  minPauseMs: number;
  maxPauseMs: number;
  /** The longest time that the service may ask to wait; a request that would have to wait longer fails at once. */
  maxRetryAfterMs: number;
}

export const defaultRetryPolicy: RetryPolicy = {
  retries: 5,
  minPauseMs: 400,
  maxPauseMs: 20_000,
  maxRetryAfterMs: Number.POSITIVE_INFINITY,
};

/** Returns how long to wait before a retry where the service does not say: a random part of a pause that grows. */
export function pauseBefore(retry: number, { minPauseMs, maxPauseMs }: RetryPolicy): number {
  return Math.min(maxPauseMs, minPauseMs * 2 ** (retry - 1)) * (0.5 + Math.random() / 2);
}

/** Returns the milliseconds of a Retry-After header, which has seconds or a date. */
export function retryAfterOf(headers: Headers, now: number = Date.now()): number | undefined {
  const header = headers.get('retry-after')?.trim();
  if (!header) return undefined;
  if (/^\d+$/.test(header)) return Number(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** Waits, unless the signal aborts first: then it rejects with the signal's reason. */
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
