interface Stream {
  write(text: string): unknown;
  isTTY?: boolean;
  columns?: number;
}

/** Where a command writes. */
export interface Output {
  out: Stream;
  err: Stream;
}

/** Removes what would move the cursor or change the terminal, such as in a file name. */
export function printable(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ');
}

/** Formats a number of bytes for people. */
export function bytesText(bytes: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB'];
  const power = Math.min(units.length - 1, bytes < 1000 ? 0 : Math.floor(Math.log10(bytes) / 3));
  const value = bytes / 1000 ** power;
  return `${power === 0 ? value : value.toPrecision(3)} ${units[power]}`;
}

/** Formats lines of cells as a table whose columns are as wide as what they hold; the last is not padded. */
export function table(rows: string[][]): string {
  const widths = (rows[0] ?? []).map((_cell, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row.map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0))).join('  '),
    )
    .map((line) => `${line.trimEnd()}\n`)
    .join('');
}
