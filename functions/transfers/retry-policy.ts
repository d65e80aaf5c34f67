import { backoff, retry } from '../../shared/retry.ts';
import { failed, Transient } from './failures.ts';

/** How often a failed request is retried, and the timeouts of each attempt. */
export interface RetryPolicy {
  /** Consecutive attempts without progress. */
  maxAttempts: number;
  /** Delay after the first failed attempt; it doubles with each. */
  backoffMs: number;
  /** Timeout to connect and to start a response, and between two chunks. */
  idleTimeoutMs: number;
}

export const defaultRetryPolicy: RetryPolicy = { maxAttempts: 5, backoffMs: 300, idleTimeoutMs: 30_000 };

/** A server that requests a longer delay counts as failed. */
const maxDelayMs = 30_000;

/** Retries work with exponential backoff while it fails with transient errors. */
export function retryTransient<T>(policy: RetryPolicy, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  return retry(work, (error, attempt) => retryDelay(error, attempt, policy), signal);
}

/** Returns the delay before the next attempt, or throws the error if another attempt would not help. */
export function retryDelay(error: unknown, attempt: number, { maxAttempts, backoffMs }: RetryPolicy): number {
  if (!(error instanceof Transient)) throw error;
  if (attempt >= maxAttempts) throw failed(`${error.message} Gave up after ${attempt} attempts.`, error);
  const { retryAfterMs = 0 } = error;
  if (retryAfterMs > maxDelayMs) throw failed(error.message, error);
  return Math.max(backoff(attempt, backoffMs), retryAfterMs);
}

/** Aborts a request whose response does not start in time; reading the response may take longer. */
export async function withResponseTimeout<T>(
  { idleTimeoutMs }: RetryPolicy,
  signal: AbortSignal,
  begin: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    late.reject(Object.assign(new Error('The response did not start in time.'), { code: 'ETIMEDOUT' }));
    controller.abort();
  }, idleTimeoutMs);
  try {
    // Not every library honours a signal.
    return await Promise.race([begin(AbortSignal.any([signal, controller.signal])), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
