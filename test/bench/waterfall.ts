import type { TimedCall } from './calls.ts';
import { formatTable } from './table.ts';

const width = 60;

/** Formats requests as rows with bars, and gaps between them as rows of their own. */
export function formatWaterfall(timeline: TimedCall[]): string {
  const calls = timeline.filter(({ to }) => !Number.isNaN(to)).toSorted((left, right) => left.from - right.from);
  const end = Math.max(...calls.map(({ to }) => to));
  const rows: string[][] = [];
  let covered = 0;
  for (const { name, from, to } of calls) {
    // Code of functions and of the local Lambda, and the engine's work.
    if (from - covered >= 1) rows.push(row('(no request is open)', covered, from, end, '·'));
    rows.push(row(name, from, to, end, '█'));
    covered = Math.max(covered, to);
  }
  return formatTable(['from ms', 'ms', '', ''], rows);
}

function row(name: string, from: number, to: number, end: number, mark: string): string[] {
  const start = Math.floor((from / end) * width);
  const length = Math.max(1, Math.round(((to - from) / end) * width));
  return [
    from.toFixed(0),
    (to - from).toFixed(0),
    `${' '.repeat(start)}${mark.repeat(length)}`.padEnd(width + 1),
    name,
  ];
}
