import { writeFileSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';

/**
 * Niceness relative to the service's own process, which all functions depend on: for functions that clients wait for,
 * for the others, and in addition for each further environment of a function, because bursts must not slow down
 * everything else.
 */
const niceness = { awaited: 3, other: 10, further: 5 };
const retryMs = 130;

/**
 * Gives functions a lower priority than the service, and the lowest to those that no client waits for. In Lambda each
 * has its own processors. Here, conversions would delay responses and events, which in turn slows conversions down.
 */
export function lowerPriority(pid: number, isAwaited: boolean, isFurther: boolean): void {
  const kind = isAwaited ? niceness.awaited : niceness.other;
  const nicer = kind + (isFurther ? niceness.further : 0);
  // Relative to the service, which may itself run under `nice`: only root may lower niceness.
  const nice = Math.min(getPriority() + nicer, constants.priority.PRIORITY_LOW);
  setPriority(pid, nice);
  lowerSession(pid, nice);
}

/**
 * Does the same for the session that the process leads: if Linux shares processors between sessions first, the niceness
 * of a process only counts within its session. Other systems have no such file.
 */
function lowerSession(pid: number, nice: number, attempts = 20): void {
  try {
    writeFileSync(`/proc/${pid}/autogroup`, String(nice), { flag: 'r+' });
  } catch (error) {
    // Linux accepts one such change per tenth of a second from users other than root.
    const isTooSoon = error instanceof Error && 'code' in error && error.code === 'EAGAIN';
    if (isTooSoon && attempts > 0) setTimeout(() => lowerSession(pid, nice, attempts - 1), retryMs).unref();
  }
}
