import { setTimeout as pause } from 'node:timers/promises';

export interface Patience {
  seconds?: number;
  /** How often to ask; defaults to every 50 ms at first, and later after each tenth of the time that it has taken. */
  everyMs?: number;
}

/** Asking the service costs processor time that others wait for, so long waits ask less often. */
const pauses = { leastMs: 50, mostMs: 500 };

/** Asks again and again until there is an answer, and fails with what was waited for when there is none in time. */
export async function until<T>(
  what: string,
  ask: () => Promise<T | undefined> | T | undefined,
  { seconds = 100, everyMs }: Patience = {},
): Promise<T> {
  const began = Date.now();
  const deadline = began + seconds * 1000;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (Date.now() > deadline) throw new Error(`Waited ${seconds} seconds in vain until ${what}.`);
    const tenth = (Date.now() - began) / 10;
    await pause(everyMs ?? Math.min(Math.max(tenth, pauses.leastMs), pauses.mostMs));
  }
}
