import { setTimeout as pause } from 'node:timers/promises';

export interface Patience {
  seconds?: number;
  everyMs?: number;
}

/** Asks again and again until there is an answer, and fails with what was waited for when there is none in time. */
export async function until<T>(
  what: string,
  ask: () => Promise<T | undefined> | T | undefined,
  { seconds = 100, everyMs = 50 }: Patience = {},
): Promise<T> {
  const deadline = Date.now() + seconds * 1000;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (Date.now() > deadline) throw new Error(`Waited ${seconds} seconds in vain until ${what}.`);
    await pause(everyMs);
  }
}
