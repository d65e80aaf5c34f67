import { setTimeout as pause } from 'node:timers/promises';
import { failed, Transient } from './failures.ts';

/** How long the other side may take and how often it may fail. */
export interface Patience {
  /** Attempts in a row that bring nothing. */
  tries: number;
  /** Wait after the first of them; it doubles with each. */
  backOffMs: number;
  /** Time to connect and to begin an answer, and time without a byte. */
  stallMs: number;
}

export const usualPatience: Patience = { tries: 5, backOffMs: 300, stallMs: 30_000 };

/** A server that wants to be left alone for longer is one that fails. */
const longestWaitMs = 30_000;

/** Does work again, later each time, while it fails in ways that may pass. */
export async function retrying<T>(patience: Patience, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      await waitAfter(error, attempt, patience, signal);
    }
  }
}

/** Waits before the next attempt, or throws what failed where another would not help. */
export async function waitAfter(
  error: unknown,
  attempt: number,
  { tries, backOffMs }: Patience,
  signal: AbortSignal,
): Promise<void> {
  if (!(error instanceof Transient) || signal.aborted) throw error;
  if (attempt >= tries) throw failed(`${error.message} Gave up after ${attempt} attempts.`, error);
  if (error.retryAfterMs !== undefined && error.retryAfterMs > longestWaitMs) throw failed(error.message, error);
  // Half of it by chance, so that what failed together does not come back together.
  const backOff = backOffMs * 2 ** (attempt - 1) * (0.5 + Math.random() / 2);
  await pause(Math.max(backOff, error.retryAfterMs ?? 0), undefined, { signal });
}

/** Lets the other side take so long to begin an answer, and as long as it likes to end it. */
export async function beginning<T>(
  { stallMs }: Patience,
  signal: AbortSignal,
  begin: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const breakOff = new AbortController();
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    late.reject(Object.assign(new Error('The response did not start in time.'), { code: 'ETIMEDOUT' }));
    breakOff.abort();
  }, stallMs);
  try {
    // Not every library heeds a signal.
    return await Promise.race([begin(AbortSignal.any([signal, breakOff.signal])), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
