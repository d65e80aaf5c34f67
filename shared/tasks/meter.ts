import { isProcessing } from '../operations/operations.ts';

/** Limits on engine time in milliseconds. What is absent is not limited. */
export interface TimeLimits {
  /** What all tasks of the account may use in a month. */
  account?: number;
  /** What all tasks of the API key may use in a month. */
  key?: number;
  /** What the task may use. */
  task?: number;
}

/** The engine time of a task: what it may use, has reserved and has used. */
export interface Meter {
  limits?: TimeLimits;
  /** The month whose allowance it takes, such as `2026-11`: that in which it first started. */
  month?: string;
  /** When the current run began, in milliseconds. */
  since?: number;
  /** What is set aside for it while it runs; only where the account or key is limited. */
  reservedMs?: number;
  /** What it has used; known from its end. */
  usedMs?: number;
  /** The formats that it was converted from and to, such as `png>webp`. */
  formats?: string;
}

/** What an engine did for a task. */
export interface EngineTime {
  ms: number;
  formats?: string;
}

/**
 * What is set aside for a run at first. One that takes longer sets aside as much again before that is used up, at most a minute
 * at a time, so that the rest of an allowance is left to others: most conversions take a second, and a few a quarter of an hour.
 */
const firstReservationMs = 10_000;
const maxExtensionMs = 60_000;
/** What is set aside where the allowance has no more: others may be about to return most of what they have set aside. */
export const smallReservationMs = 1_000;
/** How long before the end of what is set aside a run asks for more. */
const maxLeadMs = 15_000;

/** Returns the meter of a new task; undefined for operations that take no engine. */
export function newMeter(operation: string, limits: TimeLimits = {}): Meter | undefined {
  if (!isProcessing(operation) && operation !== 'import/webpage') return undefined;
  return Object.keys(limits).length > 0 ? { limits } : {};
}

/** Returns the meter of a task that a run starts. A run that follows one that died goes on with what that had set aside. */
export function startMeter(meter: Meter, now: number, reserveMs = firstReservationMs): Meter {
  const { month = monthOf(now), reservedMs, ...rest } = meter;
  const started = { ...rest, month, since: now };
  return isLimited(meter) ? { ...started, reservedMs: reservedMs ?? cap(meter, reserveMs) } : started;
}

/** Returns the meter with more set aside, for a run that is about to use up what is; undefined for others. */
export function extendedMeter(meter: Meter | undefined, now: number): Meter | undefined {
  if (meter?.reservedMs === undefined || meter.since === undefined) return undefined;
  const leadMs = Math.min(maxLeadMs, meter.reservedMs / 2);
  if (now < meter.since + meter.reservedMs - leadMs) return undefined;
  const reservedMs = cap(meter, meter.reservedMs + Math.min(maxExtensionMs, meter.reservedMs));
  return reservedMs > meter.reservedMs ? { ...meter, reservedMs } : undefined;
}

/** Returns when a run has used up what is set aside for it; undefined where that is not limited. */
export function reservationEnd({ since, reservedMs }: Meter): number | undefined {
  return since === undefined || reservedMs === undefined ? undefined : since + reservedMs;
}

/** Returns the meter of a task that ended after some engine time: what was set aside and not used is returned. */
export function endMeter(meter: Meter, { ms, formats }: EngineTime): Meter {
  const { since: _since, reservedMs = Number.POSITIVE_INFINITY, ...rest } = meter;
  return { ...rest, usedMs: Math.min(Math.max(0, Math.round(ms)), reservedMs), ...(formats ? { formats } : {}) };
}

/** Returns the engine time of a run that was broken off by its client: that which has passed. */
export function elapsed({ since }: Meter, now: number): EngineTime {
  return { ms: since === undefined ? 0 : now - since };
}

/** Returns whether months limit what a task may use. */
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
