/** A measurement of ours and of the same work done plainly, in milliseconds of one run on the same cores. */
export interface Row {
  name: string;
  ours: number;
  bare: number;
}

/** Formats rows of text as a table with a header, with the first column left-aligned and the others right-aligned. */
export function formatTable(head: string[], rows: string[][]): string {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: string[]) =>
    cells
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  ')
      .trimEnd();
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}

/** Formats measurements with their ratios. */
export function formatRatios(rows: Row[]): string {
  return formatTable(
    ['', 'ours', 'bare', 'ratio'],
    rows.map(({ name, ours, bare }) => [name, milliseconds(ours), milliseconds(bare), `${(ours / bare).toFixed(2)}×`]),
  );
}

export function milliseconds(value: number): string {
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;
}

/** Formats a size in thousands of bytes. */
export function kilobytes(bytes: number): string {
  return `${Math.round(bytes / 1000)} KB`;
}

/** Returns the median of some values. */
export function median(values: number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** Measures how long something takes, in milliseconds. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}
