import { writeFileSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';

/**
 * How much nicer what is awaited is than the process of the service, which all of them wait for, how much the rest, and how much
 * more each additional environment of a function: those handle bursts, which must not slow down everybody else.
 */
const niceness = { awaited: 3, other: 10, further: 5 };
const retryMs = 130;

/**
 * Has the machine run functions after the service itself, and those that nobody waits for last. In Lambda each has processors
 * of its own; here, conversions would keep the service from responding and from sending events, which slows them in turn.
 */
export function lowerPriority(pid: number, isAwaited: boolean, isFurther: boolean): void {
  const kind = isAwaited ? niceness.awaited : niceness.other;
  const nicer = kind + (isFurther ? niceness.further : 0);
  // Relative to the service, which may have been started by `nice`: only root may make a process less nice.
  const nice = Math.min(getPriority() + nicer, constants.priority.PRIORITY_LOW);
  setPriority(pid, nice);
  lowerSession(pid, nice);
}

/**
 * Does the same for the session that the process leads: where Linux shares processors between sessions first, the niceness of
 * single processes counts within each of them only. Elsewhere there is no such file, and nothing to do.
 */
function lowerSession(pid: number, nice: number, attempts = 20): void {
  try {
    writeFileSync(`/proc/${pid}/autogroup`, String(nice), { flag: 'r+' });
  } catch (error) {
    // Linux takes one such change in a tenth of a second from whoever is not root.
    const isTooSoon = error instanceof Error && 'code' in error && error.code === 'EAGAIN';
    if (isTooSoon && attempts > 0) setTimeout(() => lowerSession(pid, nice, attempts - 1), retryMs).unref();
  }
}
