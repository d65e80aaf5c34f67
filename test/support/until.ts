import { setTimeout as pause } from 'node:timers/promises';

export interface WaitOptions {
  seconds?: number;
  /** How often to poll; defaults to every 80 ms at first, and later after each sixth of the time that it has taken. */
  everyMs?: number;
}

/** Polling the service costs processor time that others wait for, so long waits poll less often. */
const pauses = { minMs: 80, maxMs: 1_000 };

/** Where AWS misbehaves, what fails at first is left to sweeps: the call of a webhook for two minutes. */
const timeoutSeconds = process.env.LATHE_LOCAL_FAULTS === undefined ? 100 : 300;

/** Polls until a value is returned, and fails with what was waited for after the timeout. */
export async function until<T>(
  what: string,
  ask: () => Promise<T | undefined> | T | undefined,
  { seconds = timeoutSeconds, everyMs }: WaitOptions = {},
): Promise<T> {
  const began = Date.now();
  const deadline = began + seconds * 1000;
  for (;;) {
    const value = await ask();
    if (value !== undefined) return value;
    if (Date.now() > deadline) throw new Error(`Waited ${seconds} seconds in vain until ${what}.`);
    const sixth = (Date.now() - began) / 6;
    await pause(everyMs ?? Math.min(Math.max(sixth, pauses.minMs), pauses.maxMs));
  }
}
