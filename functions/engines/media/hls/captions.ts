import type { Segment } from './segments.ts';

interface Cue {
  start: number;
  end: number;
  block: string;
}

const clock = String.raw`(?:(\d{2,}):)?(\d{2}):(\d{2}\.\d{3})`;
const timing = new RegExp(`^${clock} --> ${clock}`, 'm');

/** Divides WebVTT into one text per segment. A cue is in each segment in which it is shown, as players require. */
export function captionSegments(text: string, segments: Segment[]): string[] {
  const parts = segments.map((): string[] => []);
  for (const { start, end, block } of cuesOf(text)) {
    const later = segments.findIndex((segment) => segment.start > start);
    const first = Math.max(0, (later < 0 ? segments.length : later) - 1);
    parts[first]?.push(block);
    for (let at = first + 1; at < segments.length && (segments[at]?.start ?? end) < end; at++) parts[at]?.push(block);
  }
  return parts.map((blocks) => vttOf(blocks));
}

/** Returns WebVTT of cues. */
export function vttOf(blocks: string[]): string {
  return `WEBVTT\n\n${blocks.map((block) => `${block}\n\n`).join('')}`;
}

function cuesOf(text: string): Cue[] {
  return text
    .replaceAll('\r', '')
    .split(/\n{2,}/)
    .flatMap((block) => {
      const [, ...fields] = timing.exec(block) ?? [];
      if (fields.length === 0) return [];
      const times = [0, 3].map((at) => secondsOf(fields.slice(at, at + 3)));
      return [{ start: times[0] ?? 0, end: times[1] ?? 0, block: block.trimEnd() }];
    });
}

function secondsOf([hours = '0', minutes = '0', seconds = '0']: (string | undefined)[]): number {
  return (Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds);
}

/** Formats a time for WebVTT. */
export function vttTime(seconds: number): string {
  const milliseconds = Math.round(seconds * 1000);
  const digits = (value: number, length = 2) => String(Math.floor(value)).padStart(length, '0');
  const whole = milliseconds / 1000;
  return `${digits(whole / 3600)}:${digits((whole / 60) % 60)}:${digits(whole % 60)}.${digits(milliseconds % 1000, 3)}`;
}
