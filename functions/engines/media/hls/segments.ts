import type { Fragment, Track } from './fragments.ts';

/** A file of consecutive fragments. */
export interface Segment {
  at: number;
  bytes: number;
  start: number;
  seconds: number;
  fragments: Fragment[];
}

/** The clock of a track counts in units that need not divide a segment. */
const slackSeconds = 0.001;

/** Groups the fragments of a track into segments that begin with the first fragment after each multiple of a time. */
export function segmentsOf({ fragments }: Track, segmentSeconds: number): Segment[] {
  const segments: Segment[] = [];
  let current = -1;
  for (const fragment of fragments) {
    const index = Math.floor((fragment.start + slackSeconds) / segmentSeconds);
    const last = segments.at(-1);
    if (!last || index > current) {
      const { at, bytes, start, seconds } = fragment;
      segments.push({ at, bytes, start, seconds, fragments: [fragment] });
    } else {
      last.bytes = fragment.at + fragment.bytes - last.at;
      last.seconds = fragment.start + fragment.seconds - last.start;
      last.fragments.push(fragment);
    }
    current = index;
  }
  return segments;
}

/** Bit rates in bits per second. */
export interface Rates {
  average: number;
  peak: number;
}

/**
 * Returns the average and peak bit rates of parts of a track. The peak is that of RFC 8216: the highest of any run of consecutive
 * parts that lasts between half and one and a half of the target duration.
 */
export function ratesOf(parts: { bytes: number; seconds: number }[], target: number): Rates {
  const seconds = parts.reduce((sum, part) => sum + part.seconds, 0);
  const bytes = parts.reduce((sum, part) => sum + part.bytes, 0);
  const average = (bytes * 8) / Math.max(seconds, slackSeconds);
  let peak = average;
  for (const from of parts.keys()) {
    let run = { bytes: 0, seconds: 0 };
    for (let at = from; at < parts.length && run.seconds < target * 1.5; at++) {
      const part = parts[at] ?? { bytes: 0, seconds: 0 };
      run = { bytes: run.bytes + part.bytes, seconds: run.seconds + part.seconds };
      if (run.seconds >= target * 0.5 && run.seconds <= target * 1.5)
        peak = Math.max(peak, (run.bytes * 8) / run.seconds);
    }
  }
  return { average: Math.ceil(average), peak: Math.ceil(peak) };
}
