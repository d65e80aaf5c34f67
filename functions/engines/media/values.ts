import type { OptionValues } from '../../../shared/catalogue/options.ts';
import { EngineError } from '../runtime/engine.ts';

/** Returns an option that is a number. */
export function numberOf(options: OptionValues, name: string): number | undefined {
  const value = options[name];
  return typeof value === 'number' ? value : undefined;
}

/** Returns an option in thousands, such as kbit/s, in single units. */
export function thousandsOf(options: OptionValues, name: string): number | undefined {
  const value = numberOf(options, name);
  return value === undefined ? undefined : value * 1000;
}

/** Returns an option with a list of values. `auto` counts as not given. */
export function wordOf(options: OptionValues, name: string): string | undefined {
  const value = options[name];
  return typeof value === 'string' && value !== '' && value !== 'auto' ? value : undefined;
}

/** Returns an option that is a time, in seconds: `90`, `1:30`, `00:01:30.50`. */
export function timeOf(options: OptionValues, name: string): number | undefined {
  const value = options[name];
  if (typeof value === 'number') return value;
  if (typeof value !== 'string' || value === '') return undefined;
  return value.split(':').reduce((seconds, part) => seconds * 60 + Number(part), 0);
}

/** A part of a file, in seconds from its start. */
export interface Cut {
  start: number;
  /** Undefined for the end of the file. */
  end: number | undefined;
}

/** Reads a cut from two options and checks it against the file's duration. */
export function cutOf(options: OptionValues, names: [string, string], duration: number | undefined): Cut | undefined {
  const start = timeOf(options, names[0]) ?? 0;
  const end = timeOf(options, names[1]);
  if (start === 0 && end === undefined) return undefined;
  if (end !== undefined && end <= start) {
    throw new EngineError(`${names[1]} (${end} s) must be later than ${names[0]} (${start} s).`);
  }
  if (duration !== undefined && start >= duration) {
    throw new EngineError(
      `${names[0]} (${start} s) must be before the end of the file, which lasts ${duration.toFixed(2)} s.`,
    );
  }
  // An end beyond the file's duration is ignored.
  return { start, end: end !== undefined && duration !== undefined && end >= duration ? undefined : end };
}

/** Returns how long a cut of a file lasts. */
export function cutSeconds(cut: Cut | undefined, duration: number | undefined): number | undefined {
  if (!cut) return duration;
  const end = cut.end ?? duration;
  return end === undefined ? undefined : end - cut.start;
}
