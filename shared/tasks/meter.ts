import { isProcessing } from '../operations/operations.ts';

/** Limits on engine time in milliseconds. An absent limit is unlimited. */
export interface TimeLimits {
  /** For all tasks of the account in a month. */
  account?: number;
  /** For all tasks of the API key in a month. */
  key?: number;
  /** For the task. */
  task?: number;
}

/** The engine time of a task: limits, reservation and usage. */
export interface Meter {
  limits?: TimeLimits;
  /** The month whose allowance it uses, such as `2026-11`: the one in which it first started. */
  month?: string;
  /**
   * When the current run began, in milliseconds. A split run, which uses several engines at once, moves it back, so that the time
   * since then is always the engine time used.
   */
  since?: number;
  /** Reserved while it runs; only if the account or key is limited. */
  reservedMs?: number;
  /** Used; known once it has ended. */
  usedMs?: number;
  /** Source and target format, such as `png>webp`. */
  formats?: string;
}

/** The time that an engine worked on a task. */
export interface EngineTime {
  ms: number;
  formats?: string;
}

/**
 * The first reservation of a run. A longer run doubles its reservation before it is used up, by at most a minute at a time. This
 * leaves the rest of the allowance to others: most conversions take a second, and a few a quarter of an hour.
 */
const firstReservationMs = 10_000;
const maxExtensionMs = 60_000;
/** The reservation if the allowance has no more. Other tasks may soon return most of what they have reserved. */
export const smallReservationMs = 1_000;
/** How long before the end of its reservation a run asks for more. */
const maxLeadMs = 15_000;

/** Returns the meter of a new task; undefined for operations without an engine. */
export function newMeter(operation: string, limits: TimeLimits = {}): Meter | undefined {
  if (!isProcessing(operation) && operation !== 'import/webpage') return undefined;
  return Object.keys(limits).length > 0 ? { limits } : {};
}

/** Returns the meter of a task that a run starts. A run after one that died takes over its reservation. */
export function startMeter(meter: Meter, now: number, reserveMs = firstReservationMs): Meter {
  const { month = monthOf(now), reservedMs, ...rest } = meter;
  const started = { ...rest, month, since: now };
  return isLimited(meter) ? { ...started, reservedMs: reservedMs ?? cap(meter, reserveMs) } : started;
}

/**
 * Returns the meter with a larger reservation if the current one is about to be used up, or more is wanted; undefined otherwise.
 */
export function extendedMeter(meter: Meter | undefined, now: number, wantedMs = 0): Meter | undefined {
  if (meter?.reservedMs === undefined || meter.since === undefined) return undefined;
  const wanted = cap(meter, wantedMs);
  if (wanted > meter.reservedMs) return { ...meter, reservedMs: wanted };
  const leadMs = Math.min(maxLeadMs, meter.reservedMs / 2);
  if (now < meter.since + meter.reservedMs - leadMs) return undefined;
  const reservedMs = cap(meter, meter.reservedMs + Math.min(maxExtensionMs, meter.reservedMs));
  return reservedMs > meter.reservedMs ? { ...meter, reservedMs } : undefined;
}

/** Returns the meter of a run that has used this much engine time until now. */
export function withUsed(meter: Meter | undefined, usedMs: number, now: number): Meter | undefined {
  return meter?.since === undefined ? undefined : { ...meter, since: Math.round(now - usedMs) };
}

/** Returns when a run has used up its reservation; undefined if its time is not limited. */
export function reservationEnd({ since, reservedMs }: Meter): number | undefined {
  return since === undefined || reservedMs === undefined ? undefined : since + reservedMs;
}

/** Returns the meter of a task that ended. The unused part of its reservation is returned. */
export function endMeter(meter: Meter, { ms, formats }: EngineTime): Meter {
  const { since: _since, reservedMs = Number.POSITIVE_INFINITY, ...rest } = meter;
  return { ...rest, usedMs: Math.min(Math.max(0, Math.round(ms)), reservedMs), ...(formats ? { formats } : {}) };
}

/** Returns the engine time of a run that its client ended: the time that has passed. */
export function elapsed({ since }: Meter, now: number): EngineTime {
  return { ms: since === undefined ? 0 : now - since };
}

/** Returns whether a monthly allowance limits a task. */
export function isLimited({ limits }: Meter): boolean {
  return limits?.account !== undefined || limits?.key !== undefined;
}

/** Returns the month of a time, such as `2026-11`. */
export function monthOf(now: number): string {
  return new Date(now).toISOString().slice(0, 7);
}

function cap({ limits }: Meter, ms: number): number {
  return Math.min(ms, limits?.task ?? ms);
}
