import { setTimeout as pause } from 'node:timers/promises';

export interface WaitOptions {
  seconds?: number;
  /** Polling interval; defaults to 80 ms at first, later to a sixth of the elapsed time. */
  everyMs?: number;
}

/** Polling costs processor time that others need, so long waits poll less often. */
const pauses = { minMs: 80, maxMs: 1_000 };

/** Under faults, failures are left to sweeps: two minutes for a webhook call. */
const timeoutSeconds = process.env.LATHE_LOCAL_FAULTS === undefined ? 100 : 300;

/** Polls until a value is returned, neither undefined nor false; after the timeout, fails with a description. */
export async function until<T>(
  what: string,
  ask: () => Promise<T | undefined | false> | T | undefined | false,
  { seconds = timeoutSeconds, everyMs }: WaitOptions = {},
): Promise<T> {
  const began = Date.now();
  const deadline = began + seconds * 1000;
  for (;;) {
    const value = await ask();
    if (value !== undefined && value !== false) return value;
    if (Date.now() > deadline) throw new Error(`Waited ${seconds} seconds, but not yet: ${what}.`);
    const sixth = (Date.now() - began) / 6;
    await pause(everyMs ?? Math.min(Math.max(sixth, pauses.minMs), pauses.maxMs));
  }
}
